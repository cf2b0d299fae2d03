"""Copies of data that were left in a data folder are known to who erases and to `rebuild
cleanup`.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from operations.erasure.files import clean_files
from operations.leftovers import MOVED_ASIDE, REPAIRED, leftovers, remove_leftovers
from tests.support.stored_bytes import files_with

CANARY = b"quillfeather"


def filled(folder: Path) -> dict[Path, int]:
    copies = {
        folder / f"graph{MOVED_ASIDE}20260301T120000Z": 12,
        folder / f"{REPAIRED}20260301T120000Z": 12,
    }
    for path in (*copies, folder / "graph", folder / "bus"):
        (path / "deep").mkdir(parents=True)
    for path in copies:
        (path / "deep" / "copy").write_bytes(CANARY)
    (folder / "graph" / "deep" / "kept").write_bytes(b"kept")
    return copies


def test_only_copies_are_leftovers(tmp_path: Path) -> None:
    copies = filled(tmp_path)
    (tmp_path / "repair-me.txt").write_text("no folder")
    assert leftovers(tmp_path) == copies
    assert remove_leftovers(tmp_path) == 24
    assert leftovers(tmp_path) == {}
    assert (tmp_path / "graph" / "deep" / "kept").read_bytes() == b"kept"


def test_an_erasure_cleans_free_pages_logs_and_copies(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "documents").mkdir()
    (tmp_path / "bus" / "nats-server.log").write_bytes(CANARY)
    with closing(sqlite3.connect(tmp_path / "documents" / "documents.db")) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        connection.execute("CREATE TABLE t (text)")
        connection.executemany("INSERT INTO t VALUES (?)", [(CANARY.decode() * 50,)] * 200)
        connection.commit()
        connection.execute("DELETE FROM t")
        connection.commit()
    assert len(files_with(tmp_path, CANARY)) == 4
    counts = clean_files(tmp_path)
    assert files_with(tmp_path, CANARY) == []
    assert (counts["leftovers"], counts["logs"], counts["vectors_file"]) == (24, len(CANARY), 0)
    assert counts["documents_file"] > 0
