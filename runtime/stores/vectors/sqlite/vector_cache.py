"""The vectors of workspaces that are searched again and again, each in one array, so that a search
reads nothing else.

Nothing is kept up to date: once anything has been written to the file, all leave. An array is made
by the second search without a write between: to make it costs more than a search of the file, so
that while documents come, the file is searched.
"""

import sqlite3
from collections import OrderedDict

from runtime.stores.vectors.comparison import VectorRows
from runtime.stores.vectors.sqlite import blocks
from runtime.stores.vectors.sqlite.schema import VectorTable

CACHE_BYTES = 256 * 1024 * 1024
"""Bytes of all vectors together that are cached at most: 340,000 rows of 384 numbers."""


class VectorCache:
    """Vectors by collection and workspace, for one connection that only reads. The least recently
    used leave first.
    """

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._state: tuple[sqlite3.Connection, int] | None = None
        self._rows: OrderedDict[tuple[str, str], VectorRows] = OrderedDict()
        self._searched_once: set[tuple[str, str]] = set()

    @property
    def workspaces(self) -> list[str]:
        """Return the workspaces whose vectors are cached, the least recently used first."""
        return [workspace for _, workspace in self._rows]

    def current(
        self, connection: sqlite3.Connection, table: VectorTable, workspace: str
    ) -> VectorRows | None:
        """Return the vectors of a workspace by slot, as the transaction of this connection sees
        them; None where they are not cached.
        """
        # Another number after each commit of another connection, of any process.
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if self._state != (connection, version):
            self._state = (connection, version)
            self._rows.clear()
            self._searched_once.clear()
        key = (table.name, workspace)
        if key in self._rows:
            self._rows.move_to_end(key)
        return self._rows.get(key)

    def for_search(
        self, connection: sqlite3.Connection, table: VectorTable, workspace: str, count: int
    ) -> VectorRows | None:
        """Return the vectors of a workspace with `count` rows, for a search of all; None for the
        first one since a write, and where they are too many, or have two precisions.
        """
        if (rows := self.current(connection, table, workspace)) is not None:
            return rows
        key = (table.name, workspace)
        if key not in self._searched_once:
            self._searched_once.add(key)
            return None
        rows = blocks.read_array(connection, table, workspace, count, self._max_bytes)
        if rows is not None:
            self._rows[key] = rows
            while sum(cached.nbytes for cached in self._rows.values()) > self._max_bytes:
                self._rows.popitem(last=False)
        return rows
