"""Uploads whose pages have to be recognized: these are answered first, and go on in the background.

How far one is only the process knows that took it; once it is read the log has its text, and one
that a restart ends must be sent again.
"""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import structlog

from contracts.ids import path_id
from runtime.errors import ServiceError
from services.gateway.documents.adding import DocumentPublisher, IngestRequest
from services.gateway.documents.models import Document
from services.gateway.documents.uploading import (
    ReadLimits,
    Recognizing,
    UploadedFile,
    UploadOptions,
    UploadResult,
    accepted_name,
    upload,
)

logger = structlog.get_logger(__name__)

MAX_READINGS = 100
"""Uploads that a process remembers at most: the newest ones."""

MOST_AT_ONCE = 20
"""Files that are recognized and hold no place among those that are parsed; each is in memory."""


@dataclass
class FileReading:
    """An upload whose pages are recognized. Times in seconds since 1970; `error`: why it ended
    without a document.
    """

    workspace: str
    track_id: str
    name: str
    sha256: str
    page_count: int = 0
    pages: int = 0
    is_done: bool = False
    error: str = ""
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)
    recognition_start: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def document_id(self) -> str:
        """Return the id that the document will have."""
        return path_id(self.name)

    @property
    def message(self) -> str:
        """Return how far it is."""
        return f"{self.name}: {self.pages} of {self.page_count} pages are recognized"

    def show_page(self, number: int, count: int) -> None:
        """Take that so many pages have been recognized."""
        self.pages = number
        self.page_count = count
        self.updated_at = time.time()
        self.recognition_start.set()

    def as_document(self) -> Document:
        """Return it as the document that it becomes: `parsing`, or `failed` with the reason."""
        return Document(
            id=self.document_id,
            content_summary=self.message,
            content_length=0,
            status="failed" if self.error else "parsing",
            created_at=_shown(self.created_at),
            updated_at=_shown(self.updated_at),
            track_id=self.track_id,
            chunks_count=0,
            error_msg=self.error or None,
            metadata={"recognized_pages": self.pages, "pages_to_recognize": self.page_count},
            file_path=self.name,
        )


class Readings:
    """The uploads of this process whose pages are, or were, recognized."""

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._readings: dict[str, tuple[FileReading, asyncio.Task[UploadResult]]] = {}

    async def upload(
        self, publisher: DocumentPublisher, file: UploadedFile, options: UploadOptions
    ) -> UploadResult | FileReading:
        """Return the document once the log has it; where pages have to be recognized, how far that
        is, and it goes on by itself. Raises as `uploading.upload`.

        The same file under the same name is recognized once at a time.
        """
        name = accepted_name(file.name, folders=options.folders, services=self._limits.services)
        if running_reading := self._running(publisher.workspace, name, file.sha256):
            return running_reading
        request = IngestRequest.of("upload", options.key, f"{file.sha256}/{name}")
        reading = FileReading(publisher.workspace, request.id, name, file.sha256)
        turn = partial(self._limits.page_slots.hold, publisher.workspace)
        recognizing = Recognizing(partial(self._show_page, reading), turn)
        work = upload(publisher, file, options, self._limits, request, recognizing)
        task = asyncio.create_task(work)
        recognition_start = asyncio.create_task(reading.recognition_start.wait())
        try:
            await asyncio.wait({task, recognition_start}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            recognition_start.cancel()
        if task.done():
            return task.result()
        self._readings = dict(
            [*self._readings.items(), (request.id, (reading, task))][-MAX_READINGS:]
        )
        task.add_done_callback(partial(_end, reading))
        return reading

    def _show_page(self, reading: FileReading, number: int, count: int) -> bool:
        """Return whether another file may be parsed meanwhile: few are in memory."""
        reading.show_page(number, count)
        return sum(not item.is_done for item, _ in self._readings.values()) < MOST_AT_ONCE

    def of_track(self, workspace: str, track_id: str) -> FileReading | None:
        """Return the upload of that track id, where this process took it."""
        reading, _ = self._readings.get(track_id, (None, None))
        return reading if reading and reading.workspace == workspace else None

    def _running(self, workspace: str, name: str, sha256: str) -> FileReading | None:
        key = (workspace, name, sha256, False)
        readings = (reading for reading, _ in self._readings.values())
        return next(
            (
                reading
                for reading in readings
                if (reading.workspace, reading.name, reading.sha256, reading.is_done) == key
            ),
            None,
        )


def _end(reading: FileReading, task: asyncio.Task[UploadResult]) -> None:
    """Take what became of an upload."""
    reading.is_done = True
    reading.updated_at = time.time()
    if task.cancelled():
        reading.error = "it was not read to the end: send the file again"
    elif error := task.exception():
        is_told = isinstance(error, ServiceError)
        reading.error = str(error) if is_told else "reading it failed: send the file again"
        if not is_told:
            logger.error("an upload failed", exc_info=error)


def _shown(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
