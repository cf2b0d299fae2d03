"""Where events are that a log may have lost: the archive, or backups."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from operations.backup.parts import read_part
from operations.backup.verifying import VerifiedBackup
from runtime.bus.records import Record
from runtime.projections.log_archive import archive_table, archived_records, key_of, record_in
from runtime.stores.documents.port import Rows


class Source(Protocol):
    """Where events are that a log may have lost."""

    def records(self) -> AsyncGenerator[Record]:
        """Yield all of its events, in any order."""
        ...

    async def get(self, sequences: Sequence[int]) -> list[Record]:
        """Return its events at these sequences, in order."""
        ...


@dataclass
class ArchiveSource:
    """The archive in the document store."""

    rows: Rows

    def records(self) -> AsyncGenerator[Record]:
        """See `Source`."""
        return archived_records(self.rows)

    async def get(self, sequences: Sequence[int]) -> list[Record]:
        """See `Source`."""
        keys = [key_of(sequence) for sequence in sequences]
        records: list[Record] = []
        for partition in await self.rows.partitions("archive"):
            rows = await self.rows.get(archive_table(partition.workspace), keys)
            records += [record_in(row) for row in rows.values()]
        return sorted(records, key=lambda record: record.sequence)


@dataclass
class BackupSource:
    """Backups that follow each other."""

    backup: VerifiedBackup

    async def records(self) -> AsyncGenerator[Record]:
        """See `Source`."""
        for folder, part in self.backup.parts:
            for record in read_part(folder, part):
                yield record

    async def get(self, sequences: Sequence[int]) -> list[Record]:
        """See `Source`."""
        wanted_sequences = set(sequences)
        parts = [
            (f, p)
            for f, p in self.backup.parts
            if any(p.first <= sequence <= p.last for sequence in wanted_sequences)
        ]
        return [
            record
            for folder, part in parts
            for record in read_part(folder, part)
            if record.sequence in wanted_sequences
        ]
