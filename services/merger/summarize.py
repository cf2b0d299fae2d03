"""GraphMerged in, DescriptionSummarized out: descriptions that have grown too long are condensed by a language model.

Merging never waits for it. A key is taken up once it has been quiet for a while, and only for its newest revision: a
hub that a bulk load touches a thousand times is summarised when the load is done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from contracts.events import DescriptionSummarized, Event, GraphMerged
from contracts.graph import Generations, Space
from runtime.bus.port import Delivery
from runtime.errors import Poison, Retryable
from services.merger.domain.contributions import Key
from services.merger.domain.descriptions import Group
from services.merger.domain.edits import applied
from services.merger.ports import Merging, Summarizer
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
        workspace, space = delivery.workspace, Space(delivery.workspace, generations.graph)
        groups = [g for g in await _lacking(space, delivery.event, merging) if (workspace, g.hash) not in taken]
        taken |= {(workspace, group.hash) for group in groups}
        facts[delivery.sequence] = await _summarized(workspace, groups, summarizer)
    return [facts[delivery.sequence] for delivery in batch]


async def _lacking(space: Space, event: GraphMerged, merging: Merging) -> list[Group]:
    """The groups without a summary, of those keys for which no newer GraphMerged is on its way."""
    said: dict[Key, int] = {(entity.name,): entity.revision for entity in event.entities}
    said |= {(relation.source, relation.target): relation.revision for relation in event.relations}
    counted = await merging.said.counted(space, said)
    newest = {key: now for key, revision in said.items() if (now := counted.get(key, 0)) <= revision}
    if not newest:
        return []
    edits = applied(await merging.said.edits(space))
    accounts = await accounts_at(space, newest, edits, merging)
    return [group for key in newest for group in accounts[key].described.lacking]


async def _summarized(workspace: str, groups: Sequence[Group], summarizer: Summarizer) -> list[Event]:
    results = await asyncio.gather(
        *(summarizer.summarize(workspace, group) for group in groups), return_exceptions=True
    )
    facts: list[Event] = []
    waiting: list[Retryable] = []
    for group, result in zip(groups, results, strict=True):
        if isinstance(result, Retryable):
            waiting.append(result)
        elif isinstance(result, Poison):
            continue  # refused for its content: the fragments themselves stay the description
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
        longest = max(waiting, key=lambda error: error.retry_after or 0.0)
        raise Retryable(str(longest), retry_after=longest.retry_after, facts=facts) from longest
    return facts
