"""Filters that tell which sorted runs lack a key (`sorted_runs.py`), in the memory of a connection.

Most keys that are looked for are in one run or in none. Of a run that gets no further keys a filter
says that it lacks a key, or that it may have it (Bloom, 1970: "Space/time trade-offs in hash coding
with allowable errors"). Such a run only loses keys, so a filter stays true for as long as its run
is there. Nothing is stored: a connection reads the keys of a run bit by bit, as it searches.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS_PER_KEY = 16
"""Bits for each key of a run, at least: two of them are set, so that some 1.5 % of the keys that a
run lacks pass.
"""

FEWEST_KEYS = 12
"""Keys from which on a search asks filters: of fewer it is cheaper to look into each run."""

READ_PER_KEY = 6
"""Keys of runs that are read for filters with each key that is looked for: a key is written once a
level, and read once there.
"""

Hashes = NDArray[np.uint64]


class FilteringConnection(sqlite3.Connection):
    """A connection that remembers filters of runs."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.filters = KeyFilters()


def forget_filters(connection: sqlite3.Connection) -> None:
    """Forget what was read inside of a transaction that is taken back: its runs never were."""
    if isinstance(connection, FilteringConnection):
        connection.filters = KeyFilters()


@dataclass
class _RunFilter:
    """The keys of one run that were read, up to a place; once all were, their bits."""

    last_key: tuple[int, str] = (-1, "")
    hashes: list[Hashes] = field(default_factory=list[Hashes])
    bits: NDArray[np.uint8] | None = None

    def close(self) -> None:
        """Make the bits of all keys that were read."""
        hashes = np.concatenate(self.hashes)
        size = 1 << max(3, (BITS_PER_KEY * len(hashes)).bit_length())
        is_set = np.zeros(size, np.bool_)
        for places in _places(hashes, size):
            is_set[places] = True
        self.bits = np.packbits(is_set)
        self.hashes = []

    def passing(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return which of these hashes are perhaps of keys of the run."""
        assert self.bits is not None
        passes = np.ones(len(hashes), np.uint8)
        for places in _places(hashes, 8 * len(self.bits)):
            passes &= self.bits[places >> np.uint64(3)] >> (7 - (places & np.uint64(7)))
        return (passes & 1).astype(np.bool_)


def _places(hashes: Hashes, size: int) -> tuple[Hashes, Hashes]:
    """Return the two bits of each hash among `size`, a power of two."""
    mask = np.uint64(size - 1)
    return hashes & mask, (hashes >> np.uint64(32)) & mask


class KeyFilters:
    """The filters of the indexes of one file, as long as its schema stays as it is."""

    def __init__(self) -> None:
        self._schema_version = -1
        self._filters: dict[tuple[str, int], _RunFilter] = {}

    def possible_keys(
        self,
        connection: sqlite3.Connection,
        table: str,
        complete_runs: Collection[int],
        space: int,
        keys: Sequence[str],
    ) -> dict[int, list[str]]:
        """Return, of those complete runs of which all keys were read, which of the keys they may
        have. `table` is that of the keys; a run is complete that gets no further ones.
        """
        self._forget_others(connection, table, complete_runs)
        self._read_on(connection, table, complete_runs, READ_PER_KEY * len(keys))
        hashes = _hashes((space, key) for key in keys)
        keys_by_run: dict[int, list[str]] = {}
        for run in complete_runs:
            run_filter = self._filters[table, run]
            if run_filter.bits is not None:
                places = np.flatnonzero(run_filter.passing(hashes)).tolist()
                keys_by_run[run] = [keys[place] for place in places]
        return keys_by_run

    def _forget_others(
        self, connection: sqlite3.Connection, table: str, complete_runs: Collection[int]
    ) -> None:
        """Forget the filters of runs that are gone, and all where the schema is another one: of a
        table that was made anew the numbers of runs begin again.
        """
        (schema_version,) = connection.execute("PRAGMA schema_version").fetchone()
        if schema_version != self._schema_version:
            self._schema_version = schema_version
            self._filters.clear()
        for name, run in [*self._filters]:
            if name == table and run not in complete_runs:
                del self._filters[name, run]

    def _read_on(
        self, connection: sqlite3.Connection, table: str, runs: Iterable[int], count: int
    ) -> None:
        """Read up to `count` keys of runs of which not all were read."""
        sql = (
            f"SELECT space, key FROM {table} WHERE run = ? AND (space, key) > (?, ?) "  # noqa: S608
            "ORDER BY space, key LIMIT ?"
        )
        for run in runs:
            run_filter = self._filters.setdefault((table, run), _RunFilter())
            if run_filter.bits is not None or not count:
                continue
            pairs = connection.execute(sql, (run, *run_filter.last_key, count)).fetchall()
            run_filter.hashes.append(_hashes(pairs))
            if len(pairs) < count:
                run_filter.close()
            else:
                run_filter.last_key = pairs[-1]
            count -= len(pairs)


def _hashes(pairs: Iterable[tuple[int, str]]) -> Hashes:
    """Return hashes of spaces with keys, which differ from process to process."""
    return np.fromiter(map(hash, pairs), np.int64).view(np.uint64)
