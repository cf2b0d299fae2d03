"""Cache of each workspace's passage index: built on the first question, rebuilt when documents or
names have changed.

An index only ranks: every passage that is shown is read from the store. So an index that is seconds
old misses what is new, which the vector store finds meanwhile, and shows nothing that is gone.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from contracts.graph import Partition
from runtime.errors import Unavailable
from services.query.partitions import Partitions
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.index import IndexBuilder, PassageIndex
from services.query.status.port import NEWEST, Documents, Passages

logger = structlog.get_logger(__name__)

MAX_PASSAGES = 20_000
"""Passages of one workspace; a larger one gets no index. A passage of 80 words takes 7 KB and half
a millisecond to read, one of 955 takes 37 KB; two to three times as much memory while the index is
built.
"""
MAX_ALTOGETHER = 40_000
"""Passages of all workspaces together; the least recently used indexes are dropped first."""
REST = 3
"""Pause between two builds of a workspace, as a multiple of the build time: builds take a quarter
of it at most.
"""
FIRST_PATIENCE, PATIENCE = 5.0, 1.0
"""Seconds a question waits for the first build, and for a rebuild before it uses the old index."""
LOOK_SECONDS = 0.2
"""Seconds for which a change mark is taken as read."""
PAGE = 500
"""Passages per read of the document store."""

Mark = tuple[str, int, int]
"""Time of the newest change of a document, number of documents, number of the index of names."""


@dataclass
class _CachedIndex:
    index: PassageIndex | None = None
    mark: Mark | None = None
    built_at: float = float("-inf")
    build_seconds: float = 0.0
    building: asyncio.Task[None] | None = None
    looked_at: float = float("-inf")
    seen: tuple[str, int] = ("", -1)
    """What was read at `looked_at` of the mark."""


class PassageIndexCache:
    """`PassageIndexes` over the status projection."""

    def __init__(
        self, passages: Passages, documents: Documents, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._passages, self._documents, self._clock = passages, documents, clock
        self._entries: OrderedDict[Partition, _CachedIndex] = OrderedDict()

    async def of(self, partitions: Partitions, names: NameIndex) -> PassageIndex | None:
        """See `PassageIndexes.of`."""
        entry = self._entries.setdefault(partitions.status, _CachedIndex())
        self._entries.move_to_end(partitions.status)
        mark = (*await self._seen(entry, partitions.status), names.number)
        rested = self._clock() - entry.built_at > REST * entry.build_seconds
        if entry.building is None and rested and entry.mark != mark:
            entry.building = asyncio.create_task(self._build(entry, partitions.status, names, mark))
        if entry.building is not None:
            await asyncio.wait([entry.building], timeout=PATIENCE if entry.mark else FIRST_PATIENCE)
        self._evict()
        return entry.index

    async def close(self) -> None:
        """Cancel running builds."""
        tasks = [entry.building for entry in self._entries.values() if entry.building]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _seen(self, entry: _CachedIndex, partition: Partition) -> tuple[str, int]:
        now = self._clock()
        if now - entry.looked_at >= LOOK_SECONDS:
            page = await self._documents.page(partition, NEWEST)
            entry.seen, entry.looked_at = (
                (page.documents[0].updated_at if page.documents else "", page.total),
                now,
            )
        return entry.seen

    async def _build(
        self, entry: _CachedIndex, partition: Partition, names: NameIndex, mark: Mark
    ) -> None:
        start = self._clock()
        try:
            entry.index = await self._read(partition, names)
            entry.mark = mark
        except Unavailable as error:
            logger.warning(
                "passages cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            entry.built_at = self._clock()
            entry.build_seconds = entry.built_at - start
            entry.building = None

    async def _read(self, partition: Partition, names: NameIndex) -> PassageIndex | None:
        builder, count, after = IndexBuilder(names), 0, ""
        while page := await self._passages.page(partition, after, PAGE):
            count += len(page)
            if count > MAX_PASSAGES:
                return None
            await asyncio.to_thread(builder.add, page.values())
            after = list(page)[-1]
        return await asyncio.to_thread(builder.build)

    def _evict(self) -> None:
        total = sum(len(entry.index) for entry in self._entries.values() if entry.index)
        for partition, entry in list(self._entries.items())[:-1]:
            if total <= MAX_ALTOGETHER:
                return
            if entry.building is None:
                total -= len(entry.index) if entry.index else 0
                del self._entries[partition]
