"""Folds keys again and writes them to the graph: the last step of every handler of the merger."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from contracts.graph import Entity, Partition, Relation
from runtime.errors import Retryable
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Description, SummaryLimits, describe
from services.merger.domain.edits import Edits, apply_edits
from services.merger.domain.fold import Aggregate, active_contributions, aggregate, fold, fragments
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.port import MergeDependencies, Summaries

MAX_READS = 100
"""Reads of summaries for one batch: one for each level of groups, and for each change by another replica meanwhile."""


@dataclass(frozen=True)
class DescribedAggregate:
    """The aggregate and the description of one canonical key."""

    aggregate: Aggregate
    description: Description


@dataclass(frozen=True)
class _Inputs:
    """Incremental aggregates, and of all other keys the active contributions in canonical order."""

    incremental: Mapping[Key, IncrementalAggregate] = field(default_factory=dict[Key, IncrementalAggregate])
    contributions: Mapping[Key, list[Contribution]] = field(default_factory=dict[Key, list[Contribution]])


class Folded(NamedTuple):
    """Canonical keys as they are now: the edits they were folded with, their revisions, and what goes to the graph."""

    edits: Edits
    revisions: dict[Key, int]
    entities: list[Entity]
    relations: list[Relation]


async def refold(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Collection[str] = (),
) -> tuple[Edits, dict[Key, int]]:
    """Fold the canonical keys that original keys have or had, and write them. Returns the edits and the revisions.

    `changed`: by original key, the chunks whose contributions the caller may have changed;
    `summarized`: the hashes of groups whose summaries the caller has stored.
    """
    folded = await fold_keys(partition, changed, merging, summarized)
    await merging.graph.put(partition, folded.entities, folded.relations)
    return folded.edits, folded.revisions


async def fold_keys(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Collection[str] = (),
) -> Folded:
    """Fold as `refold` does, and write all but the graph.

    Edits are read again after each increment: who increments a key last has read every edit made before.
    """
    edits = apply_edits(await merging.contributions.edits(partition))
    revisions: dict[Key, int] = {}
    while new := edits.all_canonical_keys(changed) - revisions.keys():
        revisions |= await merging.contributions.increment_revisions(partition, sorted(new))
        edits = apply_edits(await merging.contributions.edits(partition))
    original_keys = {
        key: (number, edits.original_keys_with_cutoff(key)) for key, number in revisions.items() if edits.affects(key)
    }
    if original_keys:
        await merging.contributions.put_original_keys(partition, original_keys)
    cached = await _advance_cached(partition, revisions, edits, merging, changed, summarized)
    aggregates = await _described_aggregates(partition, revisions, edits, merging, cached)
    folded = [
        fold(key, aggregates[key].aggregate, aggregates[key].description.text, number, edits)
        for key, number in revisions.items()
    ]
    return Folded(
        edits,
        revisions,
        [item for item in folded if isinstance(item, Entity)],
        [item for item in folded if isinstance(item, Relation)],
    )


async def describe_keys(
    partition: Partition, revisions: Mapping[Key, int], edits: Edits, merging: MergeDependencies
) -> dict[Key, DescribedAggregate]:
    """Return aggregate and description of each canonical key. Read the revisions just before, then the edits."""
    return await _described_aggregates(
        partition, revisions, edits, merging, merging.cache.get(partition, _unedited(revisions, edits))
    )


def _unedited(revisions: Mapping[Key, int], edits: Edits) -> dict[Key, int]:
    """Return the revisions of those keys that no edit has touched."""
    return {key: number for key, number in revisions.items() if edits.is_unedited(key)}


async def _advance_cached(
    partition: Partition,
    revisions: Mapping[Key, int],
    edits: Edits,
    merging: MergeDependencies,
    changed: Mapping[Key, Collection[str]],
    summarized: Collection[str],
) -> dict[Key, IncrementalAggregate]:
    """Apply our own change to cached aggregates that no other replica has incremented since, and return them.

    `aggregate_cache.py` explains why our change is the only one. It is read after the increment. No other task can
    advance the same aggregates meanwhile: the revision would not match.
    """
    before = {key: number - 1 for key, number in _unedited(revisions, edits).items()}
    cached = merging.cache.get(partition, before)
    contributions = await merging.contributions.of_chunks(partition, {key: changed.get(key, ()) for key in cached})
    summaries = await merging.summaries.get(partition, summarized) if summarized and cached else {}
    for key, incremental in cached.items():
        incremental.put(contributions[key])
        incremental.apply_summaries(summaries)
        incremental.revision = revisions[key]
    merging.cache.put(partition, cached.values())
    return cached


async def _described_aggregates(
    partition: Partition,
    revisions: Mapping[Key, int],
    edits: Edits,
    merging: MergeDependencies,
    cached: Mapping[Key, IncrementalAggregate],
) -> dict[Key, DescribedAggregate]:
    """Return the aggregates and descriptions: `cached` as they are, all other keys read in full."""
    sources = {key: edits.original_keys(key) for key in revisions.keys() - cached.keys()}
    read = await merging.contributions.by_key(partition, {raw for of_key in sources.values() for raw in of_key})
    unedited_revisions = _unedited(revisions, edits)
    new = {
        key: _incremental_aggregate(key, unedited_revisions[key], read[key], merging.limits)
        for key in sources
        if key in unedited_revisions and len(read[key]) >= merging.cache.min_contributions
    }
    merging.cache.put(partition, new.values())
    ordered = {
        key: active_contributions((c for raw in raws for c in read[raw]), edits)
        for key, raws in sources.items()
        if key not in new
    }
    inputs = _Inputs({**cached, **new}, ordered)
    described = await _descriptions(partition, inputs, merging.summaries, merging.limits)
    return {
        key: DescribedAggregate(inputs.incremental[key].aggregate(), described[key]) for key in inputs.incremental
    } | {key: DescribedAggregate(aggregate(contributions), described[key]) for key, contributions in ordered.items()}


def _incremental_aggregate(
    key: Key, revision: int, contributions: Collection[Contribution], limits: SummaryLimits
) -> IncrementalAggregate:
    aggregate = IncrementalAggregate(key, limits)
    aggregate.put(contributions)
    aggregate.revision = revision
    return aggregate


async def _descriptions(
    partition: Partition, inputs: _Inputs, summaries: Summaries, limits: SummaryLimits
) -> dict[Key, Description]:
    """Return each key's description; the summaries in it are read for one level of groups at a time."""
    texts = {key: fragments(contributions) for key, contributions in inputs.contributions.items()}
    summaries_by_hash: dict[str, str] = {}
    requested: set[str] = set()
    for _ in range(MAX_READS):
        described = {key: describe(key, some, summaries_by_hash, limits) for key, some in texts.items()}
        missing_hashes = {group.hash for one in described.values() for group in one.missing_summaries} - requested
        pending = [
            (one, one.revision, one.fragments, one.fragments.pending_summaries()) for one in inputs.incremental.values()
        ]
        if not (new_hashes := missing_hashes.union(*(hashes for *_, hashes in pending))):
            return described | {key: one.fragments.description() for key, one in inputs.incremental.items()}
        new = await summaries.get(partition, new_hashes)
        summaries_by_hash |= new
        requested |= new_hashes
        for one, revision, tree, hashes in pending:
            # Another task may have stored a summary meanwhile: then this result is outdated, and is read again.
            if one.revision == revision:
                tree.apply_summaries(new, hashes)
    raise Retryable("the summaries of a thing change faster than they can be read")
