"""A file of schema 6: rows of mentions and cached embeddings are moved into sorted runs, also where
that was interrupted.
"""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts.graph import Partition
from runtime.stores.documents import schema
from runtime.stores.documents.port import Row, Table
from runtime.stores.documents.row_json import encode
from runtime.stores.documents.sqlite import run_rows, store
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.documents.sqlite.tables import move_older_rows

MENTIONS = [Table("mentions", Partition(workspace, 1)) for workspace in ("v", "w")]
EMBEDDINGS = Table("embeddings", Partition("w", 0))
COUNT = 3 * run_rows.MOVED_TOGETHER


class Interrupted(Exception):
    """The program ends."""


def older_rows() -> dict[Table, dict[str, Row]]:
    """More rows than are moved at once: counters, mentions without fields, and vectors."""
    counters: dict[str, Row] = {
        f"e{n:05d}": {"n": 1, "notes": [f"{n}"]} for n in range(0, COUNT, 2)
    }
    mentions: dict[str, Row] = {f"{key}:chunk": {} for key in counters}
    vectors: dict[str, Row] = {f"k{n:05d}": {"f16": b"\x01%d" % n} for n in range(COUNT)}
    return {MENTIONS[0]: counters | mentions, MENTIONS[1]: mentions, EMBEDDINGS: vectors}


def write_older(path: Path) -> dict[Table, dict[str, Row]]:
    """Write a file as a program of schema 6 leaves it."""
    key = "workspace TEXT NOT NULL, generation INTEGER NOT NULL, key TEXT NOT NULL"
    body_and_key = "body TEXT NOT NULL, PRIMARY KEY (workspace, generation, key)"
    rows_by_table = older_rows()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE mentions ({key}, {body_and_key}) WITHOUT ROWID")
        for name in ("embeddings", "schema"):
            database.execute(f"CREATE TABLE {name} ({key}, {body_and_key})")
        database.execute(
            "INSERT INTO schema VALUES ('lightstream', 0, 'stores', '{\"version\":6,\"owed\":[]}')"
        )
        for table, rows in rows_by_table.items():
            database.executemany(
                f"INSERT INTO {table.name} VALUES (?, ?, ?, ?)",
                [
                    (table.partition.workspace, table.partition.generation, key, encode(key, row))
                    for key, row in rows.items()
                ],
            )
    return rows_by_table


async def check_moved(
    rows: SqliteRows, path: Path, rows_by_table: dict[Table, dict[str, Row]]
) -> None:
    """Compare all rows, and look for what should be gone."""
    for table, expected_rows in rows_by_table.items():
        assert dict(await rows.scan(table, limit=10 * COUNT)) == expected_rows
        assert await rows.get(table, list(expected_rows)) == expected_rows
    assert await rows.partitions("mentions") == {table.partition for table in MENTIONS}
    assert await rows.missing() == []
    with closing(sqlite3.connect(path)) as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    assert not names & set(run_rows.NAMES)


async def test_all_rows_of_an_older_file_are_there_after_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "documents.db"
    rows_by_table = write_older(path)
    rows, other_rows = SqliteRows(path), SqliteRows(path)
    await asyncio.gather(rows.prepare(), other_rows.prepare())
    await check_moved(rows, path, rows_by_table)
    await other_rows.delete(EMBEDDINGS, ["k00001"])
    assert await rows.get(EMBEDDINGS, ["k00001"]) == {}
    await rows.prepare()
    assert await other_rows.get(EMBEDDINGS, ["k00001"]) == {}, "nothing comes back"
    assert await rows.append(MENTIONS[0], {"e00000": "new"}, {}) == {
        "e00000": {"n": 2, "notes": ["0", "new"]}
    }
    await asyncio.gather(rows.close(), other_rows.close())


async def test_an_interrupted_upgrade_goes_on_and_older_programs_are_refused_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "documents.db"
    rows_by_table = write_older(path)

    moves: list[bool] = []

    def move_twice(connection: sqlite3.Connection) -> bool:
        if len(moves) == 2:
            raise Interrupted
        moves.append(move_older_rows(connection))
        return moves[-1]

    rows = SqliteRows(path)
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr(store, "move_older_rows", move_twice)
        await rows.prepare()
    assert await schema.recorded(rows) == schema.VERSION
    await rows.close()
    with closing(sqlite3.connect(path)) as database:
        (rows_left,) = database.execute("SELECT count(*) FROM mentions").fetchone()
    assert 0 < rows_left < sum(len(rows_by_table[table]) for table in MENTIONS)
    rows = SqliteRows(path)
    await rows.prepare()
    await check_moved(rows, path, rows_by_table)
    await rows.close()
