"""Takes a backup: the log from where the last one in the folder ended up to its end now, while
everything goes on.

Each part is whole on disk before the manifest names it, so a backup that was killed goes on behind
its last part.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts.partitions import LogPosition, partition_at, stream_name
from contracts.topology import MiB
from contracts.values import BlobRef
from operations.backup import manifest as manifests
from operations.backup.bus_state import copy_bus_state
from operations.backup.manifest import Blob, Manifest, put_file
from operations.backup.parts import read_part, without, write_part
from operations.backup.placements import copied_placements
from runtime.bus.chain import erased_by
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import read_records, unreadable
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.records import Record, leaf
from runtime.errors import InvalidInput, LogDamaged, Poison

Report = Callable[[dict[str, Any]], None]

PART_MESSAGES = 5000
PART_BYTES = 16 * MiB
"""Most messages and bytes of one part: what a kill can cost, and what is in memory."""


@dataclass
class Backup:
    """One backup under way. `report` hears of each part."""

    jetstream: JetStreamContext
    folder: Path
    report: Report
    manifest: Manifest = field(default_factory=Manifest)
    new_count: int = 0
    """Events that this run has copied."""

    async def run(self, since: int | None = None) -> Manifest:
        """Copy what the folder lacks. The manifest is complete but for the digests.

        Raises InvalidInput where the folder holds another log or begins elsewhere than `since`,
        `LogDamaged` where the log holds less than the folder, `Unavailable` without the bus.
        """
        await self._begin(since)
        await copy_bus_state(self.jetstream, self.folder, self.manifest)
        end = await NatsLog(self.jetstream).end()
        self.manifest.placements = await copied_placements(self.jetstream, end)
        for sequence in end.sequences:
            await self._copy_partition(sequence, end)
        await self._copy_missing_blobs()
        self.manifest.taken_at, self.manifest.complete = (
            datetime.now(UTC).isoformat(timespec="seconds"),
            True,
        )
        manifests.write(self.folder, self.manifest)
        self._remove_unnamed_files()
        return self.manifest

    async def _copy_partition(self, last_sequence: int, end: LogPosition) -> None:
        """Copy what the folder lacks of a partition up to there; the log ends at `end`."""
        stream = stream_name(partition_at(last_sequence))
        async with aclosing(self._parts(stream, last_sequence)) as parts:
            async for records in parts:
                await self._add(stream, records)
                progress = self.manifest.position.progress_to(end)
                self.report({"events": self.new_count, **progress})
        tail = range(self._copied_to(last_sequence) + 1, last_sequence + 1)
        self.manifest.unreadable += await unreadable(self.jetstream, stream, tail)
        self.manifest.advance(last_sequence)

    def _copied_to(self, sequence: int) -> int:
        """Return up to where the partition of that sequence is in the folder."""
        return self.manifest.position.sequences[partition_at(sequence)]

    async def _begin(self, since: int | None) -> None:
        manifest = manifests.read(self.folder)
        count = (await log_streams(self.jetstream)).count
        if count > 1 and since is not None:
            raise InvalidInput(
                f"--since is a place in a log of one partition, and this one has {count}: go on in "
                "the folder of a backup without it"
            )
        if manifest is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise InvalidInput(
                    f"{self.folder} holds other files: name an empty folder, or one of a backup"
                )
            await self._require_reached(since or 0)
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            manifest = Manifest.of_partitions(count, since or 0)
        elif since not in (None, manifest.since):
            raise InvalidInput(
                f"the backup in {self.folder} begins behind sequence {manifest.since}: "
                "leave --since out to go on with it"
            )
        if manifest.partitions != count:
            raise InvalidInput(
                f"the backup in {self.folder} is of a log of {manifest.partitions} partitions, and "
                f"this one has {count}: another log; name an empty folder"
            )
        self.manifest = manifest
        for sequence in manifest.position.sequences:
            await self._require_same_log(sequence)
        self.manifest.complete = False

    async def _require_reached(self, since: int) -> None:
        """Refuse a beginning that the log has not reached: for a new folder that is a slip, and not
        a loss.
        """
        end = (await NatsLog(self.jetstream).end()).event_count
        if since > end:
            raise InvalidInput(
                f"the log ends at sequence {end}: nothing is behind {since} yet; give a "
                "smaller --since"
            )

    async def _require_same_log(self, copied_to: int) -> None:
        """Compare the last event of a partition in the backup that is still in the log with the
        log's.
        """
        partition = partition_at(copied_to)
        stream = stream_name(partition)
        with translated():
            state = (await self.jetstream.stream_info(stream)).state
        if state.last_seq < copied_to:
            raise LogDamaged(
                f"the log ends at sequence {state.last_seq}, and the backup in {self.folder} at "
                f"{copied_to}: the log lost events, or is another one; "
                "`lightstream restore` puts them into an empty stack"
            )
        parts = [part for part in self.manifest.events if partition_at(part.last) == partition]
        for part in parts[::-1]:
            for backup_record in read_part(self.folder, part)[::-1]:
                record = await self._record_at(stream, backup_record.sequence)
                if record and leaf(record) != leaf(backup_record):
                    raise InvalidInput(
                        f"sequence {backup_record.sequence} of the log is another event than in "
                        f"{self.folder}: another log"
                    )
                return

    async def _record_at(self, stream: str, sequence: int) -> Record | None:
        async with aclosing(read_records(self.jetstream, stream, sequence - 1)) as pages:
            async for page in pages:
                return page[0] if page[0].sequence == sequence else None
        return None

    async def _parts(self, stream: str, end: int) -> AsyncGenerator[list[Record]]:
        """Yield the records of a partition behind the backup's end, up to `end`, as many at once as
        a part holds.
        """
        copied_to = self._copied_to(end)
        records: list[Record] = []
        size = 0
        if end <= copied_to:
            return
        async with aclosing(read_records(self.jetstream, stream, copied_to)) as pages:
            async for page in pages:
                for record in page:
                    if record.sequence > end:
                        break
                    records.append(record)
                    size += len(record.data)
                    if len(records) >= PART_MESSAGES or size >= PART_BYTES:
                        yield records
                        records = []
                        size = 0
        if records:
            yield records

    async def _add(self, stream: str, records: Sequence[Record]) -> None:
        """Copy a part with the texts it names, and take what it says was erased out of all
        parts.
        """
        erased_sequences = {erasure.sequence for erasure in erased_by(records)}
        before = self.manifest.messages
        self.manifest.events = [
            without(self.folder, part, erased_sequences) for part in self.manifest.events
        ]
        self.manifest.erased += before - self.manifest.messages
        sequences = {record.sequence for record in records}
        holes = [
            sequence
            for sequence in range(self._copied_to(records[-1].sequence) + 1, records[-1].sequence)
            if sequence not in sequences
        ]
        self.manifest.unreadable += await unreadable(self.jetstream, stream, holes)
        kept_records = [record for record in records if record.sequence not in erased_sequences]
        part = write_part(self.folder, f"events/{len(self.manifest.events) + 1:08}", kept_records)
        part = replace(part, first=records[0].sequence, last=records[-1].sequence)
        for blob in part.blobs:
            await self._copy_blob(blob)
        self.manifest.events.append(part)
        self.manifest.advance(part.last)
        self.new_count += len(kept_records)
        manifests.write(self.folder, self.manifest)

    async def _copy_blob(self, blob: Blob) -> None:
        path = blob_path(self.folder, blob.sha256)
        if path.exists() and path.stat().st_size == blob.size:
            return
        try:
            ref = BlobRef.model_validate(asdict(blob))
            put_file(path, b"".join(await NatsBlobs(self.jetstream).parts(ref)))
        except (Poison, ValueError):  # the event may name anything
            self.manifest.missing_blobs = sorted({*self.manifest.missing_blobs, blob.sha256})

    async def _copy_missing_blobs(self) -> None:
        """Try again what the bus did not have, and forget what no event names any more."""
        wanted_blobs, self.manifest.missing_blobs = {*self.manifest.missing_blobs}, []
        for blob in self.manifest.blobs.values():
            if blob.sha256 in wanted_blobs:
                await self._copy_blob(blob)

    def _remove_unnamed_files(self) -> None:
        manifest = self.manifest
        named_files = {
            self.folder / part.file
            for part in [*manifest.events, manifest.dead, manifest.parked]
            if part
        }
        named_files |= {blob_path(self.folder, blob.sha256) for blob in manifest.blobs.values()}
        for pattern in ("events/*", "blobs/*/*", "dead-*", "parked-*"):
            for path in self.folder.glob(pattern):
                if path not in named_files:
                    path.unlink()


def blob_path(folder: Path, sha256: str) -> Path:
    """Return where a backup keeps a long text."""
    return folder / "blobs" / sha256[:2] / sha256
