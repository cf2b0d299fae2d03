"""A SQLite file whose tables were made before a field was indexed: it gets the column with the
values of its rows, of long ones, which are compressed, too.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from contracts.graph import Partition
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite.store import SqliteRows

DOCUMENTS = Table("documents", Partition("w", 1))
TEXT = "The harbour office moved to the northern pier in the spring. " * 40


async def test_a_field_of_long_rows_is_found_after_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    rows = SqliteRows(path)
    await rows.prepare()
    long_row = {"file_path": "a.md", "summary": TEXT}
    await rows.put(DOCUMENTS, {"k1": long_row, "k2": {"file_path": "b.md"}, "k3": {"id": "x"}})
    await rows.close()
    with closing(sqlite3.connect(path)) as connection:
        kinds = connection.execute("SELECT typeof(body) FROM documents ORDER BY key").fetchall()
        assert kinds == [("blob",), ("text",), ("text",)]
        connection.execute("DROP INDEX documents_file_path")
        connection.execute("ALTER TABLE documents DROP COLUMN field_file_path")
    rows = SqliteRows(path)
    for _ in range(2):
        await rows.prepare()
        assert await rows.missing() == []
        values = await rows.values(DOCUMENTS, "file_path", {})
        assert values == {"k1": "a.md", "k2": "b.md", "k3": None}
    assert await rows.find(DOCUMENTS, {"file_path": "a.md"}) == [("k1", long_row)]
    await rows.close()
