"""Filters of sorted runs leave no key out, whatever other connections do, and spare searches."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from runtime.stores.sqlite import sorted_runs
from runtime.stores.sqlite.commits import transaction
from runtime.stores.sqlite.key_filters import FilteringConnection
from runtime.stores.sqlite.sorted_runs import SortedRuns

INDEX = SortedRuns("things")


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have merges after few keys, and filters of each search."""
    monkeypatch.setattr(sorted_runs, "RUN_KEYS", 16)
    monkeypatch.setattr(sorted_runs, "FANOUT", 3)
    monkeypatch.setattr(sorted_runs, "STEP_KEYS", 48)
    monkeypatch.setattr(sorted_runs, "FEWEST_KEYS", 1)


@pytest.fixture
def connections(tmp_path: Path) -> Iterator[list[FilteringConnection]]:
    """Three connections to one file, as those of several processes."""
    file_connections: list[FilteringConnection] = []
    for _ in range(3):
        connection = sqlite3.connect(
            tmp_path / "keys", isolation_level=None, factory=FilteringConnection
        )
        assert isinstance(connection, FilteringConnection)
        for setting in ("journal_mode=WAL", "synchronous=OFF"):
            connection.execute(f"PRAGMA {setting}")
        file_connections.append(connection)
    make(file_connections[0])
    yield file_connections
    for connection in file_connections:
        connection.close()


def make(connection: sqlite3.Connection) -> None:
    for statement in INDEX.statements().values():
        connection.execute(statement)


def key_of(number: int) -> str:
    return sha256(b"%d" % number).hexdigest()[:20]


def numbers_of(connection: sqlite3.Connection, numbers: Sequence[int]) -> set[int]:
    """Return those of the numbers whose keys are found; each has its own number as that of its
    row.
    """
    keys = [key_of(number) for number in numbers]
    return set(sorted_runs.find(connection, INDEX, 1, keys).values())


def test_every_connection_finds_what_any_of_them_wrote(
    connections: list[FilteringConnection],
) -> None:
    random, present_numbers = Random(5), set[int]()
    for step in range(400):
        connection = random.choice(connections)
        if random.random() < 0.7:
            new_numbers = range(step * 10, step * 10 + random.randrange(1, 10))
            present_numbers.update(new_numbers)
            new_keys = {key_of(number): number for number in new_numbers}
            transaction(connection, [lambda c, k=new_keys: sorted_runs.add(c, INDEX, 1, k)])
        elif present_numbers:
            removed_numbers = random.sample(sorted(present_numbers), min(len(present_numbers), 6))
            keys = [key_of(number) for number in removed_numbers]
            transaction(connection, [lambda c, k=keys: sorted_runs.remove(c, INDEX, 1, k)])
            present_numbers.difference_update(removed_numbers)
        sample = random.sample(range(4000), 60) + sorted(present_numbers)[:20]
        assert numbers_of(random.choice(connections), sample) == present_numbers & set(sample)


def test_a_transaction_that_fails_leaves_no_filter_of_its_runs(
    connections: list[FilteringConnection],
) -> None:
    """Runs get the same numbers again, with other keys."""
    connection = connections[0]

    def add_keys(first: int, *, fails: bool = False) -> None:
        def work(inner: sqlite3.Connection) -> None:
            for start in range(first, first + 200, 10):
                numbers = {key_of(number): number for number in range(start, start + 10)}
                sorted_runs.add(inner, INDEX, 1, numbers)
            assert len(numbers_of(inner, range(first, first + 200))) == 200
            if fails:
                raise ValueError("taken back")

        outcomes = transaction(connection, [work, lambda inner: None])
        assert isinstance(outcomes[0][1], ValueError) == fails

    add_keys(0, fails=True)
    add_keys(1000)
    assert numbers_of(connection, range(2000)) == set(range(1000, 1200))
    with pytest.raises(ValueError, match="taken back"):
        transaction(connection, [_failing])
    add_keys(3000)
    assert numbers_of(connection, range(4000)) == {*range(1000, 1200), *range(3000, 3200)}


def _failing(connection: sqlite3.Connection) -> None:
    for start in range(5000, 5200, 10):
        sorted_runs.add(connection, INDEX, 1, {key_of(n): n for n in range(start, start + 10)})
    numbers_of(connection, range(5000, 5200))
    raise ValueError("taken back")


def test_of_a_table_that_was_made_anew_nothing_older_is_remembered(
    connections: list[FilteringConnection],
) -> None:
    writer, reader, _ = connections
    for start in range(0, 200, 10):
        sorted_runs.add(writer, INDEX, 1, {key_of(n): n for n in range(start, start + 10)})
    assert len(numbers_of(reader, range(400))) == 200
    for table in INDEX.statements():
        writer.execute(f"DROP TABLE {table}")
    make(writer)
    for start in range(200, 400, 10):
        sorted_runs.add(writer, INDEX, 1, {key_of(n): n for n in range(start, start + 10)})
    assert numbers_of(reader, range(400)) == set(range(200, 400))


def test_runs_that_lack_all_keys_are_hardly_searched(
    connections: list[FilteringConnection],
) -> None:
    connection = connections[0]
    for start in range(0, 3000, 8):
        sorted_runs.add(connection, INDEX, 1, {key_of(n): n for n in range(start, start + 8)})
    sql = f"SELECT count(*) FROM {INDEX.runs}"
    (run_count,) = connection.execute(sql).fetchone()
    statements: list[str] = []
    for first in range(10_000, 20_000, 100):
        numbers_of(connection, range(first, first + 100))
    connection.set_trace_callback(statements.append)
    with closing(connection.cursor()):
        assert not numbers_of(connection, [50_000])
    connection.set_trace_callback(None)
    search_statements = [sql for sql in statements if "wanted" in sql]
    assert 1 <= len(search_statements) <= run_count // 2
