"""Stores that cannot open their data, or open a part of them: recognised by their files and logs, with the way out.

Only what is certain is called damage: a file that is shorter than it says itself, and what a server says of its data. A
journal beside a file means that its server has yet to bring it into order, so its length proves nothing.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from standalone.embedded.data_folder import Folder

REBUILT: Mapping[str, str] = {"documents": "all", "graph": "graph", "vectors": "vectors"}
"""What `lightstream rebuild` is to make anew, by the folder of the store that is lost."""

FILES: Mapping[str, str] = {"documents": "documents.db", "vectors": "vectors.db"}
"""The stores that are one file of SQLite's format."""

DATABASE = Path("data", "databases", "neo4j")
"""Where the graph's data lie in its folder."""

KINDS = {".bucket", ".dict", ".umtidx", ".numtidx", ".uctidx", ".nuctidx"}
"""Suffixes of ArcadeDB's files of pages."""

LENGTHS = "lengths.json"

SQLITE = b"SQLite format 3\0"
MALFORMED = ("database disk image is malformed", "file is not a database", "database schema is corrupt")
CORRUPTED = ("the record is corrupted", "broken chunk chain", "DatabaseIsCorrupted", "Error on opening database")
STARTING = "is starting up"
LINES = 400
"""Lines of a log that are looked at."""


def fault(folder: Path, store: str) -> str:
    """What is wrong with the data of a store by its files, and its log where the server goes on; empty when sound."""
    if store in FILES:
        return _sqlite(folder / store / FILES[store])
    return graph_cut_short(folder / store) or _said(folder / store / "arcadedb.log", CORRUPTED, STARTING)


def fault_of_ended(folder: Path, store: str) -> str:
    """The same for a store whose server has just ended: its last words count too."""
    log = {"vectors": "milvus-lite.log", "graph": "arcadedb.log"}[store]
    return fault(folder, store) or _said(folder / store / log, (*MALFORMED, *CORRUPTED))


def diagnosis(folder: Folder, store: str) -> str:
    """What to tell people of a store whose server has just ended; empty when its data are not the cause."""
    return told(folder, store, fault_of_ended(folder.path, store))


def told(folder: Folder, store: str, why: str) -> str:
    """The damage with the way out, as a sentence for people; empty for none."""
    return f"the data of {folder.path / store} are damaged ({why}): {way_out(folder, store)}" if why else ""


def way_out(folder: Folder, store: str) -> str:
    """What to do about a damaged store."""
    command = f"lightstream rebuild {REBUILT[store]} --fresh{folder.option}"
    return f"`{command}` moves them aside and makes them anew from the log"


def _sqlite(file: Path) -> str:
    with suppress(OSError):
        if any(_size(file.with_name(file.name + journal)) for journal in ("-wal", "-journal")) or not _size(file):
            return ""
        with file.open("rb") as opened:
            header = opened.read(100)
        if len(header) < 100 or not header.startswith(SQLITE):
            return f"{file.name} is not a database"
        page = int.from_bytes(header[16:18]) or 1
        page = 65536 if page == 1 else page
        counted = header[24:28] == header[92:96]  # else older code wrote it, and the count may be too small
        whole = page * int.from_bytes(header[28:32])
        if counted and _size(file) < whole:
            return f"{file.name} has {_size(file)} of its {whole} bytes"
    return ""


def graph_cut_short(graph: Path) -> str:
    """Which of ArcadeDB's files in the graph's folder has lost its end; it would open them, and miss what is gone.

    Their lengths are known where the server was stopped in good order; else what it was doing is in its journal.
    """
    database, noted = graph / DATABASE, graph / LENGTHS
    with suppress(OSError, ValueError, TypeError, AttributeError):
        if any(database.glob("*.wal")):
            return ""
        lengths: dict[str, int] = json.loads(noted.read_text("utf-8"))
        for name, length in lengths.items():
            if (size := _size(database / name)) < length:
                return f"{name} has {size} of its {length} bytes"
    return ""


def note_lengths(graph: Path) -> None:
    """Keep the lengths of the graph's files, whose server has stopped in good order."""
    files = [file for file in (graph / DATABASE).glob("*") if file.suffix in KINDS]
    with suppress(OSError):
        (graph / LENGTHS).write_text(json.dumps({file.name: _size(file) for file in files}), "utf-8")


def forget_lengths(graph: Path) -> None:
    """The graph's files are about to change."""
    (graph / LENGTHS).unlink(missing_ok=True)


def _said(log: Path, signs: tuple[str, ...], start: str = "") -> str:
    """The first line of the log's end with one of the signs, from the server's last start on."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()[-LINES:]
    except OSError:
        return ""
    begun = max((number for number, line in enumerate(lines) if start and start in line), default=0)
    return next((line.strip()[-200:] for line in lines[begun:] if any(sign in line for sign in signs)), "")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
