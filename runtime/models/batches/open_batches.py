"""The open batches of one model, as this process knows them."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from runtime.concurrency.key_locks import KeyLocks
from runtime.models.batches.records import BatchRecord, BatchRecords, StoredRecord


@dataclass
class OpenBatches:
    """The records of one model at one host, read again whenever any has changed."""

    records: BatchRecords
    model: str
    address: str
    _open: dict[str, StoredRecord] = field(default_factory=dict[str, StoredRecord])
    _places: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    _state: Hashable = None
    _locks: KeyLocks = field(default_factory=KeyLocks)

    async def refresh(self, *, again: bool = True) -> None:
        """Read the records, if any has changed; not `again`: if they never were read. Raises
        `Unavailable`.
        """
        if not again and self._state is not None:
            return
        async with self._locks.hold(["records"]):
            state = await self.records.values.state()
            if state == self._state:
                return
            provider = self.model, self.address
            self._open = {
                record.batch.key: record
                for record in await self.records.read()
                if (record.batch.model, record.batch.address) == provider
            }
            self._places = {
                key: self._places.get(key) or _places(record.batch)
                for key, record in self._open.items()
            }
            self._state = state

    def all(self) -> list[StoredRecord]:
        """Return every open batch."""
        return list(self._open.values())

    def of(self, workspace: str) -> list[BatchRecord]:
        """Return the open batches of a workspace."""
        records = self._open.values()
        return [record.batch for record in records if record.batch.workspace == workspace]

    def record_of(self, batch: BatchRecord) -> StoredRecord | None:
        """Return the record of a batch; None where it is no longer open."""
        return self._open.get(batch.key)

    def batch_with(self, workspace: str, key: str) -> BatchRecord | None:
        """Return the batch in which the call with this key stands."""
        batches = self.of(workspace)
        return next((batch for batch in batches if key in self._places[batch.key]), None)

    def line_of(self, batch: BatchRecord, key: str) -> str:
        """Return the id of the line of the call with this key."""
        return batch.line_id(self._places[batch.key][key])

    async def replace(self, record: StoredRecord, **changes: Any) -> StoredRecord | None:
        """Change a record; None where another replica has done so meanwhile."""
        batch = record.batch.model_copy(update=changes)
        changed_record = await self.records.replace(record, batch)
        if changed_record is not None:
            self._open[batch.key] = changed_record
            self._places.setdefault(batch.key, _places(batch))
        return changed_record

    async def drop(self, batch: BatchRecord) -> None:
        """Close a batch."""
        await self.records.drop(batch)
        self._open.pop(batch.key, None)


def _places(batch: BatchRecord) -> dict[str, int]:
    return {call.key: place for place, call in enumerate(batch.calls)}
