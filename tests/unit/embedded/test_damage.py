"""What counts as a damaged store, and how long a rebuild waits for a server."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from embedded import damage
from embedded.data_folder import DataFolder
from operations import retries
from operations.retries import retry_outages
from runtime.errors import ModelChanged, Unavailable
from runtime.retries import Backoff


def database(file: Path) -> None:
    """A real one of some pages."""
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("a row of some length" * 20,)] * 500)
        connection.commit()


@pytest.mark.parametrize("store", [*damage.FILES])
def test_a_file_that_is_shorter_than_it_says_is_damaged(tmp_path: Path, store: str) -> None:
    assert damage.find_damage(tmp_path, store) == ""
    file = tmp_path / store / damage.FILES[store][0]
    database(file)
    assert damage.find_damage(tmp_path, store) == ""
    os.truncate(file, file.stat().st_size // 2)
    assert "bytes" in damage.find_damage(tmp_path, store)
    description = damage.describe_damage(
        DataFolder.at(tmp_path), store, damage.find_damage(tmp_path, store)
    )
    assert (
        f"lightstream rebuild {damage.PROJECTION_OF_STORE[store]} --fresh --data {tmp_path}"
        in description
    )
    file.with_name(f"{file.name}-wal").write_bytes(b"what is to be brought into order first")
    assert damage.find_damage(tmp_path, store) == ""


def test_what_is_no_database_is_damaged_and_what_is_empty_is_not(tmp_path: Path) -> None:
    file = tmp_path / "vectors" / "vectors.db"
    file.parent.mkdir()
    file.touch()
    assert damage.find_damage(tmp_path, "vectors") == ""
    file.write_bytes(bytes(5000))
    assert "not a database" in damage.find_damage(tmp_path, "vectors")


def test_a_graph_is_held_against_the_lengths_of_its_last_stop(tmp_path: Path) -> None:
    graph = tmp_path / "graph"
    files = graph / damage.DATABASE
    files.mkdir(parents=True)
    bucket = files / "Ent_0.1.65536.v0.bucket"
    journal = files / "txlog_0.wal"
    bucket.write_bytes(bytes(131072))
    damage.write_lengths(graph)
    assert damage.find_damage(tmp_path, "graph") == ""
    os.truncate(bucket, 65536)
    assert (
        damage.find_damage(tmp_path, "graph")
        == "Ent_0.1.65536.v0.bucket has 65536 of its 131072 bytes"
    )
    journal.touch()
    assert damage.find_damage(tmp_path, "graph") == ""
    journal.unlink()
    damage.remove_lengths(graph)
    assert damage.find_damage(tmp_path, "graph") == ""


def test_what_a_server_said_before_its_last_start_is_history(tmp_path: Path) -> None:
    log = tmp_path / "graph" / "arcadedb.log"
    log.parent.mkdir()
    complaint = (
        "SEVER [LocalBucket] Error on loading record #1:8 (error: … the record is corrupted …)"
    )
    start = "INFO [ArcadeDBServer] ArcadeDB Server v1 is starting up..."
    (tmp_path / "graph" / "data").mkdir()
    log.write_text(f"{start}\n{complaint}\n")
    assert "the record is corrupted" in damage.find_damage(tmp_path, "graph")
    log.write_text(f"{start}\n{complaint}\n{start}\n")
    assert damage.find_damage(tmp_path, "graph") == ""


async def test_work_goes_on_as_long_as_something_gets_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "BACKOFF", Backoff(0.001, 0.001))
    tries = 0

    async def work() -> str:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise Unavailable("away", retry_after=0.01)
        return "done"

    assert await retry_outages(work, progress=lambda: tries, seconds=0.005) == "done"
    tries = -100
    with pytest.raises(Unavailable):
        await retry_outages(work, seconds=0.005)
    assert tries < -90


async def test_another_model_is_nothing_to_wait_for() -> None:
    async def work() -> None:
        raise ModelChanged("another")

    with pytest.raises(ModelChanged):
        await retry_outages(work)
