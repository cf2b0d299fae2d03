"""Keys in sorted runs are those of a dictionary after any changes, while runs are merged, and cost
few bytes of the log.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from runtime.stores.sqlite import sorted_runs
from runtime.stores.sqlite.sorted_runs import SortedRuns

INDEX = SortedRuns("things")
SPACES = (1, 2, 3)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        make(connection)
        yield connection


def make(connection: sqlite3.Connection) -> None:
    for statement in INDEX.statements().values():
        connection.execute(statement)


def hashes(first: int, count: int) -> dict[str, int]:
    """Keys in an order by chance, with the numbers of their rows."""
    return {sha256(b"%d" % n).hexdigest()[:23]: n for n in range(first, first + count)}


def merges_under_way(connection: sqlite3.Connection) -> int:
    sql = f"SELECT count(*) FROM {INDEX.runs} WHERE target IS NOT NULL"
    return connection.execute(sql).fetchone()[0]


def check(connection: sqlite3.Connection, space: int, numbers: dict[str, int]) -> None:
    """Compare everything that is read with what must be there."""
    wanted = [*numbers, "none", "", "~"]
    assert sorted_runs.find(connection, INDEX, space, wanted) == numbers
    ordered = sorted(numbers.items())
    middle = ordered[len(ordered) // 2][0] if ordered else ""
    behind = [item for item in ordered if item[0] > middle]
    assert sorted_runs.page(connection, INDEX, space, "", len(wanted)) == ordered
    assert sorted_runs.page(connection, INDEX, space, middle, 3) == behind[:3]
    expected = {key: number for key, number in numbers.items() if key[0] in "3f" and len(key) > 1}
    assert sorted_runs.under(connection, INDEX, space, ["3", "f", "none"]) == expected
    assert sorted_runs.has_keys(connection, INDEX, space) == bool(numbers)


@pytest.mark.parametrize("seed", range(4))
def test_reading_gives_what_was_added_and_not_removed(
    connection: sqlite3.Connection, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_runs, "RUN_KEYS", 4)
    monkeypatch.setattr(sorted_runs, "FANOUT", 3)
    monkeypatch.setattr(sorted_runs, "STEP_KEYS", 12)
    random = Random(seed)
    stored: dict[int, dict[str, int]] = {space: {} for space in SPACES}
    seen_under_way = 0
    for step in range(250):
        space = random.choice(SPACES)
        numbers = stored[space]
        if random.random() < 0.7:
            added = hashes(step * 10, random.choice([0, 1, 2, 3, 9]))
            sorted_runs.add(connection, INDEX, space, added)
            numbers |= added
        elif random.random() < 0.97:
            keys = random.sample(sorted(numbers), min(len(numbers), random.randrange(9)))
            removed = sorted_runs.remove(connection, INDEX, space, [*keys, "none"])
            assert sorted(removed) == sorted(numbers.pop(key) for key in keys)
        else:
            while removed := sorted_runs.remove_some(connection, INDEX, space, 5):
                assert len(removed) <= 5
                stored[space] = {k: n for k, n in stored[space].items() if n not in removed}
            assert stored[space] == {}
        seen_under_way += bool(merges_under_way(connection))
        check(connection, space, stored[space])
    for space in SPACES:
        check(connection, space, stored[space])
    (level,) = connection.execute(f"SELECT max(level) FROM {INDEX.runs}").fetchone()
    assert level >= 3
    assert seen_under_way > 20, "merges of several steps were read, too"


def test_what_is_taken_back_leaves_nothing(connection: sqlite3.Connection) -> None:
    sorted_runs.add(connection, INDEX, 1, hashes(0, 500))
    connection.execute("BEGIN")
    sorted_runs.add(connection, INDEX, 1, hashes(500, 500))
    connection.execute("ROLLBACK")
    check(connection, 1, hashes(0, 500))
    sorted_runs.add(connection, INDEX, 1, hashes(500, 500))
    check(connection, 1, hashes(0, 1000))


def test_the_number_of_runs_grows_with_the_logarithm_of_keys(
    connection: sqlite3.Connection,
) -> None:
    for first in range(0, 60_000, 60):
        sorted_runs.add(connection, INDEX, 1, hashes(first, 60))
    (count,) = connection.execute(f"SELECT count(*) FROM {INDEX.runs}").fetchone()
    assert count < 4 * 2 * sorted_runs.FANOUT
    (keys,) = connection.execute(f"SELECT count(*) FROM {INDEX.keys}").fetchone()
    assert keys == 60_000


@pytest.mark.parametrize("batch", [1, 600])
def test_a_merge_keeps_up_with_small_commits_and_with_large_ones(
    connection: sqlite3.Connection, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_runs, "STEP_KEYS", 128)
    for first in range(0, 100 * batch, batch):
        sorted_runs.add(connection, INDEX, 1, hashes(first, batch))
    sql = f"SELECT count(*) FROM {INDEX.runs} WHERE level = 0"
    assert connection.execute(sql).fetchone()[0] <= 2 * sorted_runs.FANOUT
    check(connection, 1, hashes(0, 100 * batch))


def test_a_key_costs_less_than_half_of_what_a_tree_of_all_keys_writes(tmp_path: Path) -> None:
    def written(name: str) -> int:
        path = tmp_path / name
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for setting in ("page_size=512", "journal_mode=WAL", "wal_autocheckpoint=0"):
                connection.execute(f"PRAGMA {setting}")
            make(connection)
            connection.execute("CREATE TABLE tree (key TEXT PRIMARY KEY) WITHOUT ROWID")
            for first in range(0, 20_000, 200):
                connection.execute("BEGIN")
                if name == "runs":
                    sorted_runs.add(connection, INDEX, 1, hashes(first, 200))
                else:
                    keys = [(key,) for key in sorted(hashes(first, 200))]
                    connection.executemany("INSERT INTO tree VALUES (?)", keys)
                connection.execute("COMMIT")
            return path.with_name(f"{name}-wal").stat().st_size

    assert written("runs") * 2 < written("tree")
