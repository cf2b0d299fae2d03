"""Aggregates and describes keys from their contributions, of which it reads as few as it can.

What this process knows of a key at an older revision is brought up to date: the key's history names
the chunks that have changed since, whichever replica merged them. Where it does not reach back, all
contributions are read.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from contracts.folding.contributions import Contribution, Key
from contracts.folding.descriptions import Description, describe
from contracts.folding.edits import Edits
from contracts.folding.fold import (
    Aggregate,
    active_contributions,
    aggregate,
    fragments,
    position_of,
)
from contracts.folding.homonyms import Source
from contracts.graph import Partition
from runtime.errors import Retryable
from services.merger.domain.history import Changes, History
from services.merger.domain.incremental_aggregate import IncrementalAggregate
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


async def describe_keys(
    partition: Partition,
    histories: Mapping[Key, History],
    edits: Edits,
    merging: MergeDependencies,
    *,
    missing: bool = False,
) -> dict[Key, DescribedAggregate]:
    """Return aggregate and description of each canonical key. Read the histories just before, then
    the edits.

    Without `missing` the groups that lack a summary are left out: a large hub may have thousands.
    """
    sources = {key: edits.sources(key) for key in histories}
    cached = {
        key: (known, changes)
        for key, known in merging.cache.get(partition, histories).items()
        if known.sources == sources[key]
        and (changes := histories[key].since(known.revision)) is not None
    }
    chunks = await _all_chunks(partition, histories, sources, cached.keys(), merging)
    for key, (_, changes) in cached.items():
        for source in sources[key]:
            # Of a name that was split, another key may need all of them.
            chunks[source.key] = chunks.get(source.key, set()) | changes.chunks
    read = await merging.contributions.of_chunks(partition, chunks)
    by_key = {key: _contributions(of_key, read) for key, of_key in sources.items()}
    await _advance(partition, cached, histories, by_key, merging)
    known = {key: one for key, (one, _) in cached.items()}
    new = {key: by_key[key] for key in by_key if key not in cached}
    known |= _new_aggregates(partition, sources, histories, new, merging)
    listed = {key: active_contributions(of_key) for key, of_key in new.items() if key not in known}
    texts = {key: fragments(contributions) for key, contributions in listed.items()}
    described = await _descriptions(partition, known, texts, merging, missing=missing)
    return {
        key: DescribedAggregate(one.aggregate(), described[key]) for key, one in known.items()
    } | {
        key: DescribedAggregate(aggregate(contributions), described[key])
        for key, contributions in listed.items()
    }


def _contributions(
    sources: tuple[Source, ...], read: Mapping[Key, list[Contribution]]
) -> list[Contribution]:
    """Return the contributions to the keys of these sources; those that an edit hides or moves away
    are retracted.
    """
    by_key: defaultdict[Key, list[Source]] = defaultdict(list)
    for source in sources:
        by_key[source.key].append(source)

    def counts(one: Contribution) -> bool:
        return any(
            one.document_id in source.documents and one.version > source.cutoff
            for source in by_key[one.names]
        )

    return [
        one if one.retracted or counts(one) else replace(one, retracted=True)
        for key in by_key
        for one in read[key]
    ]


async def _all_chunks(
    partition: Partition,
    histories: Mapping[Key, History],
    sources: Mapping[Key, tuple[Source, ...]],
    cached: Collection[Key],
    merging: MergeDependencies,
) -> dict[Key, set[str]]:
    """Return the hashes of all chunks that contribute to each original key of keys that are not
    cached.

    They stand in the key's own history if that is whole and no edit has touched the key. A history
    does not count what other keys have contributed: their mentions are read, which stand before any
    count of theirs.
    """
    keys = {
        original for key, of_key in sources.items() if key not in cached for original, *_ in of_key
    }
    unedited = {key for key in keys & histories.keys() if sources[key] == (Source(key),)}
    wholes = {key: histories[key].since(0) for key in unedited}
    chunks = {key: changes.chunks for key, changes in wholes.items() if changes is not None}
    return chunks | await merging.contributions.mentioning_chunks(partition, keys - chunks.keys())


async def _advance(
    partition: Partition,
    cached: Mapping[Key, tuple[IncrementalAggregate, Changes]],
    histories: Mapping[Key, History],
    read: Mapping[Key, list[Contribution]],
    merging: MergeDependencies,
) -> None:
    """Apply to cached aggregates what has changed since.

    Another task may have done so meanwhile: then only what came after its revision is applied, and
    nothing to an aggregate that is newer than this history. What it has read too late is applied
    again at the change that counts it.
    """
    hashes = {hash for _, changes in cached.values() for hash in changes.summaries}
    summaries = await merging.summaries.get(partition, hashes) if hashes else {}
    for key, (one, changes) in cached.items():
        if one.revision < histories[key].revision:
            one.put(read[key])
            one.apply_summaries(
                {hash: summaries[hash] for hash in changes.summaries & summaries.keys()}
            )
            one.revision = histories[key].revision
    merging.cache.put(partition, [one for one, _ in cached.values()])


def _new_aggregates(
    partition: Partition,
    sources: Mapping[Key, tuple[Source, ...]],
    histories: Mapping[Key, History],
    contributions: Mapping[Key, list[Contribution]],
    merging: MergeDependencies,
) -> dict[Key, IncrementalAggregate]:
    """Make and cache aggregates of keys that many chunks name."""
    new: dict[Key, IncrementalAggregate] = {}
    for key, of_key in contributions.items():
        if len(of_key) >= merging.cache.min_contributions:
            new[key] = IncrementalAggregate(key, merging.limits, sources[key])
            # In canonical order each is appended; in another order thousands behind it would be
            # moved.
            new[key].put(sorted(of_key, key=position_of))
            new[key].revision = histories[key].revision
    merging.cache.put(partition, new.values())
    return new


async def _descriptions(
    partition: Partition,
    known: Mapping[Key, IncrementalAggregate],
    texts: Mapping[Key, list[str]],
    merging: MergeDependencies,
    *,
    missing: bool,
) -> dict[Key, Description]:
    """Return each key's description; the summaries in it are read for one level of groups at a
    time.
    """
    summaries_by_hash: dict[str, str] = {}
    requested: set[str] = set()
    for _ in range(MAX_READS):
        described = {
            key: describe(key, some, summaries_by_hash, merging.limits)
            for key, some in texts.items()
        }
        missing_hashes = {
            group.hash for one in described.values() for group in one.missing_summaries
        } - requested
        pending = [
            (one, one.revision, one.fragments, one.fragments.pending_summaries())
            for one in known.values()
        ]
        if not (new_hashes := missing_hashes.union(*(hashes for *_, hashes in pending))):
            return described | {
                key: one.fragments.description(missing=missing) for key, one in known.items()
            }
        new = await merging.summaries.get(partition, new_hashes)
        summaries_by_hash |= new
        requested |= new_hashes
        for one, revision, tree, hashes in pending:
            # Another task may have stored a summary meanwhile: then this result is outdated, and is
            # read again.
            if one.revision == revision:
                tree.apply_summaries(new, hashes)
    raise Retryable("the summaries of a thing change faster than they can be read")
