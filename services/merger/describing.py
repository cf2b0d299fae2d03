"""Aggregates and describes keys from their contributions, of which it reads as few as it can.

What this process knows of a key at an older revision is brought up to date: the key's history names the chunks that
have changed since, whichever replica merged them. Where it does not reach back, all contributions are read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contracts.graph import Partition
from runtime.errors import Retryable
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.descriptions import Description, SummaryLimits, describe
from services.merger.domain.edits import Edits
from services.merger.domain.fold import Aggregate, active_contributions, aggregate, fragments
from services.merger.domain.history import Changes, History
from services.merger.domain.incremental_aggregate import IncrementalAggregate
from services.merger.port import MergeDependencies, Summaries

MAX_READS = 100
"""Reads of summaries for one batch: one for each level of groups, and for each change by another replica meanwhile."""


@dataclass(frozen=True)
class DescribedAggregate:
    """The aggregate and the description of one canonical key."""

    aggregate: Aggregate
    description: Description


async def describe_keys(
    partition: Partition, histories: Mapping[Key, History], edits: Edits, merging: MergeDependencies
) -> dict[Key, DescribedAggregate]:
    """Return aggregate and description of each canonical key. Read the histories just before, then the edits."""
    unedited = {key: history for key, history in histories.items() if edits.is_unedited(key)}
    cached = {
        key: (known, changes)
        for key, known in merging.cache.get(partition, unedited).items()
        if (changes := histories[key].since(known.revision)) is not None
    }
    sources = {key: edits.original_keys(key) for key in histories.keys() - cached.keys()}
    chunks = await _all_chunks(partition, {raw for raws in sources.values() for raw in raws}, unedited, merging)
    chunks |= {key: changes.chunks for key, (_, changes) in cached.items()}
    read = await merging.contributions.of_chunks(partition, chunks)
    await _advance(partition, cached, histories, read, merging)
    known = {key: one for key, (one, _) in cached.items()}
    known |= _new_aggregates(partition, unedited.keys() & sources.keys(), histories, read, merging)
    listed = {
        key: active_contributions((c for raw in raws for c in read[raw]), edits)
        for key, raws in sources.items()
        if key not in known
    }
    described = await _descriptions(partition, known, listed, merging.summaries, merging.limits)
    return {key: DescribedAggregate(one.aggregate(), described[key]) for key, one in known.items()} | {
        key: DescribedAggregate(aggregate(contributions), described[key]) for key, contributions in listed.items()
    }


async def _all_chunks(
    partition: Partition, keys: set[Key], unedited: Mapping[Key, History], merging: MergeDependencies
) -> dict[Key, set[str]]:
    """Return the hashes of all chunks that contribute to each original key, from its history if that is whole.

    The history of an edited key does not count what is folded under it: its mentions stand before any count of theirs.
    """
    wholes = {key: unedited[key].since(0) for key in keys & unedited.keys()}
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

    Another task may have done so meanwhile: then only what came after its revision is applied, and nothing to an
    aggregate that is newer than this history. What it has read too late is applied again at the change that counts it.
    """
    hashes = {hash for _, changes in cached.values() for hash in changes.summaries}
    summaries = await merging.summaries.get(partition, hashes) if hashes else {}
    for key, (one, changes) in cached.items():
        if one.revision < histories[key].revision:
            one.put(read[key])
            one.apply_summaries({hash: summaries[hash] for hash in changes.summaries & summaries.keys()})
            one.revision = histories[key].revision
    merging.cache.put(partition, [one for one, _ in cached.values()])


def _new_aggregates(
    partition: Partition,
    keys: Iterable[Key],
    histories: Mapping[Key, History],
    read: Mapping[Key, list[Contribution]],
    merging: MergeDependencies,
) -> dict[Key, IncrementalAggregate]:
    """Make and cache aggregates of keys that many chunks name."""
    new: dict[Key, IncrementalAggregate] = {}
    for key in keys:
        if len(read[key]) >= merging.cache.min_contributions:
            new[key] = IncrementalAggregate(key, merging.limits)
            new[key].put(read[key])
            new[key].revision = histories[key].revision
    merging.cache.put(partition, new.values())
    return new


async def _descriptions(
    partition: Partition,
    known: Mapping[Key, IncrementalAggregate],
    listed: Mapping[Key, list[Contribution]],
    summaries: Summaries,
    limits: SummaryLimits,
) -> dict[Key, Description]:
    """Return each key's description; the summaries in it are read for one level of groups at a time."""
    texts = {key: fragments(contributions) for key, contributions in listed.items()}
    summaries_by_hash: dict[str, str] = {}
    requested: set[str] = set()
    for _ in range(MAX_READS):
        described = {key: describe(key, some, summaries_by_hash, limits) for key, some in texts.items()}
        missing_hashes = {group.hash for one in described.values() for group in one.missing_summaries} - requested
        pending = [(one, one.revision, one.fragments, one.fragments.pending_summaries()) for one in known.values()]
        if not (new_hashes := missing_hashes.union(*(hashes for *_, hashes in pending))):
            return described | {key: one.fragments.description() for key, one in known.items()}
        new = await summaries.get(partition, new_hashes)
        summaries_by_hash |= new
        requested |= new_hashes
        for one, revision, tree, hashes in pending:
            # Another task may have stored a summary meanwhile: then this result is outdated, and is read again.
            if one.revision == revision:
                tree.apply_summaries(new, hashes)
    raise Retryable("the summaries of a thing change faster than they can be read")
