"""Uploads: those whose pages have to be recognized are answered first, and go on in the background.

How far one is all processes know, by its record; once it is read the log has its text, and one that
a restart ends must be sent again. What is refused has a record, too.
"""

import asyncio
import time
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from publishing.upload_records import BEAT, UploadRecord, UploadRecords
from runtime.errors import InvalidInput, ServiceError, Unavailable
from runtime.parsing.names import printable_name
from services.gateway.documents.adding import DocumentPublisher, IngestRequest
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

MOST_AT_ONCE = 20
"""Files that are recognized and hold no place among those that are parsed; each is in memory."""


@dataclass(eq=False)
class FileReading:
    """An upload that this process reads."""

    workspace: str
    record: UploadRecord
    recognition_start: asyncio.Event = field(default_factory=asyncio.Event)
    change: asyncio.Event = field(default_factory=asyncio.Event)

    def show_page(self, number: int, count: int) -> None:
        """Take that so many pages have been recognized."""
        self._update(replace(self.record, pages=number, page_count=count))
        self.recognition_start.set()

    def end(self, task: asyncio.Task[UploadResult]) -> None:
        """Take what became of it."""
        error = ""
        if task.cancelled():
            error = "it was not read to the end: send the file again"
        elif exception := task.exception():
            is_told = isinstance(exception, ServiceError)
            error = str(exception) if is_told else "reading it failed: send the file again"
            if not is_told:
                logger.error("an upload failed", exc_info=exception)
        self._update(replace(self.record, is_done=True, error=error))

    def _update(self, record: UploadRecord) -> None:
        self.record = replace(record, updated_at=time.time())
        self.change.set()


class Readings:
    """The uploads that this process reads, and the records of those of all processes."""

    def __init__(self, limits: ReadLimits, records: UploadRecords) -> None:
        self._limits = limits
        self.records = records
        self._readings: set[FileReading] = set()
        self._reports: set[asyncio.Task[None]] = set()

    async def upload(
        self, publisher: DocumentPublisher, file: UploadedFile, options: UploadOptions
    ) -> UploadResult | UploadRecord:
        """Return the document once the log has it; where pages have to be recognized, how far that
        is, and it goes on by itself. Raises as `uploading.upload`, and records what is refused.

        The same file under the same name is recognized once at a time, whichever process is asked.
        """
        workspace = publisher.workspace
        name = printable_name(file.name)
        try:
            name = accepted_name(file.name, folders=options.folders, services=self._limits.services)
            with suppress(Unavailable):
                if running := await self.records.running(workspace, name, file.sha256):
                    return running
            request = IngestRequest.of("upload", options.key, f"{file.sha256}/{name}")
            reading = FileReading(workspace, UploadRecord(request.id, name, file.sha256))
            result = await self._read(reading, publisher, file, options, request)
        except InvalidInput as error:
            await self.refuse(workspace, name, error, file.sha256)
            raise
        if not reading.record.page_count:
            await _reported(self.records.remove(workspace, [reading.record.document_id]))
        return result

    async def refuse(
        self, workspace: str, name: str, error: InvalidInput, sha256: str = ""
    ) -> None:
        """Record that a file was refused, so that who sent it finds the reason again."""
        record = UploadRecord(
            IngestRequest.of("upload").id, name, sha256, is_done=True, error=str(error)
        )
        await _reported(self.records.refuse(workspace, record))

    async def _read(
        self,
        reading: FileReading,
        publisher: DocumentPublisher,
        file: UploadedFile,
        options: UploadOptions,
        request: IngestRequest,
    ) -> UploadResult | UploadRecord:
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
        self._readings.add(reading)
        task.add_done_callback(reading.end)
        await self._report(reading)
        report = asyncio.create_task(self._report_until_end(reading))
        self._reports.add(report)
        report.add_done_callback(self._reports.discard)
        return reading.record

    def _show_page(self, reading: FileReading, number: int, count: int) -> bool:
        """Return whether another file may be parsed meanwhile: few are in memory."""
        reading.show_page(number, count)
        return len(self._readings) < MOST_AT_ONCE

    async def _report(self, reading: FileReading) -> UploadRecord:
        """Write the record of an upload as it is now, and return it."""
        reading.change.clear()
        record = replace(reading.record, updated_at=time.time())
        await _reported(self.records.put(reading.workspace, record))
        return record

    async def _report_until_end(self, reading: FileReading) -> None:
        """Say how far it is after each page, and every few seconds that it is still read."""
        is_told = False
        while not is_told:
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT):
                    await reading.change.wait()
            is_told = (await self._report(reading)).is_done
        self._readings.discard(reading)


async def _reported(report: Awaitable[object]) -> None:
    """Wait for a report; one that does not arrive changes nothing about the upload."""
    try:
        await report
    except Unavailable as error:
        logger.warning("the state of an upload could not be noted", reason=str(error))
