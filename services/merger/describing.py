"""Aggregates and describes keys from their contributions, of which it reads as few as it can.

What this process knows of a key at an older revision is brought up to date: the key's history names
the chunks that have changed since, whichever replica merged them. Where it does not reach back, all
contributions are read.

The walk: canonical key → sources, the original keys whose contributions belong to it → chunks →
contributions → aggregate → description.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from contracts.graph import Partition
from knowledge.contributions import Contribution, Key
from knowledge.descriptions import Description
from knowledge.edits import Edits
from knowledge.fold import Aggregate, position_of
from knowledge.homonyms import Source
from runtime.errors import Retryable
from services.merger.aggregate_cache import CachedAggregate, LargeAggregate
from services.merger.domain.compact_aggregate import CompactAggregate, compacted
from services.merger.domain.description_tree import DescriptionTree
from services.merger.domain.history import Changes, History
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.domain.packed_contributions import PackedContributions
from services.merger.domain.packed_fragments import PackedFragments
from services.merger.domain.small_aggregate import (
    FewContributions,
    FragmentList,
    SmallAggregate,
)
from services.merger.port import MergeDependencies

MAX_READS = 100
"""Reads of summaries for one batch: one for each level of groups, and for each change by another
replica meanwhile.
"""


@dataclass(frozen=True)
class DescribedAggregate:
    """The aggregate and the description of one canonical key."""

    aggregate: Aggregate
    description: Description


class CanonicalKey(NamedTuple):
    """A canonical key, its history, and the sources whose contributions belong to it."""

    key: Key
    history: History
    sources: tuple[Source, ...]

    @property
    def is_unedited(self) -> bool:
        """Return whether all contributions to the key of these names, and no others, belong to
        it.
        """
        return self.sources == (Source(self.key),)


class CachedKey(NamedTuple):
    """A canonical key with its aggregate at an older revision, and what has changed since."""

    canonical: CanonicalKey
    aggregate: CachedAggregate
    changes: Changes


class SummaryLookup(NamedTuple):
    """The summaries that the fragments of an aggregate lack at a revision, by hash of group."""

    aggregate: LargeAggregate | SmallAggregate
    revision: int
    fragments: DescriptionTree | PackedFragments | FragmentList
    hashes: set[str]


async def describe_keys(
    partition: Partition,
    histories: Mapping[Key, History],
    edits: Edits,
    dependencies: MergeDependencies,
    *,
    with_missing: bool = False,
) -> dict[Key, DescribedAggregate]:
    """Return aggregate and description of each canonical key. Read the histories just before, then
    the edits.

    Without `with_missing` the groups that lack a summary are left out: a large hub may have
    thousands.
    """
    cached_keys, uncached_keys = _canonical_keys(partition, histories, edits, dependencies)
    chunks = await _chunks_to_read(partition, cached_keys, uncached_keys, dependencies)
    contributions = await dependencies.contributions.of_chunks(partition, chunks)
    aggregates: dict[Key, LargeAggregate | SmallAggregate] = {}
    aggregates |= await _update_cached(partition, cached_keys, contributions, dependencies)
    aggregates |= _aggregate_anew(
        partition,
        [
            *((key, _contributions_to(key, contributions)) for key in uncached_keys),
            *_changed_small(cached_keys, contributions),
        ],
        dependencies,
    )
    await _look_up_summaries(partition, aggregates.values(), dependencies)
    _compact(partition, aggregates.values(), dependencies)
    return {
        key: DescribedAggregate(
            aggregate.aggregate(), aggregate.fragments.description(with_missing=with_missing)
        )
        for key, aggregate in aggregates.items()
    }


def _canonical_keys(
    partition: Partition,
    histories: Mapping[Key, History],
    edits: Edits,
    dependencies: MergeDependencies,
) -> tuple[list[CachedKey], list[CanonicalKey]]:
    """Return the keys whose cached aggregate their history can bring up to date, and all others."""
    aggregates = dependencies.cache.get(partition, histories)
    cached_keys: list[CachedKey] = []
    uncached_keys: list[CanonicalKey] = []
    for key, history in histories.items():
        canonical = CanonicalKey(key, history, edits.sources(key))
        aggregate = aggregates.get(key)
        changes = None
        if aggregate is not None and aggregate.sources == canonical.sources:
            changes = history.changes_since(aggregate.revision)
        if aggregate is not None and changes is not None:
            cached_keys.append(CachedKey(canonical, aggregate, changes))
        else:
            uncached_keys.append(canonical)
    return cached_keys, uncached_keys


async def _chunks_to_read(
    partition: Partition,
    cached_keys: Collection[CachedKey],
    uncached_keys: Collection[CanonicalKey],
    dependencies: MergeDependencies,
) -> dict[Key, set[str]]:
    """Return by original key the hashes of the chunks that contribute to it: all of them for keys
    that are not cached, those that have changed for the others.

    All stand in the key's own history if that is whole and no edit has touched the key. A history
    does not count what other keys have contributed: their mentions are read, which stand before any
    count of theirs.
    """
    chunks: dict[Key, set[str]] = {}
    mentioned_keys: set[Key] = set()
    for canonical in uncached_keys:
        changes = canonical.history.changes_since(0) if canonical.is_unedited else None
        if changes is not None:
            chunks[canonical.key] = changes.chunks
        else:
            mentioned_keys.update(source.key for source in canonical.sources)
    mentioned_keys.difference_update(chunks)
    chunks |= await dependencies.contributions.mentioning_chunks(partition, mentioned_keys)
    for canonical, _, changes in cached_keys:
        for source in canonical.sources:
            # Of a name that was split, another key may need all of them.
            chunks.setdefault(source.key, set()).update(changes.chunks)
    return chunks


def _contributions_to(
    canonical: CanonicalKey, contributions: Mapping[Key, list[Contribution]]
) -> list[Contribution]:
    """Return the contributions to the sources of a canonical key; those that an edit hides or moves
    away are retracted.
    """
    sources_by_key: defaultdict[Key, list[Source]] = defaultdict(list)
    for source in canonical.sources:
        sources_by_key[source.key].append(source)
    of_key: list[Contribution] = []
    for original, sources in sources_by_key.items():
        for contribution in contributions[original]:
            if contribution.is_retracted or _belongs(contribution, sources):
                of_key.append(contribution)
            else:
                of_key.append(replace(contribution, is_retracted=True))
    return of_key


def _belongs(contribution: Contribution, sources: Iterable[Source]) -> bool:
    """Return whether one of the sources, all of the contribution's own key, covers it."""
    return any(
        contribution.document_id in source.documents and contribution.version > source.cutoff
        for source in sources
    )


async def _update_cached(
    partition: Partition,
    keys: Collection[CachedKey],
    contributions: Mapping[Key, list[Contribution]],
    dependencies: MergeDependencies,
) -> dict[Key, LargeAggregate]:
    """Apply to cached aggregates what has changed since, and return them: packed ones made whole,
    and compact ones where they cannot take the change.

    Another task may have done so meanwhile: then only what came after its revision is applied, and
    nothing to an aggregate that is newer than this history. What it has read too late is applied
    again at the change that counts it.
    """
    large_keys = [
        (canonical, aggregate, changes)
        for canonical, aggregate, changes in keys
        if not isinstance(aggregate, FewContributions)
    ]
    hashes: set[str] = set()
    for _, _, changes in large_keys:
        hashes |= changes.summaries
    summaries = await dependencies.summaries.get(partition, hashes) if hashes else {}
    aggregates: dict[Key, LargeAggregate] = {}
    for canonical, aggregate, changes in large_keys:
        if isinstance(aggregate, PackedContributions):
            aggregate = aggregate.expanded(dependencies.limits)
        if aggregate.revision < canonical.history.revision:
            of_key = _contributions_to(canonical, contributions)
            if isinstance(aggregate, CompactAggregate) and not aggregate.append(of_key):
                aggregate = aggregate.expanded(dependencies.limits)
            if isinstance(aggregate, IncrementalAggregate):
                aggregate.put(of_key)
            stored_hashes = changes.summaries & summaries.keys()
            aggregate.apply_summaries({hash: summaries[hash] for hash in stored_hashes})
            aggregate.revision = canonical.history.revision
        aggregates[canonical.key] = aggregate
    dependencies.cache.put(partition, aggregates.values())
    return aggregates


def _changed_small(
    keys: Iterable[CachedKey], contributions: Mapping[Key, list[Contribution]]
) -> Iterator[tuple[CanonicalKey, list[Contribution]]]:
    """Yield the keys of which few contributions are cached, with these as they are now. Of a key
    that is cached at a newer revision than the history they are those of the cache.
    """
    for canonical, few, _ in keys:
        if not isinstance(few, FewContributions):
            continue
        if few.revision >= canonical.history.revision:
            history = History(few.revision)
            yield canonical._replace(history=history), list(few.contributions)
        else:
            changes = _contributions_to(canonical, contributions)
            yield canonical, few.updated(changes)


def _aggregate_anew(
    partition: Partition,
    keys: Iterable[tuple[CanonicalKey, list[Contribution]]],
    dependencies: MergeDependencies,
) -> dict[Key, IncrementalAggregate | SmallAggregate]:
    """Return, and cache, aggregates of all contributions to the keys."""
    aggregates: dict[Key, IncrementalAggregate | SmallAggregate] = {}
    for (key, history, sources), of_key in keys:
        if len(of_key) < dependencies.cache.min_contributions:
            aggregates[key] = SmallAggregate(
                key, of_key, dependencies.limits, sources, history.revision
            )
            continue
        aggregate = IncrementalAggregate(key, dependencies.limits, sources)
        # In canonical order each is appended; in another order thousands behind it would be moved.
        aggregate.put(sorted(of_key, key=position_of))
        aggregate.revision = history.revision
        aggregates[key] = aggregate
    dependencies.cache.put(
        partition,
        (
            aggregate.few if isinstance(aggregate, SmallAggregate) else aggregate
            for aggregate in aggregates.values()
        ),
    )
    return aggregates


def _compact(
    partition: Partition,
    aggregates: Iterable[LargeAggregate | SmallAggregate],
    dependencies: MergeDependencies,
) -> None:
    """Cache the compact forms of those aggregates that can have one by now."""
    for aggregate in aggregates:
        if isinstance(aggregate, IncrementalAggregate):
            compact_aggregate = compacted(aggregate, dependencies.limits)
            if compact_aggregate:
                dependencies.cache.put(partition, [compact_aggregate])


async def _look_up_summaries(
    partition: Partition,
    aggregates: Collection[LargeAggregate | SmallAggregate],
    dependencies: MergeDependencies,
) -> None:
    """Look up the summaries in the descriptions, for one level of groups at a time, until none is
    pending.
    """
    for _ in range(MAX_READS):
        lookups: list[SummaryLookup] = []
        hashes: set[str] = set()
        for aggregate in aggregates:
            pending = aggregate.fragments.pending_summaries()
            if pending:
                hashes |= pending
                lookups.append(
                    SummaryLookup(aggregate, aggregate.revision, aggregate.fragments, pending)
                )
        if not lookups:
            return
        summaries = await dependencies.summaries.get(partition, hashes)
        for lookup in lookups:
            # Another task may have stored a summary meanwhile: then this result is outdated, and is
            # read again.
            if lookup.aggregate.revision == lookup.revision:
                lookup.fragments.apply_summaries(summaries, lookup.hashes)
    raise Retryable("the summaries of a description change faster than they can be read")
