"""What all processes know of uploads that are no documents: those whose pages are being recognized,
and those that were refused, in one value of the bus for each workspace.

It is not the truth: a lost value loses no document. A process says every few seconds that it still
reads a file; of one that says nothing any more the upload is interrupted.
"""

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace

from contracts.ids import path_id
from contracts.spelling import spellings
from contracts.subjects import token
from runtime.bus.port import SharedValues

MAX_RECORDS = 200
"""Uploads that are remembered of a workspace: the newest ones."""

BEAT = 5.0
"""Seconds after which a process says again that it reads a file."""

SILENCE = 30.0
"""Seconds without a word after which an upload counts as interrupted."""

INTERRUPTED = "the process that read it ended before it was done: send the file again"


@dataclass(frozen=True)
class UploadRecord:
    """An upload as all processes know it. Times in seconds since 1970; `error`: why it ended
    without a document.
    """

    track_id: str
    name: str
    sha256: str
    page_count: int = 0
    pages: int = 0
    is_done: bool = False
    error: str = ""
    created_at: float = field(default_factory=time.time)
    updated_at: float = field(default_factory=time.time)

    @property
    def document_id(self) -> str:
        """Return the id that the document has, or would have."""
        return path_id(self.name)

    @property
    def message(self) -> str:
        """Return how far it is."""
        if not self.page_count:
            return f"{self.name}: refused"
        return f"{self.name}: {self.pages} of {self.page_count} pages are recognized"

    @property
    def is_running(self) -> bool:
        """Return whether a process is reading the file."""
        return not self.is_done and not self.error


Change = Callable[[list[UploadRecord]], list[UploadRecord]]


@dataclass(frozen=True)
class UploadRecords:
    """Reads and writes the records of uploads. Raises `Unavailable`."""

    values: SharedValues

    async def of(self, workspace: str) -> list[UploadRecord]:
        """Return the uploads of a workspace, the newest first."""
        records = (await self._read(workspace))[0]
        moment = time.time()
        return [_seen_at(moment, record) for record in reversed(records)]

    async def of_track(self, workspace: str, track_id: str) -> UploadRecord | None:
        """Return the upload of that track id."""
        records = await self.of(workspace)
        return next((record for record in records if record.track_id == track_id), None)

    async def running(self, workspace: str, name: str, sha256: str) -> UploadRecord | None:
        """Return the upload of the same file under the same name that some process is reading."""
        for record in await self.of(workspace):
            if record.is_running and (record.name, record.sha256) == (name, sha256):
                return record
        return None

    async def put(self, workspace: str, record: UploadRecord) -> None:
        """Write a record in the place of the one with its track id."""
        await self._change(workspace, lambda records: _with(records, record))

    async def refuse(self, workspace: str, record: UploadRecord) -> None:
        """Write that a file was refused, in the place of what was refused of that name before."""
        await self._change(
            workspace, lambda records: _with(_without(records, [record.document_id]), record)
        )

    async def remove(self, workspace: str, document_ids: Collection[str]) -> int:
        """Remove what ended of uploads under these ids of documents; return how many there were."""
        records = (await self._read(workspace))[0]
        count = len(records) - len(_without(records, document_ids))
        if count:
            await self._change(workspace, lambda records: _without(records, document_ids))
        return count

    async def clear(self, workspace: str) -> int:
        """Remove all uploads that ended; return how many there were."""
        ended_records = [record for record in await self.of(workspace) if not record.is_running]
        return await self.remove(workspace, {record.document_id for record in ended_records})

    async def _read(self, workspace: str) -> tuple[list[UploadRecord], int]:
        value, revision = await self.values.read(token(workspace))
        return [UploadRecord(**fields) for fields in json.loads(value or b"[]")], revision

    async def _change(self, workspace: str, change: Change) -> None:
        """Change them whatever other processes change meanwhile."""
        is_written = False
        while not is_written:
            records, revision = await self._read(workspace)
            value = json.dumps([asdict(record) for record in change(records)[-MAX_RECORDS:]])
            is_written = await self.values.write(token(workspace), value.encode(), revision)


def _seen_at(moment: float, record: UploadRecord) -> UploadRecord:
    is_silent = record.is_running and moment - record.updated_at > SILENCE
    return replace(record, error=INTERRUPTED) if is_silent else record


def _with(records: Sequence[UploadRecord], record: UploadRecord) -> list[UploadRecord]:
    return [*(entry for entry in records if entry.track_id != record.track_id), record]


def _without(records: Sequence[UploadRecord], document_ids: Collection[str]) -> list[UploadRecord]:
    ids = {spelling for id in document_ids for spelling in spellings(id)}
    moment = time.time()
    return [
        record
        for record in records
        if record.document_id not in ids or _seen_at(moment, record).is_running
    ]
