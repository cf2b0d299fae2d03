"""A SQLite file that something else cut short under a store that is open, mapped into memory."""

import os
from pathlib import Path

import pytest

from contracts.graph import Partition
from runtime.errors import ConfigurationError
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite.store import SqliteRows

TABLE = Table("chunks", Partition("w", 1))


async def test_a_file_that_was_cut_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "documents.db"
    written = SqliteRows(path)
    await written.prepare()
    await written.put(TABLE, {f"{number:05}": {"text": "x" * 500} for number in range(2000)})
    await written.close()
    rows = SqliteRows(path)
    assert len(await rows.scan(TABLE, "", 10)) == 10
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(ConfigurationError, match=r"documents\.db is damaged"):
        await rows.scan(TABLE, "", 2000)
    await rows.close()
    opened = SqliteRows(path)
    with pytest.raises(ConfigurationError, match=r"documents\.db is damaged"):
        await opened.scan(TABLE, "", 2000)
    await opened.close()
