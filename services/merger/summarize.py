"""Handles GraphMerged: has a language model summarise descriptions that are too long, returns DescriptionSummarized.

Merging never waits for it. Changes of a key are debounced, and only its newest revision is summarised: a key that a
bulk load changes a thousand times is summarised when the load is done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from contracts.events import DescriptionSummarized, Event, GraphMerged
from contracts.graph import Generations, Partition
from runtime.bus.port import Delivery
from runtime.errors import NotWanted, Poison, Retryable, longest_wait
from runtime.models.call_scope import calls_for
from services.merger.domain.contributions import Key
from services.merger.domain.descriptions import Group
from services.merger.domain.edits import apply_edits
from services.merger.port import MergeDependencies, Summarizer, Summary
from services.merger.refold import describe_keys


async def on_graph_merged(
    batch: Sequence[Delivery[GraphMerged]],
    generations: Generations,
    *,
    merging: MergeDependencies,
    summarizer: Summarizer | None,
    debounce: Callable[[datetime], Awaitable[None]],
) -> list[list[Event]]:
    """Summarise the groups of the batch that have no summary; nothing without a language model.

    `debounce` returns once the moment it is given is long enough ago. When a summary has to be tried again, the
    others of the batch are published with the Retryable that is raised, or found paid for when the batch comes again.
    """
    facts: dict[int, list[Event]] = {delivery.sequence: [] for delivery in batch}
    if summarizer is None:
        return list(facts.values())
    await debounce(max(delivery.happened_at for delivery in batch))
    taken: set[tuple[str, str]] = set()
    for delivery in batch:
        workspace, partition = delivery.workspace, Partition(delivery.workspace, generations.graph)
        groups = [
            g for g in await _missing_summaries(partition, delivery.event, merging) if (workspace, g.hash) not in taken
        ]
        taken |= {(workspace, group.hash) for group in groups}
        current = partial(_is_current, partition, _revisions(delivery.event), merging=merging)
        facts[delivery.sequence] = await _summarize(workspace, groups, summarizer, current)
    return [facts[delivery.sequence] for delivery in batch]


def _revisions(event: GraphMerged) -> dict[Key, int]:
    said: dict[Key, int] = {(entity.name,): entity.revision for entity in event.entities}
    return said | {(relation.source, relation.target): relation.revision for relation in event.relations}


async def _current_revisions(
    partition: Partition, said: Mapping[Key, int], merging: MergeDependencies
) -> dict[Key, int]:
    """Return the revisions of those keys that have not changed since."""
    counted = await merging.contributions.revisions(partition, said)
    return {key: now for key, revision in said.items() if (now := counted.get(key, 0)) <= revision}


async def _is_current(partition: Partition, said: Mapping[Key, int], key: Key, *, merging: MergeDependencies) -> bool:
    """Return whether a key is still at this revision; if not, its next GraphMerged will be summarised."""
    return bool(await _current_revisions(partition, {key: said[key]}, merging))


async def _missing_summaries(partition: Partition, event: GraphMerged, merging: MergeDependencies) -> list[Group]:
    """Return the groups without a summary, of those keys that have not changed since."""
    newest = await _current_revisions(partition, _revisions(event), merging)
    if not newest:
        return []
    edits = apply_edits(await merging.contributions.edits(partition))
    accounts = await describe_keys(partition, newest, edits, merging)
    return [group for key in newest for group in accounts[key].description.missing_summaries]


async def _summarize(
    workspace: str, groups: Sequence[Group], summarizer: Summarizer, current: Callable[[Key], Awaitable[bool]]
) -> list[Event]:
    async def summarized(group: Group) -> Summary:
        # While a call waits for its turn, a document of the group may be deleted: then it is not made.
        with calls_for(workspace, partial(current, group.key)):
            return await summarizer.summarize(workspace, group)

    results = await asyncio.gather(*map(summarized, groups), return_exceptions=True)
    facts: list[Event] = []
    waiting: list[Retryable] = []
    for group, result in zip(groups, results, strict=True):
        if isinstance(result, Retryable):
            waiting.append(result)
        elif isinstance(result, (Poison, NotWanted)):
            continue  # refused for its content, or out of date: the fragments themselves stay the description
        elif isinstance(result, BaseException):
            raise result
        else:
            facts.append(
                DescriptionSummarized(
                    key=group.key, inputs_hash=group.hash, prompt_version=summarizer.prompt_version,
                    model=summarizer.model, text=result.text, usage=result.usage,
                )
            )  # fmt: skip
    if waiting:
        raise longest_wait(waiting, facts)
    return facts
