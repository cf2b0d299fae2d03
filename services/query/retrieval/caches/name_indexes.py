"""The names of each workspace, kept in this process: built when asked for, and again when the workspace changed."""

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
from services.query.retrieval.linking import NameIndex
from services.query.status.port import Documents

logger = structlog.get_logger(__name__)

MOST_NAMES = 200_000
"""Names of one workspace; of a larger one none are kept. About 0.5 KB each."""
MOST_ALTOGETHER = 400_000
"""Names of all workspaces together; those not asked for the longest go first."""
REST = 10
"""A build is followed by at least so many times its own duration without one: at most a tenth of the time is spent."""
PATIENCE = 1.0
"""Seconds a question waits for names to be read again before it takes the older ones."""
LONGEST_LIFE = 60.0
"""Seconds after which names are read again although no document changed: people rename entities."""
PAGE = 5000


@dataclass
class _Kept:
    """An index with what it was built from and when; `building` is the build that is to replace it."""

    index: NameIndex = field(default_factory=NameIndex)
    mark: tuple[str, int] | None = None
    built: float = float("-inf")
    took: float = 0.0
    building: asyncio.Task[None] | None = None


class NameIndexes:
    """`Names` over the graph store.

    Whether a workspace changed is seen by its document list: its newest change and its length, one indexed read. Every
    merge is followed by a change of its document's state there. What nobody can see there, people's edits, is seen
    after `LONGEST_LIFE`.
    """

    def __init__(self, graph: Graph, documents: Documents, clock: Callable[[], float] = time.monotonic) -> None:
        self._graph, self._documents, self._clock = graph, documents, clock
        self._kept: OrderedDict[tuple[Partition, Partition], _Kept] = OrderedDict()

    async def of(self, partitions: Partitions) -> NameIndex:
        """See `Names.of`. Only the first question of a workspace waits however long it takes."""
        key = (partitions.graph, partitions.status)
        kept = self._kept.setdefault(key, _Kept())
        self._kept.move_to_end(key)
        mark = await self._mark(partitions)
        if kept.building is None and self._due(kept, mark):
            kept.building = asyncio.create_task(self._build(kept, partitions, mark))
        if kept.building is not None:
            await asyncio.wait([kept.building], timeout=PATIENCE if kept.mark else None)
        if kept.mark is None:
            raise Unavailable("the names of the workspace cannot be read")
        self._bound()
        return kept.index

    async def close(self) -> None:
        """Stop what is being built."""
        tasks = [kept.building for kept in self._kept.values() if kept.building]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _mark(self, partitions: Partitions) -> tuple[str, int]:
        page = await self._documents.page(
            partitions.status, statuses=(), order="updated_at", descending=True, skip=0, limit=1
        )
        return (page.documents[0].updated_at if page.documents else "", page.total)

    def _due(self, kept: _Kept, mark: tuple[str, int]) -> bool:
        age = self._clock() - kept.built
        return age > REST * kept.took and (kept.mark != mark or age > LONGEST_LIFE)

    async def _build(self, kept: _Kept, partitions: Partitions, mark: tuple[str, int]) -> None:
        began = self._clock()
        try:
            kept.index = await self._read(partitions.graph)
            kept.mark = mark
        except Unavailable as error:
            logger.warning("names cannot be read", workspace=partitions.graph.workspace, error=str(error))
        finally:
            kept.built = self._clock()
            kept.took = kept.built - began
            kept.building = None

    async def _read(self, partition: Partition) -> NameIndex:
        index, after, seen = NameIndex(), "", 0
        while page := await self._graph.scan_names(partition, after, PAGE):
            seen += len(page)
            if seen > MOST_NAMES:
                return NameIndex()
            await asyncio.to_thread(index.add, page)
            after = page[-1][0]
        return index

    def _bound(self) -> None:
        """Forget what was not asked for the longest; what is being built stays."""
        total = sum(len(kept.index) for kept in self._kept.values())
        for key, kept in list(self._kept.items())[:-1]:
            if total <= MOST_ALTOGETHER:
                return
            if kept.building is None:
                total -= len(kept.index)
                del self._kept[key]
