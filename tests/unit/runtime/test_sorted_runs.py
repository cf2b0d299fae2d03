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
from runtime.stores.sqlite.key_filters import FilteringConnection, forget_filters
from runtime.stores.sqlite.sorted_runs import SortedRuns

INDEX = SortedRuns("things")
SPACES = (1, 2, 3)


@pytest.fixture(params=[sqlite3.Connection, FilteringConnection])
def connection(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(":memory:", isolation_level=None, factory=request.param)
    with closing(database) as connection:
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
    keys = [*numbers, "none", "", "~"]
    assert sorted_runs.find(connection, INDEX, space, keys) == numbers
    sorted_items = sorted(numbers.items())
    middle_key = sorted_items[len(sorted_items) // 2][0] if sorted_items else ""
    items_after = [item for item in sorted_items if item[0] > middle_key]
    assert sorted_runs.page(connection, INDEX, space, "", len(keys)) == sorted_items
    assert sorted_runs.page(connection, INDEX, space, middle_key, 3) == items_after[:3]
    numbers_under = {
        key: number for key, number in numbers.items() if key[0] in "3f" and len(key) > 1
    }
    assert sorted_runs.under(connection, INDEX, space, ["3", "f", "none"]) == numbers_under
    assert sorted_runs.has_keys(connection, INDEX, space) == bool(numbers)


@pytest.mark.parametrize("seed", range(4))
def test_reading_gives_what_was_added_and_not_removed(
    connection: sqlite3.Connection, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted_runs, "RUN_KEYS", 4)
    monkeypatch.setattr(sorted_runs, "FANOUT", 3)
    monkeypatch.setattr(sorted_runs, "STEP_KEYS", 12)
    monkeypatch.setattr(sorted_runs, "FEWEST_KEYS", 1)
    random = Random(seed)
    numbers_by_space: dict[int, dict[str, int]] = {space: {} for space in SPACES}
    merges_seen = 0
    for step in range(250):
        space = random.choice(SPACES)
        numbers = numbers_by_space[space]
        if random.random() < 0.7:
            new_numbers = hashes(step * 10, random.choice([0, 1, 2, 3, 9]))
            sorted_runs.add(connection, INDEX, space, new_numbers)
            numbers |= new_numbers
        elif random.random() < 0.97:
            keys = random.sample(sorted(numbers), min(len(numbers), random.randrange(9)))
            row_numbers = sorted_runs.remove(connection, INDEX, space, [*keys, "none"])
            assert sorted(row_numbers) == sorted(numbers.pop(key) for key in keys)
            changes = {key: -number for key, number in sorted(numbers.items())[:5]}
            sorted_runs.renumber(connection, INDEX, space, {**changes, "none": 1})
            numbers |= changes
        else:
            while row_numbers := sorted_runs.remove_some(connection, INDEX, space, 5):
                assert len(row_numbers) <= 5
                numbers_by_space[space] = {
                    k: n for k, n in numbers_by_space[space].items() if n not in row_numbers
                }
            assert numbers_by_space[space] == {}
        merges_seen += bool(merges_under_way(connection))
        check(connection, space, numbers_by_space[space])
    for space in SPACES:
        check(connection, space, numbers_by_space[space])
    (level,) = connection.execute(f"SELECT max(level) FROM {INDEX.runs}").fetchone()
    assert level >= 3
    assert merges_seen > 20, "merges of several steps were read, too"


def test_what_is_taken_back_leaves_nothing(connection: sqlite3.Connection) -> None:
    sorted_runs.add(connection, INDEX, 1, hashes(0, 500))
    connection.execute("BEGIN")
    sorted_runs.add(connection, INDEX, 1, hashes(500, 500))
    check(connection, 1, hashes(0, 1000))
    connection.execute("ROLLBACK")
    forget_filters(connection)
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
