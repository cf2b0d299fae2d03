"""Folds keys again and writes them to the graph: the last step of every handler of the merger."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

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


async def refold(
    partition: Partition,
    changed: Mapping[Key, Collection[str]],
    merging: MergeDependencies,
    summarized: Collection[str] = (),
) -> tuple[Edits, dict[Key, int]]:
    """Fold the canonical keys that original keys have or had, and write them. Returns the edits and the revisions.

    `changed`: by original key, the chunks whose contributions the caller may have changed;
    `summarized`: the hashes of groups whose summaries the caller has stored.
    Edits are read again after each increment: who increments a key last has read every edit made before.
    """
    edits = apply_edits(await merging.contributions.edits(partition))
    revisions: dict[Key, int] = {}
    while new := edits.all_canonical_keys(changed) - revisions.keys():
        revisions |= await merging.contributions.increment_revisions(partition, sorted(new))
        edits = apply_edits(await merging.contributions.edits(partition))
    told = {
        key: (number, edits.original_keys_with_cutoff(key)) for key, number in revisions.items() if edits.affects(key)
    }
    if told:
        await merging.contributions.put_original_keys(partition, told)
    cached = await _advance_cached(partition, revisions, edits, merging, changed, summarized)
    accounts = await _described_aggregates(partition, revisions, edits, merging, cached)
    folded = [
        fold(key, accounts[key].aggregate, accounts[key].description.text, number, edits)
        for key, number in revisions.items()
    ]
    await merging.graph.put(
        partition,
        [thing for thing in folded if isinstance(thing, Entity)],
        [thing for thing in folded if isinstance(thing, Relation)],
    )
    return edits, revisions


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

    `aggregate_cache.py` says why that is all of the change. It is read back after the increment. Until the last line
    no other task advances these aggregates: it would need the same revision.
    """
    before = {key: number - 1 for key, number in _unedited(revisions, edits).items()}
    cached = merging.cache.get(partition, before)
    said = await merging.contributions.of_chunks(partition, {key: changed.get(key, ()) for key in cached})
    known = await merging.summaries.get(partition, summarized) if summarized and cached else {}
    for key, one in cached.items():
        one.put(said[key])
        one.apply_summaries(known)
        one.revision = revisions[key]
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
    alone = _unedited(revisions, edits)
    new = {
        key: _incremental_aggregate(key, alone[key], read[key], merging.limits)
        for key in sources
        if key in alone and len(read[key]) >= merging.cache.min_contributions
    }
    merging.cache.put(partition, new.values())
    ordered = {
        key: active_contributions((c for raw in raws for c in read[raw]), edits)
        for key, raws in sources.items()
        if key not in new
    }
    found = _Inputs({**cached, **new}, ordered)
    described = await _descriptions(partition, found, merging.summaries, merging.limits)
    return {
        key: DescribedAggregate(found.incremental[key].aggregate(), described[key]) for key in found.incremental
    } | {key: DescribedAggregate(aggregate(some), described[key]) for key, some in ordered.items()}


def _incremental_aggregate(
    key: Key, revision: int, said: Collection[Contribution], limits: SummaryLimits
) -> IncrementalAggregate:
    aggregate = IncrementalAggregate(key, limits)
    aggregate.put(said)
    aggregate.revision = revision
    return aggregate


async def _descriptions(
    partition: Partition, found: _Inputs, summaries: Summaries, limits: SummaryLimits
) -> dict[Key, Description]:
    """Return each key's description; the summaries in it are read for one level of groups at a time."""
    texts = {key: fragments(contributions) for key, contributions in found.contributions.items()}
    known: dict[str, str] = {}
    asked: set[str] = set()
    for _ in range(MAX_READS):
        described = {key: describe(key, some, known, limits) for key, some in texts.items()}
        lacking = {group.hash for one in described.values() for group in one.missing_summaries} - asked
        asking = [
            (one, one.revision, one.fragments, one.fragments.pending_summaries()) for one in found.incremental.values()
        ]
        if not (wanted := lacking.union(*(hashes for *_, hashes in asking))):
            return described | {key: one.fragments.description() for key, one in found.incremental.items()}
        new = await summaries.get(partition, wanted)
        known |= new
        asked |= wanted
        for one, revision, tree, hashes in asking:
            # Another task may have stored a summary meanwhile: then this result is outdated, and is read again.
            if one.revision == revision:
                tree.apply_summaries(new, hashes)
    raise Retryable("the summaries of a thing change faster than they can be read")
