"""Handles GraphMerged: has a language model summarise descriptions that are too long, returns
DescriptionSummarized.

Merging never waits for it. Changes of a key are debounced, and only its newest revision is
summarised: a key that a bulk load changes a thousand times is summarised when the load is done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from contracts.events import DescriptionSummarized, Event, GraphMerged
from contracts.graph import Generations, Partition
from knowledge.contributions import Key
from knowledge.descriptions import Group
from runtime.bus.port import Delivery
from runtime.errors import NotWanted, Poison, Retryable, longest_wait
from runtime.models.call_scope import calls_for
from services.merger.describing import describe_keys
from services.merger.domain.history import History
from services.merger.port import MergeDependencies, Summarizer, Summary


async def on_graph_merged(
    batch: Sequence[Delivery[GraphMerged]],
    generations: Generations,
    *,
    merging: MergeDependencies,
    summarizer: Summarizer | None,
    debounce: Callable[[datetime], Awaitable[None]],
) -> list[list[Event]]:
    """Summarise the groups of the batch that have no summary; nothing without a language model.

    `debounce` waits until the time it is given is long enough ago. Raises Retryable, with the other
    events of the same delivery, if a summary has to be tried again; all summaries made by then are
    cached for the next attempt.
    """
    events: dict[int, list[Event]] = {delivery.sequence: [] for delivery in batch}
    if summarizer is None:
        return list(events.values())
    await debounce(max(delivery.happened_at for delivery in batch))
    hashes: set[tuple[str, str]] = set()
    for delivery in batch:
        workspace, partition = delivery.workspace, Partition(delivery.workspace, generations.graph)
        revisions = await _revisions(partition, delivery.event, merging)
        groups = [
            g
            for g in await _missing_summaries(partition, revisions, merging)
            if (workspace, g.hash) not in hashes
        ]
        hashes |= {(workspace, group.hash) for group in groups}
        current = partial(_is_current, partition, revisions, merging=merging)
        events[delivery.sequence] = await _summarize(workspace, groups, summarizer, current)
    return [events[delivery.sequence] for delivery in batch]


async def _revisions(
    partition: Partition, event: GraphMerged, merging: MergeDependencies
) -> dict[Key, int]:
    """Return the revisions that the event announces; the present ones where it counts those of
    another generation.

    A rebuild counts anew, and nothing tells whether its generation has changed since that event.
    """
    revisions: dict[Key, int] = {(entity.name,): entity.revision for entity in event.entities}
    revisions |= {
        (relation.source, relation.target): relation.revision for relation in event.relations
    }
    if event.generation == partition.generation:
        return revisions
    stored = await merging.contributions.histories(partition, revisions)
    return {key: stored[key].revision if key in stored else 0 for key in revisions}


async def _current_histories(
    partition: Partition, revisions: Mapping[Key, int], merging: MergeDependencies
) -> dict[Key, History]:
    """Return the histories of those keys that nothing new has changed since.

    A change whose GraphMerged is in the log may be counted again, after a crash, and gives no
    second event then.
    """
    stored = await merging.contributions.histories(partition, revisions)
    current = {key: stored.get(key, History(0)) for key in revisions}
    new = {key: history.new_entries_since(revisions[key]) for key, history in current.items()}
    some_new = {key: (current[key], entries) for key, entries in new.items() if entries}
    repeated = (
        await _repeated_by_another_name(partition, some_new, merging) if some_new else set[Key]()
    )
    return {
        key: history for key, history in current.items() if new[key] == set() or key in repeated
    }


async def _repeated_by_another_name(
    partition: Partition,
    some_new: Mapping[Key, tuple[History, set[str]]],
    merging: MergeDependencies,
) -> set[Key]:
    """Return the keys whose new changes were all counted before an edit brought them here, under an
    original name.

    Whoever counts a change of a key counts it for the original names, too: there it stands once
    more often.
    """
    edits = await merging.edits.current(partition, merging.contributions)
    originals = {
        key: {source.key for source in edits.sources(key)} - {key}
        for key in some_new
        if not edits.is_unedited(key)
    }
    named = set[Key]().union(*originals.values())
    histories = await merging.contributions.histories(partition, named) if named else {}

    def counted_before(key: Key) -> bool:
        history, entries = some_new[key]
        others = [histories[original] for original in originals[key] if original in histories]
        return all(
            any(other.times(entry) > history.times(entry) for other in others) for entry in entries
        )

    return {key for key in originals if counted_before(key)}


async def _is_current(
    partition: Partition, expected: Mapping[Key, int], key: Key, *, merging: MergeDependencies
) -> bool:
    """Return whether a key is still at this revision; if not, its next GraphMerged will be
    summarised.
    """
    return bool(await _current_histories(partition, {key: expected[key]}, merging))


async def _missing_summaries(
    partition: Partition, revisions: Mapping[Key, int], merging: MergeDependencies
) -> list[Group]:
    """Return the groups without a summary, of those keys that have not changed since these
    revisions.
    """
    histories = await _current_histories(partition, revisions, merging)
    if not histories:
        return []
    edits = await merging.edits.current(partition, merging.contributions)
    # What a single chunk says is never summarised, and most keys are named by one.
    several = {
        key: history
        for key, history in histories.items()
        if not edits.is_unedited(key)
        or (changes := history.changes_since(0)) is None
        or len(changes.chunks) > 1
    }
    aggregates = await describe_keys(partition, several, edits, merging, missing=True)
    return [group for key in several for group in aggregates[key].description.missing_summaries]


async def _summarize(
    workspace: str,
    groups: Sequence[Group],
    summarizer: Summarizer,
    current: Callable[[Key], Awaitable[bool]],
) -> list[Event]:
    async def summarize_group(group: Group) -> Summary:
        # A call that waits for its turn is dropped if the key changes meanwhile.
        with calls_for(workspace, partial(current, group.key)):
            return await summarizer.summarize(workspace, group)

    results = await asyncio.gather(*map(summarize_group, groups), return_exceptions=True)
    events: list[Event] = []
    retryables: list[Retryable] = []
    for group, result in zip(groups, results, strict=True):
        if isinstance(result, Retryable):
            retryables.append(result)
        elif isinstance(result, (Poison, NotWanted)):
            # Refused for its content, or out of date: the fragments themselves stay the
            # description.
            continue
        elif isinstance(result, BaseException):
            raise result
        else:
            events.append(
                DescriptionSummarized(
                    key=group.key,
                    inputs_hash=group.hash,
                    prompt_version=summarizer.prompt_version,
                    model=summarizer.model,
                    text=result.text,
                    usage=result.usage,
                )
            )
    if retryables:
        raise longest_wait(retryables, events)
    return events
