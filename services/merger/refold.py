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
    unsummarized_keys: set[Key] = field(default_factory=set[Key])
    """Those of the keys that lack a summary."""


async def refold(
    partition: Partition,
    chunks: Mapping[Key, Collection[str]],
    dependencies: MergeDependencies,
    summary_hashes: Mapping[Key, Collection[str]] | None = None,
) -> tuple[Edits, dict[Key, int]]:
    """Fold the canonical keys that original keys have or had, and write them. Returns the edits and
    the revisions.

    `chunks`: by original key, those whose contributions the caller may have changed;
    `summary_hashes`: by key, of the groups whose summaries the caller has stored.
    """
    folded_keys = await fold_keys(partition, chunks, dependencies, summary_hashes)
    if folded_keys.revisions:
        await dependencies.graph.put(partition, folded_keys.entities, folded_keys.relations)
    return folded_keys.edits, folded_keys.revisions


async def fold_keys(
    partition: Partition,
    chunks: Mapping[Key, Collection[str]],
    dependencies: MergeDependencies,
    summary_hashes: Mapping[Key, Collection[str]] | None = None,
) -> FoldedKeys:
    """Fold as `refold` does, and write all but the graph."""
    edits, histories = await _count_changes(partition, chunks, dependencies, summary_hashes or {})
    revisions = {key: history.revision for key, history in histories.items()}
    await _put_sources(partition, revisions, edits, dependencies)
    aggregates = await describe_keys(partition, histories, edits, dependencies)
    folded_keys = FoldedKeys(edits, revisions)
    for key, revision in revisions.items():
        description = aggregates[key].description
        item = fold(key, aggregates[key].aggregate, description.text, revision, edits)
        if isinstance(item, Entity):
            folded_keys.entities.append(item)
        else:
            folded_keys.relations.append(item)
        if not description.is_whole:
            folded_keys.unsummarized_keys.add(key)
    return folded_keys


async def _count_changes(
    partition: Partition,
    chunks: Mapping[Key, Collection[str]],
    dependencies: MergeDependencies,
    summary_hashes: Mapping[Key, Collection[str]],
) -> tuple[Edits, dict[Key, History]]:
    """Count the change of every canonical key that the original keys have or may once have had.
    Returns the edits, and the histories of the canonical keys.

    Edits are read again after each count: whoever counts a key last has read every edit made
    before.
    """
    edits = dependencies.edits.last(partition)
    histories: dict[Key, History] = {}
    counted_chunks: dict[Key, set[str]] = {}
    mentions = chunks
    uncounted_chunks = _uncounted_chunks(chunks, edits, counted_chunks)
    while uncounted_chunks:
        histories |= await dependencies.contributions.count_changes(
            partition, uncounted_chunks, mentions, summary_hashes
        )
        for key, of_key in uncounted_chunks.items():
            counted_chunks.setdefault(key, set()).update(of_key)
        # The mentions are by original key: the first count has stored them all.
        mentions = dict[Key, Collection[str]]()
        edits = await dependencies.edits.current(partition, dependencies.contributions)
        uncounted_chunks = _uncounted_chunks(chunks, edits, counted_chunks)
    return edits, histories


def _uncounted_chunks(
    chunks: Mapping[Key, Collection[str]],
    edits: Edits,
    counted_chunks: Mapping[Key, Collection[str]],
) -> dict[Key, set[str]]:
    """Return the chunks of original keys by every canonical key that these have or may once have
    had, in order of keys.

    Left out are keys all of whose chunks are counted. An edit that came meanwhile may bring a
    counted key more chunks.
    """
    chunks_by_canonical_key: dict[Key, set[str]] = {}
    for original, of_original in chunks.items():
        for key in edits.all_canonical_keys((original,)):
            chunks_by_canonical_key.setdefault(key, set()).update(of_original)
    uncounted_chunks: dict[Key, set[str]] = {}
    for key, of_key in sorted(chunks_by_canonical_key.items()):
        if key not in counted_chunks or not of_key.issubset(counted_chunks[key]):
            uncounted_chunks[key] = of_key
    return uncounted_chunks


async def _put_sources(
    partition: Partition,
    revisions: Mapping[Key, int],
    edits: Edits,
    dependencies: MergeDependencies,
) -> None:
    """Store for readers whose contributions belong to the keys that edits affect."""
    sources = {
        key: (revision, edits.sources(key))
        for key, revision in revisions.items()
        if edits.affects(key)
    }
    if sources:
        await dependencies.contributions.put_sources(partition, sources)
