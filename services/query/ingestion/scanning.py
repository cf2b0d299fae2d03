"""Every file of a workspace's folder on the server into the log, in the background.

Each workspace has its folder in INPUT_DIR, of its name, and at most one scan at a time. What became of a scan is known
to the process that began it.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from contracts.ids import path_id
from runtime.errors import InvalidInput, Retryable
from runtime.parsing.files import parse
from runtime.parsing.folders import is_document
from runtime.parsing.names import checked
from services.query.errors import NotFound, NotSupported
from services.query.ingestion.adding import Shelf, Text, Track, add_one
from services.query.ingestion.uploading import Readers

MOST_KNOWN = 100
"""Scans that are remembered."""

MOST_UNCHANGED = 1000
"""Documents that were there already of which a scan keeps the id."""

SHOWN = 20
"""Files of each kind that a scan names."""


class AlreadyRunning(Exception):
    """A scan of the workspace goes on. `track_id` is its own; empty where another process has it."""

    def __init__(self, track_id: str = "") -> None:
        super().__init__("a scan of this workspace is running")
        self.track_id = track_id


@dataclass
class Scan:
    """How far one scan is."""

    track_id: str
    workspace: str
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    message: str = "the folder is being read"
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("found", "processed", "unchanged", "error", "warning"), 0)
    )
    samples: dict[str, list[str]] = field(default_factory=lambda: {"processed": [], "warning": [], "error": []})
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)
    version: int = 0
    unchanged: list[str] = field(default_factory=list[str])
    """Ids of documents that were there already, the first of them."""

    def note(self, kind: str, said: str = "") -> None:
        """Count one file; the first ones are named."""
        self.counts[kind] += 1
        if said and len(self.samples[kind]) < SHOWN:
            self.samples[kind].append(said)
        self.changed()

    def changed(self) -> None:
        """Something about it is new."""
        self.updated_at, self.version = time.time(), self.version + 1


class Scans:
    """The scans of this process."""

    def __init__(self, folder: str, readers: Readers) -> None:
        self._folder, self._readers = Path(folder) if folder else None, readers
        self._known: dict[str, tuple[Scan, asyncio.Task[None]]] = {}

    def start(self, shelf: Shelf) -> Scan:
        """Begin to add every file of the workspace's folder.

        Raises `NotOffered` where INPUT_DIR is not set, `NotThere` where the workspace has no folder in it, and
        `AlreadyRunning` while a scan of the workspace goes on, in this process or in another one of this machine.
        """
        folder = self._folder_of(shelf.workspace)
        if running := self.running(shelf.workspace):
            raise AlreadyRunning(running[0].track_id)
        claim = _claimed(folder)
        track = Track.of("scan")
        scan = Scan(track.id, shelf.workspace)
        task = asyncio.create_task(self._run(folder, shelf, track, scan))
        task.add_done_callback(lambda _: os.close(claim))
        self._known = dict([*self._known.items(), (track.id, (scan, task))][-MOST_KNOWN:])
        return scan

    def _folder_of(self, workspace: str) -> Path:
        if self._folder is None:
            raise NotSupported("INPUT_DIR is not set, so there is no folder to scan: upload the files")
        folder = self._folder / workspace
        if not folder.is_dir():
            raise NotFound(
                f"INPUT_DIR has no folder {workspace}: make it and put the files of this workspace there; files that "
                "lie in INPUT_DIR itself belong to no workspace"
            )
        return folder

    def get(self, workspace: str, track_id: str) -> Scan:
        """How far that scan is. Raises `NotThere`."""
        scan, _ = self._known.get(track_id, (None, None))
        if scan is None or scan.workspace != workspace:
            raise NotFound("no scan of that id is known to this process; track_status has the documents it added")
        return scan

    def unchanged(self, workspace: str, track_id: str) -> list[str]:
        """Ids of documents that the scan found as they were; none for a scan that is not known."""
        scan, _ = self._known.get(track_id, (None, None))
        return scan.unchanged if scan and scan.workspace == workspace else []

    def running(self, workspace: str) -> list[Scan]:
        """The scans of the workspace that go on in this process."""
        known = (scan for scan, _ in self._known.values())
        return [scan for scan in known if scan.workspace == workspace and scan.status == "running"]

    def cancel(self, workspace: str) -> int:
        """Let the scans of the workspace end with the file they are at; how many there were."""
        found = self.running(workspace)
        for scan in found:
            scan.status, scan.message = "cancelled", "cancelled; what was added by then is in the log"
            scan.changed()
        return len(found)

    async def _run(self, folder: Path, shelf: Shelf, track: Track, scan: Scan) -> None:
        try:
            for path in await asyncio.to_thread(lambda: sorted(_files(folder))):
                scan.counts["found"] += 1
                await self._add(folder, path, shelf, track, scan)
                if scan.status == "cancelled":
                    return
            scan.status, scan.message = "completed", f"{scan.counts['found']} files found"
        except (OSError, Retryable) as error:
            scan.message = f"the scan ended early ({type(error).__name__}): start it again"
        finally:
            if scan.status == "running":
                scan.status = "failed"
            scan.changed()

    def _read(self, path: Path) -> bytes:
        # Whoever may write into the folder may put a link in the place of a file at any moment.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            self._readers.refuse_larger(os.fstat(file.fileno()).st_size)
            return file.read()

    async def _add(self, folder: Path, path: Path, shelf: Shelf, track: Track, scan: Scan) -> None:
        name = path.relative_to(folder).as_posix()
        try:
            checked(name)
            async with self._readers.turns.hold(shelf.workspace):
                parsed = await parse(await asyncio.to_thread(self._read, path), name)
            # A name with folders is an id of its own, as on the command line.
            id = path_id(name) if "/" in name else None
            added = await add_one(
                shelf, track, Text(parsed.text, name, id, metadata=parsed.metadata, pages=parsed.pages)
            )
        except (OSError, InvalidInput) as error:
            scan.note("error", str(error) if isinstance(error, InvalidInput) else f"{name}: cannot be read")
        else:
            if parsed.warning:
                scan.note("warning", f"{name}: {parsed.warning}")
            if added.is_new:
                scan.note("processed", name)
            else:
                scan.note("unchanged")
                scan.unchanged += [added.document_id] if len(scan.unchanged) < MOST_UNCHANGED else []


def _files(folder: Path) -> Iterator[Path]:
    """The files below the folder of a kind that is read, without hidden ones and without links."""
    for here, folders, names in os.walk(folder, onerror=_closed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(here, name) for name in names if not name.startswith(".")):
            if not path.is_symlink() and path.is_file() and is_document(path):
                yield path


def _claimed(folder: Path) -> int:
    """Hold the folder for a scan, among the processes of this machine, until the descriptor is closed.

    Raises `AlreadyRunning`.
    """
    claim = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(claim)
        raise AlreadyRunning from None
    except OSError:  # some network file systems lock no folders; the same text twice is one document all the same
        return claim
    return claim


def _closed(error: OSError) -> None:
    raise error
