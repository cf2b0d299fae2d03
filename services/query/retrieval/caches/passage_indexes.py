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
"""Passages of all workspaces together; the least recently used indexes are evicted first."""
PAUSE_RATIO = 3
"""Pause between two builds of a workspace, as a multiple of the build time: builds take a quarter
of it at most.
"""
MAX_WAIT_FOR_FIRST = 5.0
"""Seconds a question waits for the first build."""
MAX_WAIT = 1.0
"""Seconds a question waits for a rebuild before it uses the old index."""
VERSION_SECONDS = 0.2
"""Seconds for which a version of the documents is cached."""
PAGE_SIZE = 500
"""Passages per read of the document store."""

DocumentsVersion = tuple[str, int]
"""Time of the newest change of a document, number of documents."""


@dataclass
class _CachedIndex:
    """An index with the versions and the time of its build; `build` is the running one."""

    index: PassageIndex | None = None
    built_version: tuple[DocumentsVersion, int] | None = None
    """Of the documents, with the number of the index of names; None before the first build."""
    built_at: float = float("-inf")
    build_seconds: float = 0.0
    build: asyncio.Task[None] | None = None
    version: DocumentsVersion = ("", -1)
    """As it was read at `version_read_at`."""
    version_read_at: float = float("-inf")

    @property
    def passage_count(self) -> int:
        return len(self.index) if self.index else 0


class PassageIndexCache:
    """`PassageIndexes` over the status projection."""

    def __init__(
        self, passages: Passages, documents: Documents, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._passages = passages
        self._documents = documents
        self._clock = clock
        self._entries: OrderedDict[Partition, _CachedIndex] = OrderedDict()

    async def of(self, partitions: Partitions, names: NameIndex) -> PassageIndex | None:
        """See `PassageIndexes.of`."""
        entry = self._entries.setdefault(partitions.status, _CachedIndex())
        self._entries.move_to_end(partitions.status)
        version = await self._version(entry, partitions.status)
        has_paused = self._clock() - entry.built_at > PAUSE_RATIO * entry.build_seconds
        has_changed = entry.built_version != (version, names.number)
        if entry.build is None and has_paused and has_changed:
            build = self._build(entry, partitions.status, names, version)
            entry.build = asyncio.create_task(build)
        if entry.build is not None:
            timeout = MAX_WAIT if entry.built_version else MAX_WAIT_FOR_FIRST
            await asyncio.wait([entry.build], timeout=timeout)
        self._evict()
        return entry.index

    async def close(self) -> None:
        """Cancel running builds."""
        builds = [entry.build for entry in self._entries.values() if entry.build]
        for build in builds:
            build.cancel()
        await asyncio.gather(*builds, return_exceptions=True)

    async def _version(self, entry: _CachedIndex, partition: Partition) -> DocumentsVersion:
        now = self._clock()
        if now - entry.version_read_at < VERSION_SECONDS:
            return entry.version
        page = await self._documents.page(partition, NEWEST)
        newest = page.documents[0].updated_at if page.documents else ""
        entry.version = (newest, page.total)
        entry.version_read_at = now
        return entry.version

    async def _build(
        self, entry: _CachedIndex, partition: Partition, names: NameIndex, version: DocumentsVersion
    ) -> None:
        start = self._clock()
        try:
            entry.index = await self._read(partition, names)
            entry.built_version = (version, names.number)
        except Unavailable as error:
            logger.warning(
                "passages cannot be read", workspace=partition.workspace, error=str(error)
            )
        finally:
            entry.built_at = self._clock()
            entry.build_seconds = entry.built_at - start
            entry.build = None

    async def _read(self, partition: Partition, names: NameIndex) -> PassageIndex | None:
        """Return the index of all passages; None if they are too many."""
        builder = IndexBuilder(names)
        count = 0
        last_key = ""
        while page := await self._passages.page(partition, last_key, PAGE_SIZE):
            count += len(page)
            if count > MAX_PASSAGES:
                return None
            await asyncio.to_thread(builder.add, page.values())
            last_key = list(page)[-1]
        return await asyncio.to_thread(builder.build)

    def _evict(self) -> None:
        """Evict the least recently used indexes, except those with a running build."""
        total = sum(entry.passage_count for entry in self._entries.values())
        for partition, entry in list(self._entries.items())[:-1]:
            if total <= MAX_ALTOGETHER:
                return
            if entry.build is None:
                total -= entry.passage_count
                del self._entries[partition]
