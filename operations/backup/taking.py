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

from contracts.topology import MiB
from contracts.values import BlobRef
from operations.backup import manifest as manifests
from operations.backup.bus_state import copy_bus_state
from operations.backup.manifest import Blob, Manifest, put_file
from operations.backup.parts import read_part, without, write_part
from runtime.bus.chain import erased_by
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import read_records, unreadable
from runtime.bus.nats.log_streams import sole_stream
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
    stream: str = field(init=False)
    """The stream that is copied."""
    new_count: int = 0
    """Events that this run has copied."""

    async def run(self, since: int | None = None) -> Manifest:
        """Copy what the folder lacks. The manifest is complete but for the digests.

        Raises InvalidInput where the folder holds another log or begins elsewhere than `since`,
        `LogDamaged` where the log holds less than the folder, `Unavailable` without the bus.
        """
        self.stream = await sole_stream(self.jetstream, "a backup")
        await self._begin(since)
        await copy_bus_state(self.jetstream, self.folder, self.manifest)
        with translated():
            end = (await self.jetstream.stream_info(self.stream)).state.last_seq
        async with aclosing(self._parts(end)) as parts:
            async for records in parts:
                await self._add(records)
                self.report({"events": self.new_count, "position": self.manifest.last, "end": end})
        tail = range(self.manifest.last + 1, end + 1)
        self.manifest.unreadable += await unreadable(self.jetstream, self.stream, tail)
        self.manifest.last = max(end, self.manifest.last)
        await self._copy_missing_blobs()
        self.manifest.taken_at, self.manifest.complete = (
            datetime.now(UTC).isoformat(timespec="seconds"),
            True,
        )
        manifests.write(self.folder, self.manifest)
        self._remove_unnamed_files()
        return self.manifest

    async def _begin(self, since: int | None) -> None:
        manifest = manifests.read(self.folder)
        if manifest is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise InvalidInput(
                    f"{self.folder} holds other files: name an empty folder, or one of a backup"
                )
            await self._require_reached(since or 0)
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            manifest = Manifest(since=since or 0, last=since or 0)
        elif since not in (None, manifest.since):
            raise InvalidInput(
                f"the backup in {self.folder} begins behind sequence {manifest.since}: "
                "leave --since out to go on with it"
            )
        self.manifest = manifest
        await self._require_same_log()
        self.manifest.complete = False

    async def _require_reached(self, since: int) -> None:
        """Refuse a beginning that the log has not reached: for a new folder that is a slip, and not
        a loss.
        """
        with translated():
            end = (await self.jetstream.stream_info(self.stream)).state.last_seq
        if since > end:
            raise InvalidInput(
                f"the log ends at sequence {end}: nothing is behind {since} yet; give a "
                "smaller --since"
            )

    async def _require_same_log(self) -> None:
        """Compare the last event of the backup that is still in the log with the log's."""
        with translated():
            state = (await self.jetstream.stream_info(self.stream)).state
        if state.last_seq < self.manifest.last:
            raise LogDamaged(
                f"the log ends at sequence {state.last_seq}, and the backup in {self.folder} at "
                f"{self.manifest.last}: the log lost events, or is another one; "
                "`lightstream restore` puts them into an empty stack"
            )
        for part in self.manifest.events[::-1]:
            for backup_record in read_part(self.folder, part)[::-1]:
                record = await self._record_at(backup_record.sequence)
                if record and leaf(record) != leaf(backup_record):
                    raise InvalidInput(
                        f"sequence {backup_record.sequence} of the log is another event than in "
                        f"{self.folder}: another log"
                    )
                return

    async def _record_at(self, sequence: int) -> Record | None:
        async with aclosing(read_records(self.jetstream, self.stream, sequence - 1)) as pages:
            async for page in pages:
                return page[0] if page[0].sequence == sequence else None
        return None

    async def _parts(self, end: int) -> AsyncGenerator[list[Record]]:
        """Yield the records behind the backup's end, up to `end`, as many at once as a part
        holds.
        """
        records: list[Record] = []
        size = 0
        if end <= self.manifest.last:
            return
        async with aclosing(read_records(self.jetstream, self.stream, self.manifest.last)) as pages:
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

    async def _add(self, records: Sequence[Record]) -> None:
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
            for sequence in range(self.manifest.last + 1, records[-1].sequence)
            if sequence not in sequences
        ]
        self.manifest.unreadable += await unreadable(self.jetstream, self.stream, holes)
        kept_records = [record for record in records if record.sequence not in erased_sequences]
        part = write_part(self.folder, f"events/{len(self.manifest.events) + 1:08}", kept_records)
        part = replace(part, first=records[0].sequence, last=records[-1].sequence)
        for blob in part.blobs:
            await self._copy_blob(blob)
        self.manifest.events.append(part)
        self.manifest.last, self.new_count = part.last, self.new_count + len(kept_records)
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
