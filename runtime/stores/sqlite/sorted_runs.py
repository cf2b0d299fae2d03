"""An index of random keys in sorted runs, in place of one tree in the order of all keys.

A key whose order is by chance has a page of a tree for itself, and a page is what a commit writes.
So the keys of one commit are appended, sorted, as a run of their own. Thirty-two runs are merged
into one of the next level, so that a key is written again once a level, beside its neighbours, and
a search looks into those of some dozens of runs that may have a key. It is a log-structured merge
tree, of SQLite's rows.

A key is in one run alone, since whoever adds it has looked for it in the same transaction: that of
the caller, in which all of these functions run.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any

from runtime.stores.sqlite.key_filters import FEWEST_KEYS, FilteringConnection
from runtime.stores.sqlite.lists import among, json_list

RUN_KEYS = 512
"""Keys from which on a run is full: what small commits add is one run until then."""

FANOUT = 32
"""Runs of one level that are merged into one of the next: more would be fewer bytes, and more runs
to search.
"""

STEP_KEYS = 4096
"""Keys that one step of a merge moves at most: other processes wait for its end."""

# The only names in SQL text are those of `SortedRuns`; every value is a parameter.
# ruff: noqa: S608


@dataclass(frozen=True)
class SortedRuns:
    """The index of this name: from a key in a space, a number of the caller's, to that of a row."""

    name: str

    @property
    def keys(self) -> str:
        """Return the name of the table of keys."""
        return f"{self.name}_keys"

    @property
    def runs(self) -> str:
        """Return the name of the table of runs. `target`: the run into which this one is merged,
        NULL until then.
        """
        return f"{self.name}_runs"

    def statements(self) -> dict[str, str]:
        """Return, by its name, the statement that makes a table where it is missing."""
        return {
            self.keys: (
                f"CREATE TABLE IF NOT EXISTS {self.keys} (run INTEGER NOT NULL, "
                "space INTEGER NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, "
                "PRIMARY KEY (run, space, key)) WITHOUT ROWID"
            ),
            self.runs: (
                f"CREATE TABLE IF NOT EXISTS {self.runs} "
                "(run INTEGER PRIMARY KEY, level INTEGER NOT NULL, target INTEGER)"
            ),
        }


def find(
    connection: sqlite3.Connection, index: SortedRuns, space: int, keys: Collection[str]
) -> dict[str, int]:
    """Return the numbers of those keys that are there."""
    return {key: number for _, key, number in _places(connection, index, space, keys)}


def add(
    connection: sqlite3.Connection,
    index: SortedRuns,
    space: int,
    numbers: Mapping[str, int],
) -> None:
    """Add keys that are not there, with the numbers of their rows."""
    if not numbers:
        return
    run = _open_run(connection, index)
    if run is None:
        _merge(connection, index, max(STEP_KEYS, 4 * len(numbers)))
        run = _new_run(connection, index, level=0)
    connection.executemany(
        f"INSERT INTO {index.keys} VALUES (?, ?, ?, ?)",
        [(run, space, key, number) for key, number in sorted(numbers.items())],
    )


def remove(
    connection: sqlite3.Connection, index: SortedRuns, space: int, keys: Collection[str]
) -> list[int]:
    """Remove those keys that are there, and return the numbers of their rows."""
    places = _places(connection, index, space, keys)
    connection.executemany(
        f"DELETE FROM {index.keys} WHERE run = ? AND space = ? AND key = ?",
        [(run, space, key) for run, key, _ in places],
    )
    return [number for *_, number in places]


def renumber(
    connection: sqlite3.Connection, index: SortedRuns, space: int, numbers: Mapping[str, int]
) -> None:
    """Give those keys that are there these numbers."""
    connection.executemany(
        f"UPDATE {index.keys} SET number = ? WHERE run = ? AND space = ? AND key = ?",
        [
            (numbers[key], run, space, key)
            for run, key, _ in _places(connection, index, space, numbers)
        ],
    )


def remove_some(
    connection: sqlite3.Connection, index: SortedRuns, space: int, limit: int
) -> list[int]:
    """Remove up to `limit` keys of a space, and return the numbers of their rows; none when no
    key is left.
    """
    sql = (
        f"DELETE FROM {index.keys} WHERE run = ? AND space = ? AND key IN "
        f"(SELECT key FROM {index.keys} WHERE run = ? AND space = ? LIMIT ?)"
        " RETURNING number"
    )
    for run in _all_runs(connection, index):
        here = (run, space)
        if records := connection.execute(sql, (*here, *here, limit)).fetchall():
            return [number for (number,) in records]
    return []


def page(
    connection: sqlite3.Connection,
    index: SortedRuns,
    space: int,
    after: str,
    limit: int,
) -> list[tuple[str, int]]:
    """Return up to `limit` keys greater than `after`, in their order, with the numbers of their
    rows.
    """
    sql = (
        f"SELECT key, number FROM {index.keys} WHERE run = ? AND space = ? "
        "AND key > ? ORDER BY key LIMIT ?"
    )
    pages = [
        connection.execute(sql, (run, space, after, limit)).fetchall()
        for run in _all_runs(connection, index)
    ]
    return list(islice(merge(*pages), limit))


def under(
    connection: sqlite3.Connection,
    index: SortedRuns,
    space: int,
    prefixes: Collection[str],
) -> dict[str, int]:
    """Return the keys that begin with one of `prefixes` and are longer, with the numbers of their
    rows.
    """
    # "~" is the last character of a key, so nothing stands between the prefix with ~ and with the
    # one after it.
    sql = (
        f"SELECT it.key, it.number FROM json_each(?) AS prefix CROSS JOIN {index.runs} AS runs "
        f"CROSS JOIN {index.keys} AS it WHERE it.run = runs.run AND it.space = ? "
        "AND it.key > prefix.value AND it.key < prefix.value || char(127)"
    )
    return dict(connection.execute(sql, (json_list(list(prefixes)), space)))


def has_keys(connection: sqlite3.Connection, index: SortedRuns, space: int) -> bool:
    """Return whether a space has a key."""
    sql = f"SELECT 1 FROM {index.keys} WHERE run = ? AND space = ? LIMIT 1"
    runs = _all_runs(connection, index)
    return any(connection.execute(sql, (run, space)).fetchone() for run in runs)


def _places(
    connection: sqlite3.Connection, index: SortedRuns, space: int, keys: Collection[str]
) -> list[tuple[int, str, int]]:
    """Return run, key and number of those keys that are there."""
    ordered_keys = sorted(keys)
    all_keys = json_list(ordered_keys)
    runs, complete_runs = _searched_runs(connection, index)
    possible_keys: dict[int, list[str]] = {}
    if len(ordered_keys) >= FEWEST_KEYS and isinstance(connection, FilteringConnection):
        possible_keys = connection.filters.possible_keys(
            connection, index.keys, complete_runs, space, ordered_keys
        )
    sql = (
        f"SELECT it.run, it.key, it.number FROM json_each(?) AS wanted CROSS JOIN {index.keys} "
        "AS it WHERE it.run = ? AND it.space = ? AND it.key = wanted.value"
    )
    places: list[tuple[int, str, int]] = []
    for run in runs:
        if run not in possible_keys:
            places += connection.execute(sql, (all_keys, run, space)).fetchall()
        elif possible_keys[run]:
            places += connection.execute(
                sql, (json_list(possible_keys[run]), run, space)
            ).fetchall()
    return places


def _searched_runs(
    connection: sqlite3.Connection, index: SortedRuns
) -> tuple[list[int], list[int]]:
    """Return all runs, and those of them that get no further keys: neither the newest one nor the
    targets of merges do.
    """
    records = connection.execute(f"SELECT run, target FROM {index.runs} ORDER BY run").fetchall()
    runs = [run for run, _ in records]
    targets = {target for _, target in records}
    return runs, [run for run in runs[:-1] if run not in targets]


def _all_runs(connection: sqlite3.Connection, index: SortedRuns) -> list[int]:
    return [run for (run,) in connection.execute(f"SELECT run FROM {index.runs}").fetchall()]


def _open_run(connection: sqlite3.Connection, index: SortedRuns) -> int | None:
    """Return the newest run if it is of the first level and not full."""
    sql = f"SELECT run, level FROM {index.runs} ORDER BY run DESC LIMIT 1"
    run, level = connection.execute(sql).fetchone() or (0, None)
    if level != 0:
        return None
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {index.keys} WHERE run = ? LIMIT {RUN_KEYS})"
    (count,) = connection.execute(sql, (run,)).fetchone()
    return run if count < RUN_KEYS else None


def _new_run(connection: sqlite3.Connection, index: SortedRuns, level: int) -> int:
    """Return a run behind all others: what is appended to a table fills its pages."""
    sql = f"INSERT INTO {index.runs} (level) VALUES (?)"
    run = connection.execute(sql, (level,)).lastrowid
    assert run is not None
    return run


def _merge(connection: sqlite3.Connection, index: SortedRuns, keys: int) -> None:
    """Move up to so many keys of each level on to the next, where enough runs of it are full."""
    idle = (
        f"target IS NULL AND run NOT IN (SELECT target FROM {index.runs} WHERE target IS NOT NULL)"
    )
    sql = f"SELECT level FROM {index.runs} WHERE {idle} GROUP BY level HAVING count(*) >= {FANOUT}"
    for (level,) in connection.execute(sql).fetchall():
        sql = f"SELECT run FROM {index.runs} WHERE {idle} AND level = ? ORDER BY run LIMIT {FANOUT}"
        sources = [run for (run,) in connection.execute(sql, (level,))]
        target = _new_run(connection, index, level + 1)
        sql = f"UPDATE {index.runs} SET target = ? WHERE {among('run')}"
        connection.execute(sql, (target, json_list(sources)))
    sql = f"SELECT DISTINCT target FROM {index.runs} WHERE target IS NOT NULL"
    for (target,) in connection.execute(sql).fetchall():
        _move(connection, index, target, keys)


def _move(connection: sqlite3.Connection, index: SortedRuns, target: int, keys: int) -> None:
    """Move the first keys of the runs that are merged into this one; once all are there, those runs
    are gone.
    """
    sql = f"SELECT run FROM {index.runs} WHERE target = ?"
    sources = [run for (run,) in connection.execute(sql, (target,))]
    ends = list(_ends(connection, index, sources, keys // len(sources)))
    where, parameters = among("run"), [json_list(sources)]
    if ends:
        where += " AND (space, key) < (?, ?)"
        parameters += min(ends)
    sql = f"DELETE FROM {index.keys} WHERE {where} RETURNING space, key, number"
    # Taken away first: their pages, which are overwritten all the same, are those of the target.
    moved_keys = sorted(connection.execute(sql, parameters).fetchall())
    connection.executemany(f"INSERT INTO {index.keys} VALUES ({target}, ?, ?, ?)", moved_keys)
    if not ends:
        connection.execute(f"DELETE FROM {index.runs} WHERE target = ?", (target,))


def _ends(
    connection: sqlite3.Connection, index: SortedRuns, runs: Collection[int], keys: int
) -> Iterator[tuple[Any, ...]]:
    """Yield, of each run that has more than so many keys, the one behind these."""
    sql = f"SELECT space, key FROM {index.keys} WHERE run = ? ORDER BY space, key LIMIT 1 OFFSET ?"
    for run in runs:
        if record := connection.execute(sql, (run, keys)).fetchone():
            yield record
