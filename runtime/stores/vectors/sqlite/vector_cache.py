"""The vectors of workspaces that are searched again and again, compressed and in memory, so that a
search reads no other rows than those that may be among its nearest.

They follow what is written (`changes.py`). To make them costs as much as eleven searches of the
file, so it is done once there were some, or for whoever reads ahead of questions.
"""

import sqlite3
from collections import Counter, OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runtime.stores.vectors.comparison import VectorRows
from runtime.stores.vectors.compressed import CompressedRows
from runtime.stores.vectors.sqlite import blocks, changes, slotted_rows
from runtime.stores.vectors.sqlite.exact_rows import ExactRows
from runtime.stores.vectors.sqlite.schema import VectorTable, space_of

CACHE_BYTES = 256 * 1024 * 1024
"""Bytes of all vectors together that are cached at most: 600,000 rows of 384 numbers."""

MIN_ROWS = 4096
"""Fewer rows are searched in the file for as little."""

SEARCHES_BEFORE = 4
"""Searches of a workspace in the file before its vectors are cached."""

UNUSED_AFTER = 100
"""Searches of others after which what a workspace has in memory may leave for another one."""

SAMPLE = 4096
"""Vectors that choose the axes of all."""

GROWTH = 2
"""How many times as many rows as those that chose the axes there may be: then others are chosen."""

_Key = tuple[str, str]
"""The names of a collection and a workspace."""


@dataclass
class CachedRows:
    """Cached vectors, as they were after the write `number`, in the state `version` of the file,
    and the number of the last search of them.
    """

    rows: CompressedRows
    number: int
    version: int
    first_count: int
    searched: int = 0
    exact: ExactRows | None = None
    """The same as they are in the file, where questions are compared with many of them by id."""

    @property
    def nbytes(self) -> int:
        """Their bytes, about."""
        return self.rows.nbytes + (self.exact.nbytes if self.exact is not None else 0)


class VectorCache:
    """Vectors by collection and workspace, for one connection that only reads. Where there is no
    room, those leave that were not searched for long; if there are none, the file is searched.
    """

    def __init__(self, max_bytes: int = CACHE_BYTES, min_rows: int = MIN_ROWS) -> None:
        self._max_bytes = max_bytes
        self._min_rows = min_rows
        self._connection: sqlite3.Connection | None = None
        self._entries: OrderedDict[_Key, CachedRows] = OrderedDict()
        self._searches: Counter[_Key] = Counter()
        self._searched = 0
        self._compared: set[_Key] = set()
        """Whose vectors are kept as they are in the file, too."""

    @property
    def workspaces(self) -> list[str]:
        """Return the workspaces whose vectors are cached, the least recently used first."""
        return [workspace for _, workspace in self._entries]

    def warm(
        self,
        connection: sqlite3.Connection,
        table: VectorTable,
        workspace: str,
        *,
        is_compared: bool,
    ) -> bool:
        """Have the vectors of a workspace in memory before it is searched, if there is room;
        `is_compared`: also as they are in the file. Returns whether `for_comparison` has these.
        """
        key = (table.name, workspace)
        self._searches[key] = SEARCHES_BEFORE
        if is_compared and key not in self._compared:
            self._compared.add(key)
            self._entries.pop(key, None)  # it was made without them
        cached_rows = self.for_search(connection, table, workspace)
        return cached_rows is not None and cached_rows.exact is not None

    def for_comparison(
        self, connection: sqlite3.Connection, table: VectorTable, workspace: str
    ) -> ExactRows | None:
        """Return the vectors of a workspace by id, as the transaction of this connection sees them;
        None where they are not in memory.
        """
        if (table.name, workspace) not in self._compared:
            return None
        cached_rows = self.for_search(connection, table, workspace)
        return cached_rows.exact if cached_rows is not None else None

    def for_search(
        self, connection: sqlite3.Connection, table: VectorTable, workspace: str
    ) -> CachedRows | None:
        """Return the vectors of a workspace by slot, as the transaction of this connection sees
        them; None for its first searches, and where there is no room.
        """
        self._searched += 1
        if self._connection is not connection:  # of another file, maybe
            self._entries.clear()
            self._connection = connection
        key = (table.name, workspace)
        # Another number after each commit of another connection, of any process.
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        entry = self._entries.pop(key, None)
        if entry and (entry.version == version or _follow(entry, connection, table, workspace)):
            entry.version = version
        elif self._searches[key] < SEARCHES_BEFORE:
            self._searches[key] += 1
            return None
        else:
            entry = self._made(connection, table, workspace, version)
        if entry is None or not self._make_room(entry.nbytes):
            return None
        entry.searched = self._searched
        self._entries[key] = entry
        return entry

    def _make_room(self, size: int) -> bool:
        """Return whether there is room for so many bytes, once what was not searched for long has
        left.
        """
        unused = [
            key
            for key, entry in self._entries.items()
            if entry.searched < self._searched - UNUSED_AFTER
        ]
        while sum(entry.nbytes for entry in self._entries.values()) + size > self._max_bytes:
            if not unused:
                return False
            del self._entries[unused.pop(0)]
        return True

    def _made(
        self, connection: sqlite3.Connection, table: VectorTable, workspace: str, version: int
    ) -> CachedRows | None:
        """Return all vectors of a workspace, None where they are few or there is no room."""
        count = slotted_rows.count(connection, table, workspace)
        rows_with_room = CompressedRows.with_room(count)
        size = CompressedRows.bytes_of(rows_with_room, table.dimension)
        if count < self._min_rows or not self._make_room(size):
            return None
        sample = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
        rows = CompressedRows(blocks.vectors_at(connection, table, workspace, sample.tolist()))
        rows.reserve(count)
        exact_size = size + ExactRows.bytes_of(rows_with_room, table.dimension)
        is_compared = (table.name, workspace) in self._compared and self._make_room(exact_size)
        exact = ExactRows(table.dimension) if is_compared else None
        if exact is not None:
            exact.reserve(count)
        entry = CachedRows(rows, changes.last_number(connection), version, count, exact=exact)
        for entries in blocks.read_all(connection, table, workspace, count):
            slots = np.arange(len(rows), len(rows) + len(entries))
            _put(entry, connection, table, workspace, slots, entries)
        return entry


def _put(
    entry: CachedRows,
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64],
    entries: VectorRows,
) -> None:
    """Put rows of the file into an entry. Those of single precision are compared in the file."""
    entry.rows.put(slots, entries.vectors())
    if entry.exact is None:
        return
    if entries.numbers.dtype != np.float16:
        entry.exact = None
        return
    ids = slotted_rows.ids_at(connection, table, workspace, slots.tolist())
    entry.exact.put(slots, ids, entries.numbers)


def _follow(
    entry: CachedRows, connection: sqlite3.Connection, table: VectorTable, workspace: str
) -> bool:
    """Bring cached vectors to what the file has; return False where that is not to be had, or all
    are better made anew.
    """
    space = space_of(connection, workspace)
    written_slots = changes.slots_since(connection, table, space, entry.number)
    count = slotted_rows.count(connection, table, workspace)
    if written_slots is None or count > GROWTH * entry.first_count:
        return False
    entry.rows.cut(count)
    if entry.exact is not None:
        entry.exact.cut(count)
    existing_slots = written_slots[written_slots < count]
    for slots, entries in blocks.read_some(connection, table, workspace, existing_slots):
        _put(entry, connection, table, workspace, slots, entries)
    entry.number = changes.last_number(connection)
    return len(entry.rows) == count
