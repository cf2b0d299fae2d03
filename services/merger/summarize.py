"""GraphMerged in, DescriptionSummarized out: descriptions that have grown too long are condensed by a language model.

Merging never waits for it. A key is taken up once it has been quiet for a while, and only for its newest revision: a
hub that a bulk load touches a thousand times is summarised when the load is done.
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
from services.merger.domain.edits import applied
from services.merger.port import Merging, Summarizer, Summary
from services.merger.refold import accounts_at


async def on_graph_merged(
    batch: Sequence[Delivery[GraphMerged]],
    generations: Generations,
    *,
    merging: Merging,
    summarizer: Summarizer | None,
    quiet: Callable[[datetime], Awaitable[None]],
) -> list[list[Event]]:
    """Summarise what the keys of the batch lack; nothing without a language model.

    `quiet` returns once the moment given is long enough ago. When a summary has to be tried again, the others of the
    batch are published with the Retryable that is raised, or found paid for when the batch comes again.
    """
    facts: dict[int, list[Event]] = {delivery.sequence: [] for delivery in batch}
    if summarizer is None:
        return list(facts.values())
    await quiet(max(delivery.happened_at for delivery in batch))
    taken: set[tuple[str, str]] = set()
    for delivery in batch:
        workspace, space = delivery.workspace, Partition(delivery.workspace, generations.graph)
        groups = [g for g in await _lacking(space, delivery.event, merging) if (workspace, g.hash) not in taken]
        taken |= {(workspace, group.hash) for group in groups}
        current = partial(_current, space, _revisions(delivery.event), merging=merging)
        facts[delivery.sequence] = await _summarized(workspace, groups, summarizer, current)
    return [facts[delivery.sequence] for delivery in batch]


def _revisions(event: GraphMerged) -> dict[Key, int]:
    said: dict[Key, int] = {(entity.name,): entity.revision for entity in event.entities}
    return said | {(relation.source, relation.target): relation.revision for relation in event.relations}


async def _newest(space: Partition, said: Mapping[Key, int], merging: Merging) -> dict[Key, int]:
    """The revisions of those keys for which no newer GraphMerged is on its way."""
    counted = await merging.said.counted(space, said)
    return {key: now for key, revision in said.items() if (now := counted.get(key, 0)) <= revision}


async def _current(space: Partition, said: Mapping[Key, int], key: Key, *, merging: Merging) -> bool:
    """Whether a key still is at the revision that was said; once it is not, its next GraphMerged asks again."""
    return bool(await _newest(space, {key: said[key]}, merging))


async def _lacking(space: Partition, event: GraphMerged, merging: Merging) -> list[Group]:
    """The groups without a summary, of those keys for which no newer GraphMerged is on its way."""
    newest = await _newest(space, _revisions(event), merging)
    if not newest:
        return []
    edits = applied(await merging.said.edits(space))
    accounts = await accounts_at(space, newest, edits, merging)
    return [group for key in newest for group in accounts[key].described.lacking]


async def _summarized(
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
