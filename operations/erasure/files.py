"""Remove from the files of a data folder what its stores have forgotten: free pages, journals,
logs, leftovers.

A database that deletes a row leaves its bytes in the file until something else is written there.
SQLite rewrites a file on request, also while others use it. Where the graph is in ArcadeDB, that
has nothing that would (tried: its compression leaves records that moved, and rebuilding its indexes
loses them), so an erasure starts it with an empty folder, which the rebuild fills.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from embedded.damage import FILES
from operations.leftovers import remove_leftovers
from runtime.errors import Unavailable

PATIENCE = 60.0
"""Seconds to wait for other users of a file to let go of it."""


def clean_files(folder: Path) -> dict[str, int]:
    """Rewrite the databases, empty the logs, remove copies that were left; return how many bytes
    went, by what.

    Raises Unavailable when somebody keeps a database busy.
    """
    counts = {"leftovers": remove_leftovers(folder)}
    for store, names in FILES.items():
        counts[f"{store}_file"] = sum(_rewrite(folder / store / name) for name in names)
    counts["logs"] = sum(_emptied(log) for log in _logs(folder))
    return counts


def _rewrite(file: Path) -> int:
    """Write the database anew without its free space, empty its journal, and return by how many
    bytes it shrank.
    """
    if not file.exists():
        return 0
    before = file.stat().st_size + _size(file.with_name(f"{file.name}-wal"))
    try:
        with closing(sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute("VACUUM")
            _empty_journal(connection)
    except sqlite3.OperationalError as error:
        raise Unavailable(f"{file.name} cannot be rewritten now: {error}") from error
    return max(0, before - file.stat().st_size)


def _empty_journal(connection: sqlite3.Connection) -> None:
    """Copy the WAL into the file and cut it off; whoever reads at the moment delays it. Raises
    Unavailable.
    """
    end = time.monotonic() + PATIENCE
    # Three numbers: whether somebody was in the way, the WAL's pages, the copied ones. Without a
    # WAL: 0, -1, -1.
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > end:
            raise Unavailable("the journal of a database is in use all the time: start again")
        time.sleep(0.05)


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the logs of all processes: they are written by appending, so they can be emptied
    meanwhile.
    """
    yield from folder.glob("*.log")
    yield from folder.glob("*/*.log")


def _emptied(log: Path) -> int:
    size = _size(log)
    with log.open("r+b") as file:
        file.truncate(0)
    return size


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
