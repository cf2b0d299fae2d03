"""Scans a workspace's folder on the server in the background, and publishes every file in it as a
document.

A workspace's folder is that of its name in INPUT_DIR. It has at most one scan at a time, whose
progress only the process that started it knows.
"""

import asyncio
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from contracts.ids import path_id
from runtime.errors import InvalidInput, NotFound, Retryable
from runtime.parsing.files import parse
from runtime.parsing.folders import is_document
from runtime.parsing.names import validated_text
from runtime.parsing.routing import OWN_PARSERS, ParsingServices
from services.gateway.documents.adding import (
    DocumentPublisher,
    IngestRequest,
    draft_file,
    publish_drafts,
)
from services.gateway.documents.uploading import ReadLimits
from services.query.errors import NotSupported

MAX_SCANS = 100
"""Scans whose progress a process remembers at most: the newest ones."""

MAX_UNCHANGED = 1000
"""Ids of unchanged documents that a scan records at most."""

MAX_SAMPLES = 20
"""File names that a scan records at most for each outcome."""


class AlreadyRunning(Exception):
    """A scan of the workspace is running. `track_id` is that of the scan, "" when another process
    runs it.
    """

    def __init__(self, track_id: str = "") -> None:
        super().__init__("a scan of this workspace is running")
        self.track_id = track_id


@dataclass
class Scan:
    """The progress of one scan. Times in seconds since 1970; `version` grows with each change."""

    track_id: str
    workspace: str
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    message: str = "the folder is being read"
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("found", "processed", "unchanged", "error", "warning"), 0
        )
    )
    samples: dict[str, list[str]] = field(
        default_factory=lambda: {"processed": [], "warning": [], "error": []}
    )
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)
    version: int = 0
    unchanged_ids: list[str] = field(default_factory=list[str])
    """Ids of documents whose text was in the log already, the first of them."""

    ids: set[str] = field(default_factory=set[str])
    """Ids of the documents that the scan has read the files of."""

    def count(self, kind: str, sample: str = "") -> None:
        """Count one file of this outcome, and record `sample` as a sample of it while there are
        few.
        """
        self.counts[kind] += 1
        if sample and len(self.samples[kind]) < MAX_SAMPLES:
            self.samples[kind].append(sample)
        self.touch()

    def show_page(self, name: str, number: int, count: int) -> None:
        """Say how many pages of a file have been recognized."""
        self.message = f"{name}: {number} of {count} pages are recognized"
        self.touch()

    def touch(self) -> None:
        """Update time and version after a change."""
        self.updated_at = time.time()
        self.version += 1


class Scans:
    """The scans of this process."""

    def __init__(self, folder: str, limits: ReadLimits) -> None:
        self._folder = Path(folder) if folder else None
        self._limits = limits
        self._known: dict[str, tuple[Scan, asyncio.Task[None]]] = {}

    def start(self, publisher: DocumentPublisher) -> Scan:
        """Start a scan of the workspace's folder.

        Raises NotSupported when INPUT_DIR is not set, NotFound when the workspace has no folder in
        it, and AlreadyRunning while a scan of the workspace runs in any process of this machine.
        """
        folder = self._folder_of(publisher.workspace)
        if running := self.running(publisher.workspace):
            raise AlreadyRunning(running[0].track_id)
        lock = _lock_folder(folder)
        request = IngestRequest.of("scan")
        scan = Scan(request.id, publisher.workspace)
        task = asyncio.create_task(self._run(folder, publisher, request, scan))
        task.add_done_callback(lambda _: os.close(lock))
        self._known = dict([*self._known.items(), (request.id, (scan, task))][-MAX_SCANS:])
        return scan

    def _folder_of(self, workspace: str) -> Path:
        if self._folder is None:
            raise NotSupported(
                "INPUT_DIR is not set, so there is no folder to scan: upload the files"
            )
        folder = self._folder / workspace
        if not folder.is_dir():
            raise NotFound(
                f"INPUT_DIR has no folder {workspace}: make it and put the files of this workspace "
                "there; files that lie in INPUT_DIR itself belong to no workspace"
            )
        return folder

    def get(self, workspace: str, track_id: str) -> Scan:
        """Return a scan of this process. Raises NotFound."""
        scan, _ = self._known.get(track_id, (None, None))
        if scan is None or scan.workspace != workspace:
            raise NotFound(
                f"no scan {track_id!r} is known to this process; track_status has the documents "
                "it added"
            )
        return scan

    def unchanged(self, workspace: str, track_id: str) -> list[str]:
        """Return the ids of documents that the scan found unchanged; none for an unknown scan."""
        scan, _ = self._known.get(track_id, (None, None))
        return scan.unchanged_ids if scan and scan.workspace == workspace else []

    def running(self, workspace: str) -> list[Scan]:
        """Return the running scans of the workspace in this process."""
        scans = (scan for scan, _ in self._known.values())
        return [scan for scan in scans if scan.workspace == workspace and scan.status == "running"]

    def cancel(self, workspace: str) -> int:
        """End the running scans of the workspace after their current file, and return how many
        there were.
        """
        scans = self.running(workspace)
        for scan in scans:
            scan.status, scan.message = (
                "cancelled",
                "cancelled; what was added by then is in the log",
            )
            scan.touch()
        return len(scans)

    async def _run(
        self, folder: Path, publisher: DocumentPublisher, request: IngestRequest, scan: Scan
    ) -> None:
        try:
            for path in await asyncio.to_thread(
                lambda: sorted(_documents_in(folder, self._limits.services))
            ):
                scan.counts["found"] += 1
                await self._add(folder, path, publisher, request, scan)
                if scan.status == "cancelled":
                    return
            scan.status, scan.message = "completed", f"{scan.counts['found']} files found"
        except (OSError, Retryable) as error:
            scan.message = f"the scan ended early ({type(error).__name__}): start it again"
        finally:
            if scan.status == "running":
                scan.status = "failed"
            scan.touch()

    def _read(self, folder: Path, name: str) -> bytes:
        with _opened_beneath(folder, name) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError("no file any more")
            self._limits.refuse_larger(status.st_size)
            return file.read()

    async def _add(
        self,
        folder: Path,
        path: Path,
        publisher: DocumentPublisher,
        request: IngestRequest,
        scan: Scan,
    ) -> None:
        name = path.relative_to(folder).as_posix()
        try:
            validated_text(name)
            if path_id(name) in scan.ids:
                raise InvalidInput(
                    f"{name}: another file here has this name in another spelling; rename one "
                    "of them"
                )
            scan.ids.add(path_id(name))
            async with self._limits.slots.hold(publisher.workspace):
                content = await asyncio.to_thread(self._read, folder, name)
                parsed_file = await parse(
                    content,
                    name,
                    services=self._limits.services,
                    on_page=partial(scan.show_page, name),
                )
            draft = await draft_file(
                request, parsed_file, name, keeps_original=self._limits.keeps_originals
            )
            (added_document,) = await publish_drafts(publisher, request, [draft])
        except (OSError, InvalidInput) as error:
            scan.count(
                "error",
                str(error) if isinstance(error, InvalidInput) else f"{name}: cannot be read",
            )
        else:
            if parsed_file.warnings:
                scan.count("warning", f"{name}: {'; '.join(parsed_file.warnings)}")
            if added_document.is_new:
                scan.count("processed", name)
            else:
                scan.count("unchanged")
                scan.unchanged_ids += (
                    [added_document.document_id] if len(scan.unchanged_ids) < MAX_UNCHANGED else []
                )


def _opened_beneath(folder: Path, name: str) -> BinaryIO:
    """Open a file below the folder, by its path from there. Raises OSError where any part of the
    path is a link.

    A user who may write into the folder could replace a file, or a folder above it, with a link
    after it was listed.
    """
    *parents, file_name = name.split("/")
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for parent in parents:
            below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        return os.fdopen(
            os.open(file_name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here), "rb"
        )
    finally:
        os.close(here)


def _documents_in(folder: Path, services: ParsingServices = OWN_PARSERS) -> Iterator[Path]:
    """Yield the files below the folder that are documents, also those that only one of the
    services reads, without hidden files and links.
    """
    for here, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(here, name) for name in names if not name.startswith(".")):
            if not path.is_symlink() and path.is_file() and is_document(path, services):
                yield path


def _lock_folder(folder: Path) -> int:
    """Lock the folder among the processes of this machine, and return the descriptor whose closing
    unlocks it.

    Raises AlreadyRunning.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise AlreadyRunning from None
    # Some network file systems lock no folders; the same text twice is one document all the same.
    except OSError:
        return lock
    return lock


def _raise(error: OSError) -> None:
    raise error
