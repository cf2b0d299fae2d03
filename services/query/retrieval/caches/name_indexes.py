"""Cache of each workspace's name index: built before the first question or on it, and moved by what
the log says of the graph.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from contracts.graph import Partition
from runtime.errors import Unavailable
from runtime.stores.graph.port import Graph
from services.query.partitions import Partitions
from services.query.retrieval.caches.changed_names import ChangedNames
from services.query.retrieval.caches.invalidation import ARRAYS, NAMES, ProjectionCache
from services.query.retrieval.concurrency import in_turn
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.port import EntityAliases
from services.query.status.port import Documents

logger = structlog.get_logger(__name__)

WorkspaceVersion = tuple[str, int, int]
"""When the newest change of a document was, the version of the newest one, and how often the graph
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
"""Seconds after which an index is rebuilt even if nothing seems to have changed, where the log does
not say what has or people have given other names: an edit shows before it is folded.
"""
TOO_LARGE_AGE = 3600.0
"""Seconds after which it is seen whether a workspace still has too many names."""
VERSION_SECONDS = 0.2
"""Seconds for which a version of the workspace is cached. A name that the index lacks is looked up
in the graph anyway.
"""
PAGE_SIZE = 5000
"""Names per read of the graph store."""
ADDED_AT_ONCE = 200
"""Names that are added without a pause, so that a question is answered beside a build."""

_UNKNOWN: WorkspaceVersion = ("", -1, -1)
_MOVED = 0
"""In place of a hash of names, of an index that has changed since it was built."""


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
    version: WorkspaceVersion = _UNKNOWN
    """As it was read at `version_read_at`."""
    version_read_at: float = float("-inf")
    edits: int = 0
    """As often as the graph had been edited before the build."""
    is_too_large: bool = False
    """The workspace has more than `MAX_NAMES`, and the index none."""
    changed_names: ChangedNames | None = None
    """What has changed of the graph since the names were read; None where nobody says."""


class NameIndexes:
    """`EntityNames` over the graph store.

    With a `cache` it follows the log: of a workspace without edits only the names are read anew
    that GraphMerged names. Otherwise a workspace has changed if the time of its newest document
    change, its newest version of a document or its number of edits differs.
    """

    def __init__(
        self,
        graph: Graph,
        documents: Documents,
        aliases: EntityAliases,
        cache: ProjectionCache | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        max_wait: float = MAX_WAIT,
    ) -> None:
        self._graph = graph
        self._documents = documents
        self._aliases = aliases
        self._cache = cache
        self._clock = clock
        self._max_wait = max_wait
        self._entries: OrderedDict[tuple[Partition, Partition], _CachedIndex] = OrderedDict()

    async def of(self, partitions: Partitions) -> NameIndex:
        """See `EntityNames.of`. No question waits long for a build: the first ones of a workspace
        get an empty index.
        """
        entry = self._entry(partitions)
        await self._start(entry, partitions)
        if entry.build is not None:
            await asyncio.wait([entry.build], timeout=self._max_wait)
        if entry.build is None and entry.built_version is None:
            raise Unavailable("the names of the workspace cannot be read")
        self._evict()
        return entry.index

    async def renew(self, partitions: Partitions) -> None:
        """Return when the index is as current as the last refresh of the cache. Raises
        `Unavailable`.
        """
        entry = self._entry(partitions)
        await self._start(entry, partitions)
        if entry.build is not None:
            await asyncio.wait([entry.build])
        self._evict()

    def _entry(self, partitions: Partitions) -> _CachedIndex:
        key = (partitions.graph, partitions.status)
        entry = self._entries.setdefault(key, _CachedIndex())
        self._entries.move_to_end(key)
        return entry

    async def _start(self, entry: _CachedIndex, partitions: Partitions) -> None:
        """Begin to bring the index up to date, unless that goes on already or is not due."""
        changed_names = entry.changed_names
        if changed_names is not None and changed_names is not self._followed(partitions.graph):
            # More has changed than was followed.
            entry.changed_names = changed_names = None
            entry.built_version = _UNKNOWN
        if changed_names is not None:
            edits = await self._aliases.changes(partitions.graph)
            if edits == entry.edits == 0:
                if changed_names.names and entry.build is None:
                    entry.build = asyncio.create_task(
                        self._follow(entry, partitions, changed_names)
                    )
                return
        version = await self._version(entry, partitions)
        if entry.build is None and self._is_due(entry, version):
            entry.build = asyncio.create_task(self._build(entry, partitions, version))

    def _followed(self, partition: Partition) -> ChangedNames | None:
        """Return what the log says has changed of the names; None where it does not."""
        return self._cache.cached(partition, NAMES, None) if self._cache else None

    def _followed_from_now(self, partition: Partition) -> ChangedNames | None:
        """Have the log say from now on what changes."""
        changed_names = ChangedNames()
        if self._cache is None or not self._cache.store_unless_changed(
            partition, self._cache.invalidations(partition), NAMES, {None: changed_names}
        ):
            return None
        return changed_names

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
        newest, edits = await asyncio.gather(
            self._documents.newest_change(partitions.status),
            self._aliases.changes(partitions.graph),
        )
        entry.version = (*newest, edits)
        entry.version_read_at = now
        return entry.version

    def _is_due(self, entry: _CachedIndex, version: WorkspaceVersion) -> bool:
        age = self._clock() - entry.built_at
        if entry.is_too_large:
            return age > TOO_LARGE_AGE
        if age <= PAUSE_RATIO * entry.build_seconds:
            return False
        return entry.built_version != version or age > MAX_AGE

    async def _build(
        self, entry: _CachedIndex, partitions: Partitions, version: WorkspaceVersion
    ) -> None:
        start = self._clock()
        try:
            entry.changed_names = self._followed_from_now(partitions.graph)
            _, _, entry.edits = version
            await self._read(entry, partitions.graph)
            entry.built_version = version
        except Unavailable as error:
            entry.changed_names = None
            logger.warning(
                "names cannot be read", workspace=partitions.graph.workspace, error=str(error)
            )
        finally:
            entry.built_at = self._clock()
            entry.build_seconds = entry.built_at - start
            entry.build = None

    async def _follow(
        self, entry: _CachedIndex, partitions: Partitions, changed_names: ChangedNames
    ) -> None:
        """Read the names that have changed."""
        names = changed_names.take()
        try:
            nodes = await self._graph.nodes(partitions.graph, names)
            types = {name: nodes[name].type if name in nodes else None for name in sorted(names)}
            await in_turn(_renew, entry.index, types)
            entry.names_hash = _MOVED
            if len(entry.index) > MAX_NAMES:
                entry.index = NameIndex()
                entry.is_too_large = True
                entry.changed_names = None
        except Unavailable as error:
            changed_names.names |= names
            logger.warning(
                "names cannot be read", workspace=partitions.graph.workspace, error=str(error)
            )
        finally:
            entry.build = None

    async def _read(self, entry: _CachedIndex, partition: Partition) -> None:
        """Read all names. While they are the same the index stays, and with it what was read out of
        passages by it.
        """
        names = await self._names(partition)
        if entry.changed_names is not None:
            entry.changed_names.row_count = len(names)
        entry.is_too_large = len(names) > MAX_NAMES
        if entry.is_too_large:
            names = []
            entry.changed_names = None
        # Without edits nobody has another name, and to see that is to read all entities.
        aliases = await self._aliases.of(partition) if entry.edits else []
        names_hash = hash((tuple(sorted(names)), tuple(aliases)))
        if entry.built_version is not None and names_hash == entry.names_hash:
            return
        index = NameIndex()
        for start in range(0, len(names), ADDED_AT_ONCE):
            await asyncio.to_thread(index.add, names[start : start + ADDED_AT_ONCE])
        await asyncio.to_thread(index.add_aliases, aliases)
        await asyncio.to_thread(index.prepare)
        entry.index = index
        entry.names_hash = names_hash

    async def _names(self, partition: Partition) -> list[tuple[str, str]]:
        """Return all names with their entities' types, of too many only some. Where the whole graph
        is in memory no store is asked.
        """
        arrays = self._cache.cached(partition, ARRAYS, None) if self._cache else None
        if arrays and not arrays.change_count:
            return list(arrays.types().items())
        names: list[tuple[str, str]] = []
        last_name = ""
        while page := await self._graph.scan_names(partition, last_name, PAGE_SIZE):
            names += page
            if len(names) > MAX_NAMES:
                break
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


def _renew(index: NameIndex, types: Mapping[str, str | None]) -> None:
    index.renew(types)
    index.prepare()
