"""Stores that cannot open their data, or open a part of them: recognised by their files and logs,
with the way out.

Only what is certain is called damage: a file that is shorter than it says itself, and what a server
says of its data. A journal beside a file means that its server has yet to bring it into order, so
its length proves nothing.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from embedded.data_folder import DataFolder
from embedded.stores import GRAPH, STORES, VECTORS

PROJECTION_OF_STORE: Mapping[str, str] = {
    "documents": "all",
    "graph": "graph",
    "vectors": "vectors",
}
"""The projection that `lightstream rebuild` has to make anew, by the folder of the lost store."""

FILES: Mapping[str, tuple[str, ...]] = {
    "documents": ("documents.db",),
    "graph": (GRAPH.file,),
    "vectors": (VECTORS.file, VECTORS.server.data),
}
"""The files of SQLite's format that a store may be: Milvus Lite's is of that format, too."""

DATABASE = Path(GRAPH.server.data, "databases", "neo4j")
"""Folder of the database in the graph's folder."""

PAGE_FILE_SUFFIXES = {".bucket", ".dict", ".umtidx", ".numtidx", ".uctidx", ".nuctidx"}
"""Suffixes of ArcadeDB's files of pages."""

LENGTHS_FILE = "lengths.json"

SQLITE = b"SQLite format 3\0"
MALFORMED = (
    "database disk image is malformed",
    "file is not a database",
    "database schema is corrupt",
)
CORRUPTED = (
    "the record is corrupted",
    "broken chunk chain",
    "DatabaseIsCorrupted",
    "Error on opening database",
)
STARTING = "is starting up"
MAX_LOG_LINES = 400
"""Lines of a log that are looked at."""


def find_damage(folder: Path, store: str) -> str:
    """Return the damage of a store's data by its files, and by its log where the server still runs;
    empty for none.
    """
    damages = (_sqlite(folder / store / name) for name in FILES[store])
    if (why := next(filter(None, damages), "")) or not (
        store == GRAPH.name and GRAPH.has_server(folder)
    ):
        return why
    return find_truncated_graph_file(folder / store) or _last_log_line(
        _log_of_server(folder, store), CORRUPTED, STARTING
    )


def find_damage_after_exit(folder: Path, store: str) -> str:
    """Return the same for a store whose server has just ended: the last lines of its log count
    too.
    """
    return find_damage(folder, store) or _last_log_line(
        _log_of_server(folder, store), (*MALFORMED, *CORRUPTED)
    )


def describe_damage_after_exit(folder: DataFolder, store: str) -> str:
    """Return a sentence about a store whose server has just ended; empty when its data are not the
    cause.
    """
    return describe_damage(folder, store, find_damage_after_exit(folder.path, store))


def describe_damage(folder: DataFolder, store: str, why: str) -> str:
    """Return the damage and its repair as a sentence; empty for none."""
    return (
        f"the data of {folder.path / store} are damaged ({why}): {repair_hint(folder, store)}"
        if why
        else ""
    )


def repair_hint(folder: DataFolder, store: str) -> str:
    """Return the command that repairs a damaged store, with what it does."""
    command = f"lightstream rebuild {PROJECTION_OF_STORE[store]} --fresh{folder.command_option}"
    return f"`{command}` moves them aside and makes them anew from the log"


def _sqlite(file: Path) -> str:
    with suppress(OSError):
        if any(
            _size(file.with_name(file.name + journal)) for journal in ("-wal", "-journal")
        ) or not _size(file):
            return ""
        with file.open("rb") as database:
            header = database.read(100)
        if len(header) < 100 or not header.startswith(SQLITE):
            return f"{file.name} is not a database"
        page = int.from_bytes(header[16:18]) or 1
        page = 65536 if page == 1 else page
        is_counted = (
            header[24:28] == header[92:96]
        )  # else older code wrote it, and the count may be too small
        expected_size = page * int.from_bytes(header[28:32])
        if is_counted and _size(file) < expected_size:
            return f"{file.name} has {_size(file)} of its {expected_size} bytes"
    return ""


def find_truncated_graph_file(graph: Path) -> str:
    """Return which of ArcadeDB's files was truncated; empty for none. The server itself would open
    it without an error.

    Their lengths are known where the server was stopped in good order; else what it was doing is in
    its journal.
    """
    database = graph / DATABASE
    lengths_file = graph / LENGTHS_FILE
    with suppress(OSError, ValueError, TypeError, AttributeError):
        if any(database.glob("*.wal")):
            return ""
        lengths: dict[str, int] = json.loads(lengths_file.read_text("utf-8"))
        for name, length in lengths.items():
            if (size := _size(database / name)) < length:
                return f"{name} has {size} of its {length} bytes"
    return ""


def write_lengths(graph: Path) -> None:
    """Record the lengths of the graph's files after an orderly stop of the server."""
    files = [file for file in (graph / DATABASE).glob("*") if file.suffix in PAGE_FILE_SUFFIXES]
    with suppress(OSError):
        (graph / LENGTHS_FILE).write_text(
            json.dumps({file.name: _size(file) for file in files}), "utf-8"
        )


def remove_lengths(graph: Path) -> None:
    """Remove the recorded lengths, before the graph's files change."""
    (graph / LENGTHS_FILE).unlink(missing_ok=True)


def _log_of_server(folder: Path, store: str) -> Path:
    """Return the log of the store's server."""
    process = next(each.server.process for each in STORES if each.name == store)
    return folder / store / f"{process}.log"


def _last_log_line(log: Path, signs: tuple[str, ...], start: str = "") -> str:
    """The first line of the log's end with one of the signs, from the server's last start on."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()[-MAX_LOG_LINES:]
    except OSError:
        return ""
    start_line = max(
        (number for number, line in enumerate(lines) if start and start in line), default=0
    )
    return next(
        (line.strip()[-200:] for line in lines[start_line:] if any(sign in line for sign in signs)),
        "",
    )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
