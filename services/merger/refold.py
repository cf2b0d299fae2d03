"""Folds keys again and writes them to the graph: the last step of every handler of the merger."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from contracts.folding.contributions import Key
from contracts.folding.edits import Edits
from contracts.folding.fold import fold
from contracts.graph import Entity, Partition, Relation
from services.merger.describing import describe_keys
from services.merger.domain.history import History
from services.merger.port import MergeDependencies


class Folded(NamedTuple):
    """Canonical keys as they are now: the edits they were folded with, their revisions, and what
    goes to the graph.
    """

    edits: Edits
    revisions: dict[Key, int]
    entities: list[Entity]
    relations: list[Relation]
    unsummarized: set[Key]
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
) -> Folded:
    """Fold as `refold` does, and write all but the graph.

    Edits are looked at again after each count: who counts a key last has read every edit made
    before.
    """
    edits = merging.edits.last(partition)
    histories: dict[Key, History] = {}
    noted: defaultdict[Key, set[str]] = defaultdict(set)
    mentions: Mapping[Key, Collection[str]] = changed
    while new := _chunks_of_canonical_keys(changed, edits, noted) if changed else {}:
        histories |= await merging.contributions.count_changes(
            partition, new, mentions, summarized or {}
        )
        for key, chunks in new.items():
            noted[key] |= chunks
        mentions = dict[Key, Collection[str]]()
        edits = await merging.edits.current(partition, merging.contributions)
    revisions = {key: history.revision for key, history in histories.items()}
    sources = {
        key: (number, edits.sources(key)) for key, number in revisions.items() if edits.affects(key)
    }
    if sources:
        await merging.contributions.put_sources(partition, sources)
    aggregates = await describe_keys(partition, histories, edits, merging)
    folded = [
        fold(key, aggregates[key].aggregate, aggregates[key].description.text, number, edits)
        for key, number in revisions.items()
    ]
    return Folded(
        edits,
        revisions,
        [item for item in folded if isinstance(item, Entity)],
        [item for item in folded if isinstance(item, Relation)],
        {key for key in revisions if not aggregates[key].description.is_whole},
    )


def _chunks_of_canonical_keys(
    changed: Mapping[Key, Collection[str]], edits: Edits, noted: Mapping[Key, Collection[str]]
) -> dict[Key, set[str]]:
    """Return the changed chunks by every canonical key that their keys have or may once have had,
    in order of keys.

    Left out are keys all of whose chunks are noted. An edit that came meanwhile may bring a noted
    key more chunks.
    """
    chunks: defaultdict[Key, set[str]] = defaultdict(set)
    for original, of_original in changed.items():
        for key in edits.all_canonical_keys((original,)):
            chunks[key].update(of_original)
    return {
        key: of_key
        for key, of_key in sorted(chunks.items())
        if key not in noted or not of_key <= set(noted[key])
    }
