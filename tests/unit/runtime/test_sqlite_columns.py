"""A file whose tables were made before a field was indexed: the field gets its column, with the
values of the rows.
"""

import sqlite3
from pathlib import Path

from contracts.graph import Partition
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite.store import SqliteRows

DOCUMENTS = Table("documents", Partition("w", 1))
KEY = "workspace TEXT NOT NULL, generation INTEGER NOT NULL, key TEXT NOT NULL"
OLDER = (
    f"CREATE TABLE documents ({KEY}, field_status, body TEXT NOT NULL, PRIMARY KEY (workspace, "
    "generation, key))"
)


async def test_a_field_that_was_not_indexed_is_found_and_sorted_by_after_an_upgrade(
    tmp_path: Path,
) -> None:
    path = tmp_path / "documents.db"
    with sqlite3.connect(path) as database:
        database.execute(OLDER)
        for number in (2, 1):
            body = f'{{"id": "d{number}", "status": "processed", "version": {number}}}'
            database.execute(
                "INSERT INTO documents VALUES ('w', 1, ?, 'processed', ?)", (f"k{number}", body)
            )
    database.close()
    rows = SqliteRows(path)
    for _ in range(2):
        await rows.prepare()
        assert await rows.missing() == []
        in_order = await rows.find(
            DOCUMENTS, {"status": "processed"}, order="version", descending=True
        )
        assert [key for key, _ in in_order] == ["k2", "k1"]
        assert [key for key, _ in await rows.find(DOCUMENTS, {"id": "d1"})] == ["k1"]
    await rows.put(DOCUMENTS, {"k3": {"id": "d3", "status": "processed", "version": 3}})
    assert [key for key, _ in await rows.find(DOCUMENTS, {"id": "d3"})] == ["k3"]
    await rows.close()
