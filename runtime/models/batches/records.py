"""The record of each batch, on the bus: it is written before the batch is submitted, and found
again after any crash.

The open batches of a workspace are listed under one key, which is replaced by compare-and-swap: so
of two replicas that gathered the same call only one submits it.
"""

import json
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from contracts import subjects
from runtime.bus.port import SharedValues

LIST = "open"
"""The last part of the key under which the batches of a workspace are listed."""


class BatchedCall(BaseModel):
    """One call in a batch: for which result, of which version of a document, and the tokens it is
    expected to read and write.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    document: str
    version: int
    prompt: int = 0
    completion: int = 0


class BatchRecord(BaseModel):
    """A batch, from before it is submitted until its answers are used. Times are seconds since
    1970. No text is in it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    workspace: str
    model: str
    address: str
    """Host of the provider."""
    calls: tuple[BatchedCall, ...]
    made_at: float
    tried_at: float
    """When somebody last began to submit it, or to look whether it was submitted."""
    id: str = ""
    """The provider's id of it; empty until that is known."""
    looked_at: float = 0.0
    answer_count: int = 0
    ended_at: float = 0.0
    failure: str = ""
    """Why the provider has taken none of it."""

    def line_id(self, place: int) -> str:
        """Return the id of the line with the call at this place."""
        return f"{self.key}-{place}"


@dataclass(frozen=True)
class StoredRecord:
    """A record and its revision on the bus."""

    batch: BatchRecord
    revision: int


@dataclass(frozen=True)
class Listing:
    """The open batches of a workspace, the keys that their list has, and its revision."""

    records: list[StoredRecord]
    keys: tuple[str, ...]
    revision: int


@dataclass(frozen=True)
class BatchRecords:
    """The records of all workspaces. Every method raises `Unavailable` when the bus does not
    answer.
    """

    values: SharedValues

    async def read(self) -> list[StoredRecord]:
        """Return the records of all open batches."""
        records: list[StoredRecord] = []
        for name in await self.values.keys():
            token, _, ending = name.partition(".")
            if ending == LIST:
                records += (await self._read_listed(token)).records
        return records

    async def read_workspace(self, workspace: str) -> Listing:
        """Return the open batches of one workspace."""
        return await self._read_listed(subjects.token(workspace))

    async def claim(self, batch: BatchRecord, listing: Listing) -> bool:
        """Write a new record and list it; False where the list is another one by now."""
        token = subjects.token(batch.workspace)
        await self._write(batch, (await self.values.read(f"{token}.{batch.key}"))[1])
        keys = _listing([*listing.keys, batch.key])
        return await self.values.write(f"{token}.{LIST}", keys, listing.revision)

    async def replace(self, record: StoredRecord, batch: BatchRecord) -> StoredRecord | None:
        """Replace a record; None where somebody else has done so meanwhile."""
        if not await self._write(batch, record.revision):
            return None
        token = subjects.token(batch.workspace)
        return StoredRecord(batch, (await self.values.read(f"{token}.{batch.key}"))[1])

    async def drop(self, batch: BatchRecord) -> None:
        """Take a batch off the list, and its record away. Repeats change nothing."""
        token = subjects.token(batch.workspace)
        while True:
            value, revision = await self.values.read(f"{token}.{LIST}")
            keys = [key for key in _keys_in(value) if key != batch.key]
            if len(keys) == len(_keys_in(value)):
                break
            if await self.values.write(f"{token}.{LIST}", _listing(keys), revision):
                break
        value, revision = await self.values.read(f"{token}.{batch.key}")
        if value:
            await self.values.write(f"{token}.{batch.key}", b"", revision)

    async def _read_listed(self, token: str) -> Listing:
        value, at = await self.values.read(f"{token}.{LIST}")
        keys = _keys_in(value)
        records: list[StoredRecord] = []
        for key in keys:
            record, revision = await self.values.read(f"{token}.{key}")
            try:
                records.append(StoredRecord(BatchRecord.model_validate_json(record), revision))
            except ValidationError:  # it was dropped meanwhile, or a newer version wrote it
                continue
        return Listing(records, tuple(keys), at)

    async def _write(self, batch: BatchRecord, revision: int) -> bool:
        token = subjects.token(batch.workspace)
        return await self.values.write(
            f"{token}.{batch.key}", batch.model_dump_json().encode(), revision
        )


def _listing(keys: list[str]) -> bytes:
    return json.dumps(keys).encode()


def _keys_in(value: bytes) -> list[str]:
    return [str(key) for key in json.loads(value)] if value else []
