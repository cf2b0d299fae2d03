"""Folds keys again and writes them to the graph: the last step of every handler of the merger.

The walk: original keys that changed → canonical keys they have or had → a count of each change →
aggregate and description (`describing.py`) → entity or relation.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from contracts.graph import Entity, Partition, Relation
from knowledge.contributions import Key
from knowledge.edits import Edits
from knowledge.fold import fold
from services.merger.describing import describe_keys
from services.merger.domain.history import History
from services.merger.port import MergeDependencies


@dataclass(frozen=True)
class FoldedKeys:
    """Canonical keys as they are now: the edits they were folded with, their revisions, and what
    goes to the graph.
    """

    edits: Edits
    revisions: dict[Key, int]
    entities: list[Entity] = field(default_factory=list[Entity])
    relations: list[Relation] = field(default_factory=list[Relation])
    unsummarized: set[Key] = field(default_factory=set[Key])
    """Those of the keys that lack a summary."""


async def refold(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Mapping[Key, Collection[str]] | None = None,
) -> tuple[Edits, dict[Key, int]]:
    """Fold the canonical keys that original keys have or had, and write them. Returns the edits and
    the revisions.

    `changed`: by original key, the chunks whose contributions the caller may have changed;
    `summarized`: by key, the hashes of groups whose summaries the caller has stored.
    """
    folded = await fold_keys(partition, changed, merging, summarized)
    if folded.revisions:
        await merging.graph.put(partition, folded.entities, folded.relations)
    return folded.edits, folded.revisions


async def fold_keys(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Mapping[Key, Collection[str]] | None = None,
) -> FoldedKeys:
    """Fold as `refold` does, and write all but the graph."""
    edits, histories = await _count_changes(partition, changed, merging, summarized or {})
    revisions = {key: history.revision for key, history in histories.items()}
    await _put_sources(partition, revisions, edits, merging)
    aggregates = await describe_keys(partition, histories, edits, merging)
    folded = FoldedKeys(edits, revisions)
    for key, revision in revisions.items():
        description = aggregates[key].description
        item = fold(key, aggregates[key].aggregate, description.text, revision, edits)
        if isinstance(item, Entity):
            folded.entities.append(item)
        else:
            folded.relations.append(item)
        if not description.is_whole:
            folded.unsummarized.add(key)
    return folded


async def _count_changes(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Mapping[Key, Collection[str]],
) -> tuple[Edits, dict[Key, History]]:
    """Count the change of every canonical key that the original keys have or may once have had.
    Returns the edits, and the histories of the canonical keys.

    Edits are read again after each count: whoever counts a key last has read every edit made
    before.
    """
    edits = merging.edits.last(partition)
    histories: dict[Key, History] = {}
    counted: dict[Key, set[str]] = {}
    mentions = changed
    uncounted = _uncounted_chunks(changed, edits, counted)
    while uncounted:
        histories |= await merging.contributions.count_changes(
            partition, uncounted, mentions, summarized
        )
        for key, chunks in uncounted.items():
            counted.setdefault(key, set()).update(chunks)
        # The mentions are by original key: the first count has stored them all.
        mentions = dict[Key, Collection[str]]()
        edits = await merging.edits.current(partition, merging.contributions)
        uncounted = _uncounted_chunks(changed, edits, counted)
    return edits, histories


def _uncounted_chunks(
    changed: Mapping[Key, Collection[str]], edits: Edits, counted: Mapping[Key, Collection[str]]
) -> dict[Key, set[str]]:
    """Return the changed chunks by every canonical key that their keys have or may once have had,
    in order of keys.

    Left out are keys all of whose chunks are counted. An edit that came meanwhile may bring a
    counted key more chunks.
    """
    chunks_by_key: dict[Key, set[str]] = {}
    for original, original_chunks in changed.items():
        for key in edits.all_canonical_keys((original,)):
            chunks_by_key.setdefault(key, set()).update(original_chunks)
    uncounted: dict[Key, set[str]] = {}
    for key, chunks in sorted(chunks_by_key.items()):
        if key not in counted or not chunks.issubset(counted[key]):
            uncounted[key] = chunks
    return uncounted


async def _put_sources(
    partition: Partition, revisions: Mapping[Key, int], edits: Edits, merging: MergeDependencies
) -> None:
    """Store for readers whose contributions belong to the keys that edits affect."""
    sources = {
        key: (revision, edits.sources(key))
        for key, revision in revisions.items()
        if edits.affects(key)
    }
    if sources:
        await merging.contributions.put_sources(partition, sources)
