"""Handles GraphMerged: has a language model summarise descriptions that are too long, returns
DescriptionSummarized.

Merging never waits for it. Changes of a key are debounced, and only its newest revision is
summarised: a key that a bulk load changes a thousand times is summarised when the load is done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from contracts.events import DescriptionSummarized, Event, GraphMerged
from contracts.graph import Generations, Partition
from knowledge.contributions import Key
from knowledge.descriptions import Group
from runtime.bus.batches import by_workspace
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
    dependencies: MergeDependencies,
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
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        revisions, sequences = await _newest_revisions(partition, deliveries, dependencies)
        groups: dict[str, Group] = {}
        for group in await _missing_summaries(partition, revisions, dependencies):
            groups.setdefault(group.hash, group)
        is_current = partial(_is_current, partition, revisions, dependencies=dependencies)
        for delivery in deliveries:
            of_delivery = [
                group for group in groups.values() if sequences[group.key] == delivery.sequence
            ]
            events[delivery.sequence] = await _summarize(
                workspace, of_delivery, summarizer, is_current
            )
    return [events[delivery.sequence] for delivery in batch]


async def _newest_revisions(
    partition: Partition,
    deliveries: Sequence[Delivery[GraphMerged]],
    dependencies: MergeDependencies,
) -> tuple[dict[Key, int], dict[Key, int]]:
    """Return by key the newest revision that any of the deliveries announces, and the sequence of
    the first that does.

    All of a batch are looked up at once: most keys have changed again by then, or nothing of them
    is too long.
    """
    newest: dict[Key, int] = {}
    sequences: dict[Key, int] = {}
    for delivery in deliveries:
        for key, revision in (await _revisions(partition, delivery.event, dependencies)).items():
            if key not in newest or revision > newest[key]:
                newest[key] = revision
                sequences[key] = delivery.sequence
    return newest, sequences


async def _revisions(
    partition: Partition, event: GraphMerged, dependencies: MergeDependencies
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
    histories = await dependencies.contributions.histories(partition, revisions)
    return {key: histories[key].revision if key in histories else 0 for key in revisions}


async def _current_histories(
    partition: Partition, revisions: Mapping[Key, int], dependencies: MergeDependencies
) -> dict[Key, History]:
    """Return the histories of those keys that nothing new has changed since.

    A change whose GraphMerged is in the log may be counted again, after a crash, and gives no
    second event then.
    """
    stored_histories = await dependencies.contributions.histories(partition, revisions)
    histories = {key: stored_histories.get(key, History(0)) for key in revisions}
    unchanged_keys: set[Key] = set()
    new_entries: dict[Key, set[str]] = {}
    for key, history in histories.items():
        entries = history.new_entries_since(revisions[key])
        if entries:
            new_entries[key] = entries
        elif entries is not None:
            unchanged_keys.add(key)
    if new_entries:
        unchanged_keys |= await _keys_counted_before(
            partition, histories, new_entries, dependencies
        )
    return {key: history for key, history in histories.items() if key in unchanged_keys}


async def _keys_counted_before(
    partition: Partition,
    histories: Mapping[Key, History],
    new_entries: Mapping[Key, Collection[str]],
    dependencies: MergeDependencies,
) -> set[Key]:
    """Return the keys whose new entries were all counted before an edit brought them here, under an
    original name.

    Whoever counts a change of a key counts it for the original names, too: there it stands once
    more often.
    """
    edits = await dependencies.edits.current(partition, dependencies.contributions)
    originals: dict[Key, set[Key]] = {}
    for key in new_entries:
        if not edits.is_unedited(key):
            originals[key] = {source.key for source in edits.sources(key)} - {key}
    all_originals = set[Key]().union(*originals.values())
    if not all_originals:
        return set()
    original_histories = await dependencies.contributions.histories(partition, all_originals)
    return {
        key
        for key, originals_of_key in originals.items()
        if _were_counted_before(
            new_entries[key],
            histories[key],
            [original_histories[key] for key in originals_of_key & original_histories.keys()],
        )
    }


def _were_counted_before(
    entries: Iterable[str], history: History, original_histories: Collection[History]
) -> bool:
    """Return whether some history of an original key names each entry more often than this one."""
    return all(
        any(original.times(entry) > history.times(entry) for original in original_histories)
        for entry in entries
    )


async def _is_current(
    partition: Partition, revisions: Mapping[Key, int], key: Key, *, dependencies: MergeDependencies
) -> bool:
    """Return whether a key is still at this revision; if not, its next GraphMerged will be
    summarised.
    """
    return bool(await _current_histories(partition, {key: revisions[key]}, dependencies))


async def _missing_summaries(
    partition: Partition, revisions: Mapping[Key, int], dependencies: MergeDependencies
) -> list[Group]:
    """Return the groups without a summary, of those keys that have not changed since these
    revisions.
    """
    histories = await _current_histories(partition, revisions, dependencies)
    if not histories:
        return []
    edits = await dependencies.edits.current(partition, dependencies.contributions)
    # What a single chunk says is never summarised, and most keys are named by one.
    described_histories = {
        key: history
        for key, history in histories.items()
        if not edits.is_unedited(key) or _may_have_several_chunks(history)
    }
    aggregates = await describe_keys(
        partition, described_histories, edits, dependencies, with_missing=True
    )
    groups: list[Group] = []
    for key in described_histories:
        groups += aggregates[key].description.missing_summaries
    return groups


def _may_have_several_chunks(history: History) -> bool:
    changes = history.changes_since(0)
    return changes is None or len(changes.chunks) > 1


async def _summarize(
    workspace: str,
    groups: Sequence[Group],
    summarizer: Summarizer,
    is_current: Callable[[Key], Awaitable[bool]],
) -> list[Event]:
    async def summarize_group(group: Group) -> Summary:
        # A call that waits for its turn is dropped if the key changes meanwhile.
        with calls_for(workspace, partial(is_current, group.key)):
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
