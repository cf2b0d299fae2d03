"""Compresses contributions to one key: to a tenth of the memory they take as objects."""

import marshal
import zlib
from collections.abc import Iterable, Iterator
from sys import getsizeof, intern
from typing import NamedTuple

from knowledge.contributions import Contribution, Key
from knowledge.descriptions import SummaryLimits
from knowledge.fold import position_of
from knowledge.homonyms import Source
from runtime.batching import batched
from services.merger.domain.incremental_aggregate import IncrementalAggregate

BLOCK = 64
"""Contributions that are compressed together."""

EMPTY = 250
"""Bytes of packed contributions without any; measured."""


class PackedContributions(NamedTuple):
    """The active contributions to one canonical key that no edit touches, in compressed blocks.

    `sources` and `revision`: as of an `IncrementalAggregate`.
    """

    key: Key
    sources: tuple[Source, ...]
    revision: int
    blocks: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Return about how many bytes they take."""
        return EMPTY + sum(map(getsizeof, self.blocks))

    def expanded(self, limits: SummaryLimits) -> IncrementalAggregate:
        """Return the aggregate of the contributions."""
        aggregate = IncrementalAggregate(self.key, limits, self.sources)
        aggregate.put(sorted(contributions_in(self.key, self.blocks), key=position_of))
        aggregate.revision = self.revision
        return aggregate


def packed_aggregate(aggregate: IncrementalAggregate) -> PackedContributions | None:
    """Return the contributions of an aggregate; None unless all are of its own key."""
    if aggregate.sources != (Source(aggregate.key),):
        return None
    blocks = tuple(map(block_of, batched(aggregate.contributions(), BLOCK)))
    return PackedContributions(aggregate.key, aggregate.sources, aggregate.revision, blocks)


def block_of(contributions: Iterable[Contribution]) -> bytes:
    """Return contributions to one key as a block."""
    rows = [
        (
            item.kind,
            item.description,
            item.chunk_id,
            item.document_id,
            item.order,
            item.version,
            item.added_at,
            item.file_path,
            item.type,
            item.keywords,
            item.weight,
        )
        for item in contributions
    ]
    return zlib.compress(marshal.dumps(rows), 1)


def contributions_in(key: Key, blocks: Iterable[bytes]) -> Iterator[Contribution]:
    """Yield the contributions to this key that stand in blocks, in the order they were packed."""
    for block in blocks:
        rows = marshal.loads(zlib.decompress(block))  # noqa: S302
        for kind, *origin, type_, keywords, weight in rows:
            yield Contribution(
                kind,
                key,
                *origin,
                type=intern(type_),
                keywords=tuple(map(intern, keywords)),
                weight=weight,
            )
