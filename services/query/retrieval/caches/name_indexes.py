"""Cache of each workspace's name index: built on the first question, rebuilt when the workspace has
changed.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from contracts.graph import Partition
from runtime.errors import Unavailable
from runtime.stores.graph.port import Graph
from services.query.partitions import Partitions
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.port import EntityAliases
from services.query.status.port import NEWEST, Documents

logger = structlog.get_logger(__name__)

WorkspaceVersion = tuple[str, int, int]
"""When the newest change of a document was, how many documents there are, and how often the graph
was edited.
"""

MAX_NAMES = 200_000
"""Most names of one workspace; a larger workspace gets an empty index. One name takes about 0.5
KB.
"""
MAX_ALTOGETHER = 400_000
"""Most names of all workspaces together; the least recently used indexes are evicted first."""
PAUSE_RATIO = 10
"""Pause between two builds of a workspace, as a multiple of the build time: builds take at most a
tenth of the time.
"""
MAX_WAIT = 0.1
"""Seconds a question waits for a build before it uses the old index, or an empty one."""
MAX_AGE = 60.0
"""Seconds after which an index is rebuilt even if nothing seems to have changed: an edit shows
before it is folded.
"""
VERSION_SECONDS = 0.2
"""Seconds for which a version of the workspace is cached. A name that the index lacks is looked up
in the graph anyway.
"""
PAGE_SIZE = 5000
"""Names per read of the graph store."""
ADDED_AT_ONCE = 200
"""Names that are added without a pause, so that a question is answered beside a build."""


@dataclass
class _CachedIndex:
    """An index with the version and the time of its build; `build` is the running one."""

    index: NameIndex = field(default_factory=NameIndex)
    built_version: WorkspaceVersion | None = None
    """None before the first build."""
    built_at: float = float("-inf")
    build_seconds: float = 0.0
    build: asyncio.Task[None] | None = None
    names_hash: int = 0
    version: WorkspaceVersion = ("", -1, -1)
    """As it was read at `version_read_at`."""
    version_read_at: float = float("-inf")


class NameIndexes:
    """`EntityNames` over the graph store.

    A workspace has changed if its number of documents, the time of its newest document change or
    its number of edits differs; this takes two small reads. Every merge also updates its document's
    status.
    """

    def __init__(
        self,
        graph: Graph,
        documents: Documents,
        aliases: EntityAliases,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._graph = graph
        self._documents = documents
        self._aliases = aliases
        self._clock = clock
        self._entries: OrderedDict[tuple[Partition, Partition], _CachedIndex] = OrderedDict()

    async def of(self, partitions: Partitions) -> NameIndex:
        """See `EntityNames.of`. No question waits long for a build: the first ones of a workspace
        get an empty index.
        """
        key = (partitions.graph, partitions.status)
        entry = self._entries.setdefault(key, _CachedIndex())
        self._entries.move_to_end(key)
        version = await self._version(entry, partitions)
        if entry.build is None and self._is_due(entry, version):
            entry.build = asyncio.create_task(self._build(entry, partitions, version))
        if entry.build is not None:
            await asyncio.wait([entry.build], timeout=MAX_WAIT)
        if entry.build is None and entry.built_version is None:
            raise Unavailable("the names of the workspace cannot be read")
        self._evict()
        return entry.index

    async def close(self) -> None:
        """Cancel running builds."""
        builds = [entry.build for entry in self._entries.values() if entry.build]
        for build in builds:
            build.cancel()
        await asyncio.gather(*builds, return_exceptions=True)

    async def _version(self, entry: _CachedIndex, partitions: Partitions) -> WorkspaceVersion:
        now = self._clock()
        if now - entry.version_read_at < VERSION_SECONDS:
            return entry.version
        page, edits = await asyncio.gather(
            self._documents.page(partitions.status, NEWEST),
            self._aliases.changes(partitions.graph),
        )
        newest = page.documents[0].updated_at if page.documents else ""
        entry.version = (newest, page.total, edits)
        entry.version_read_at = now
        return entry.version

    def _is_due(self, entry: _CachedIndex, version: WorkspaceVersion) -> bool:
        age = self._clock() - entry.built_at
        if age <= PAUSE_RATIO * entry.build_seconds:
            return False
        return entry.built_version != version or age > MAX_AGE

    async def _build(
        self, entry: _CachedIndex, partitions: Partitions, version: WorkspaceVersion
    ) -> None:
        start = self._clock()
        try:
            await self._read(entry, partitions.graph)
            entry.built_version = version
        except Unavailable as error:
            logger.warning(
                "names cannot be read", workspace=partitions.graph.workspace, error=str(error)
            )
        finally:
            entry.built_at = self._clock()
            entry.build_seconds = entry.built_at - start
            entry.build = None

    async def _read(self, entry: _CachedIndex, partition: Partition) -> None:
        """Read all names. While they are the same the index stays, and with it what was read out of
        passages by it.
        """
        names = await self._names(partition)
        aliases = await self._aliases.of(partition)
        names_hash = hash((tuple(names), tuple(aliases)))
        if entry.built_version is not None and names_hash == entry.names_hash:
            return
        index = NameIndex()
        for start in range(0, len(names), ADDED_AT_ONCE):
            await asyncio.to_thread(index.add, names[start : start + ADDED_AT_ONCE])
        await asyncio.to_thread(index.add_aliases, aliases)
        await asyncio.to_thread(index.tables)
        entry.index = index
        entry.names_hash = names_hash

    async def _names(self, partition: Partition) -> list[tuple[str, str]]:
        """Return all names with their entities' types; none if they are too many."""
        names: list[tuple[str, str]] = []
        last_name = ""
        while page := await self._graph.scan_names(partition, last_name, PAGE_SIZE):
            names += page
            if len(names) > MAX_NAMES:
                return []
            last_name = names[-1][0]
        return names

    def _evict(self) -> None:
        """Evict the least recently used indexes, except those with a running build."""
        total = sum(len(entry.index) for entry in self._entries.values())
        for key, entry in list(self._entries.items())[:-1]:
            if total <= MAX_ALTOGETHER:
                return
            if entry.build is None:
                total -= len(entry.index)
                del self._entries[key]
