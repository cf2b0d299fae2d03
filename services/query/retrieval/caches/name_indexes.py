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

Mark = tuple[str, int, int]
"""When the newest change of a document was, how many documents there are, and how often the graph
was edited.
"""

MOST_NAMES = 200_000
"""Most names of one workspace; a larger workspace gets an empty index. One name takes about 0.5
KB.
"""
MOST_ALTOGETHER = 400_000
"""Most names of all workspaces together; the least recently used indexes are evicted first."""
REST = 10
"""Pause between two builds of a workspace, as a multiple of the build time: builds take at most a
tenth of the time.
"""
PATIENCE = 1.0
"""Seconds a question waits for a rebuild before it uses the old index."""
LONGEST_LIFE = 60.0
"""Seconds after which an index is rebuilt even if nothing seems to have changed: an edit shows
before it is folded.
"""
LOOK_SECONDS = 0.2
"""Seconds for which a change mark is taken as read. A name that the index lacks is looked up in the
graph anyway.
"""
PAGE = 5000
"""Names per read of the graph store."""


@dataclass
class _CachedIndex:
    """An index with the change mark and the time of its build; `building` is the running
    rebuild.
    """

    index: NameIndex = field(default_factory=NameIndex)
    mark: Mark | None = None
    built_at: float = float("-inf")
    build_seconds: float = 0.0
    building: asyncio.Task[None] | None = None
    names_hash: int = 0
    looked_at: float = float("-inf")
    seen: Mark = ("", -1, -1)
    """The change mark that was read at `looked_at`."""


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
        self._graph, self._documents, self._aliases, self._clock = graph, documents, aliases, clock
        self._entries: OrderedDict[tuple[Partition, Partition], _CachedIndex] = OrderedDict()

    async def of(self, partitions: Partitions) -> NameIndex:
        """See `EntityNames.of`. Only the first question of a workspace waits until the build has
        finished.
        """
        key = (partitions.graph, partitions.status)
        entry = self._entries.setdefault(key, _CachedIndex())
        self._entries.move_to_end(key)
        mark = await self._mark(entry, partitions)
        if entry.building is None and self._is_due(entry, mark):
            entry.building = asyncio.create_task(self._build(entry, partitions, mark))
        if entry.building is not None:
            await asyncio.wait([entry.building], timeout=PATIENCE if entry.mark else None)
        if entry.mark is None:
            raise Unavailable("the names of the workspace cannot be read")
        self._evict()
        return entry.index

    async def close(self) -> None:
        """Cancel running builds."""
        tasks = [entry.building for entry in self._entries.values() if entry.building]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _mark(self, entry: _CachedIndex, partitions: Partitions) -> Mark:
        now = self._clock()
        if now - entry.looked_at >= LOOK_SECONDS:
            page, edits = await asyncio.gather(
                self._documents.page(partitions.status, NEWEST),
                self._aliases.changes(partitions.graph),
            )
            newest = page.documents[0].updated_at if page.documents else ""
            entry.seen, entry.looked_at = (newest, page.total, edits), now
        return entry.seen

    def _is_due(self, entry: _CachedIndex, mark: Mark) -> bool:
        age = self._clock() - entry.built_at
        return age > REST * entry.build_seconds and (entry.mark != mark or age > LONGEST_LIFE)

    async def _build(self, entry: _CachedIndex, partitions: Partitions, mark: Mark) -> None:
        start = self._clock()
        try:
            await self._read(entry, partitions.graph)
            entry.mark = mark
        except Unavailable as error:
            logger.warning(
                "names cannot be read", workspace=partitions.graph.workspace, error=str(error)
            )
        finally:
            entry.built_at = self._clock()
            entry.build_seconds = entry.built_at - start
            entry.building = None

    async def _read(self, entry: _CachedIndex, partition: Partition) -> None:
        """Read all names. While they are the same the index stays, and with it what was read out of
        passages by it.
        """
        names: list[tuple[str, str]] = []
        while page := await self._graph.scan_names(partition, names[-1][0] if names else "", PAGE):
            names += page
            if len(names) > MOST_NAMES:
                names.clear()
                break
        aliases = await self._aliases.of(partition)
        names_hash = hash((tuple(names), tuple(aliases)))
        if entry.mark is not None and names_hash == entry.names_hash:
            return
        index = NameIndex()
        for start in range(0, len(names), PAGE):
            await asyncio.to_thread(index.add, names[start : start + PAGE])
        await asyncio.to_thread(index.add_aliases, aliases)
        entry.index, entry.names_hash = index, names_hash

    def _evict(self) -> None:
        """Evict the least recently used indexes, except those with a running build."""
        total = sum(len(entry.index) for entry in self._entries.values())
        for key, entry in list(self._entries.items())[:-1]:
            if total <= MOST_ALTOGETHER:
                return
            if entry.building is None:
                total -= len(entry.index)
                del self._entries[key]
