"""Plans and makes a repaired log.

It is written to a folder first, as a backup, and verified; only then the stream is made anew from
it. So whatever happens meanwhile, `lightstream restore` can finish the work.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts.partitions import LogPosition, partition_at
from operations import checkpoints
from operations.backup import manifest as manifests
from operations.backup.bus_state import consumer_floors
from operations.backup.manifest import Manifest
from operations.backup.parts import write_part
from operations.backup.placements import copied_placements
from operations.backup.restoring import Restore
from operations.backup.taking import PART_BYTES, PART_MESSAGES
from operations.backup.verifying import verify
from operations.repair.sources import Source
from runtime.bus.chain import erased_by
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.records import Record, leaf
from runtime.errors import InvalidInput
from runtime.stores.documents.port import Rows

Report = Callable[[dict[str, Any]], None]

ID = "Nats-Msg-Id"

PAGE = 200
"""Events that are taken from a source at once."""


@dataclass
class RepairPlan:
    """What a repair does. `lost_sequences`: sequences that come back; `changed_sequences`:
    sequences at which the log has another event.

    The log's own event there moves to the end of its partition: what was written in another's place
    is not lost. `end`: where the log ends, before that.
    """

    lost_sequences: list[int] = field(default_factory=list[int])
    changed_sequences: list[int] = field(default_factory=list[int])
    end: LogPosition = field(default_factory=LogPosition.start)

    @property
    def restored(self) -> list[int]:
        """Return all sequences whose events come from the source, in order."""
        return sorted([*self.lost_sequences, *self.changed_sequences])


async def plan_repair(jetstream: JetStreamContext, source: Source) -> RepairPlan:
    """Compare the log with the source. Raises `Unavailable`."""
    held_leaves: dict[int, str] = {}
    erased_sequences: set[int] = set()
    plan = RepairPlan(end=(await log_streams(jetstream)).start())
    async with aclosing(_log(jetstream)) as pages:
        async for page in pages:
            held_leaves |= {record.sequence: leaf(record) for record in page}
            erased_sequences |= {erasure.sequence for erasure in erased_by(page)}
            plan.end = plan.end.behind([page[-1].sequence])
    async with aclosing(source.records()) as records:
        async for record in records:
            _refuse_other_partitions(record.sequence, plan)
            erased_sequences |= {erasure.sequence for erasure in erased_by([record])}
            plan.end = plan.end.behind([record.sequence])
            if record.sequence not in held_leaves:
                plan.lost_sequences.append(record.sequence)
            elif held_leaves[record.sequence] != leaf(record):
                plan.changed_sequences.append(record.sequence)
    plan.lost_sequences = sorted(set(plan.lost_sequences) - erased_sequences)
    plan.changed_sequences = sorted(set(plan.changed_sequences) - erased_sequences)
    return plan


def _refuse_other_partitions(sequence: int, plan: RepairPlan) -> None:
    if partition_at(sequence) >= len(plan.end.sequences):
        raise InvalidInput(
            f"this log has {len(plan.end.sequences)} partitions, and the source an event of "
            f"partition {partition_at(sequence)}: it is of another log"
        )


async def write_repaired(
    jetstream: JetStreamContext, source: Source, plan: RepairPlan, folder: Path, report: Report
) -> None:
    """Write the log as it is to be into an empty folder, as a backup. Raises InvalidInput for a
    folder with files.
    """
    _make_empty(folder)
    manifest = Manifest.of_partitions(len(plan.end.sequences))
    manifest.taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    manifest.undigested = "it is a repaired log"
    manifest.placements = await copied_placements(jetstream, plan.end)
    unchanged_to = plan.end
    for sequence in plan.restored:
        unchanged_to = unchanged_to.up_to(sequence - 1)
    floors = await consumer_floors(jetstream)
    manifest.floors = {
        name: min(floor, unchanged_to.sequences[partition_at(floor)])
        for name, floor in floors.items()
    }
    buffer: list[Record] = []
    size = 0
    async with aclosing(_merged(jetstream, source, plan)) as records:
        async for record in records:
            is_of_next = buffer and partition_at(record.sequence) != partition_at(
                buffer[-1].sequence
            )
            if is_of_next or len(buffer) >= PART_MESSAGES or size >= PART_BYTES:
                _write_part(folder, manifest, buffer)
                report(manifest.position.progress_to(plan.end))
                buffer = []
                size = 0
            buffer.append(record)
            size += len(record.data)
    if buffer:
        _write_part(folder, manifest, buffer)
    for sequence in plan.end.sequences:
        manifest.advance(sequence)
    manifest.complete = True
    manifests.write(folder, manifest)


def _write_part(folder: Path, manifest: Manifest, records: Sequence[Record]) -> None:
    part = write_part(folder, f"events/{len(manifest.events) + 1:08}", records)
    manifest.events.append(part)
    manifest.advance(part.last)


def _make_empty(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} holds files: name an empty folder for the copy")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


async def _merged(
    jetstream: JetStreamContext, source: Source, plan: RepairPlan
) -> AsyncGenerator[Record]:
    """Yield the repaired log: its own events, those of the source in their places, and in the end
    those moved.
    """
    moved_records: list[Record] = []
    last_record: Record | None = None
    async with (
        aclosing(_restored(source, plan)) as restored_records,
        aclosing(_log(jetstream)) as log,
    ):
        waiting = await anext(restored_records, None)
        async for page in log:
            for record in page:
                while waiting and waiting.sequence <= record.sequence:
                    yield (last_record := waiting)
                    waiting = await anext(restored_records, None)
                if last_record is None or last_record.sequence != record.sequence:
                    yield record
                elif last_record.headers.get(ID) != record.headers.get(ID):
                    # With the same id it is that very event, damaged.
                    moved_records.append(record)
        while waiting:
            yield waiting
            waiting = await anext(restored_records, None)
    end = plan.end
    for record in moved_records:
        sequence = end.sequences[partition_at(record.sequence)] + 1
        end = end.behind([sequence])
        yield replace(record, sequence=sequence)


async def _restored(source: Source, plan: RepairPlan) -> AsyncGenerator[Record]:
    for start in range(0, len(plan.restored), PAGE):
        for record in await source.get(plan.restored[start : start + PAGE]):
            yield record


async def _log(jetstream: JetStreamContext) -> AsyncGenerator[list[Record]]:
    """Yield the log as it is, in the order of its sequences."""
    for stream in (await log_streams(jetstream)).names:
        async with aclosing(read_records(jetstream, stream)) as pages:
            async for page in pages:
                yield page


async def replace_log(
    jetstream: JetStreamContext, rows: Rows, folder: Path, report: Report, replicas: int
) -> int:
    """Make the streams anew from a verified copy, and have services take them for the log. Returns
    how many events they have.

    Raises InvalidInput for a damaged copy, and while services run.
    """
    copy = verify([folder], report)
    if copy.problems:
        raise InvalidInput(f"the copy in {folder} is not sound: {copy.problems[0]}")
    streams = await log_streams(jetstream)
    restore = Restore(jetstream, copy, report, replicas, streams.shares_subjects)
    await restore.refuse_services()
    for stream in streams.names:
        with translated():
            await jetstream.delete_stream(stream)
    events = await restore.run()
    await checkpoints.accept_loss(jetstream, rows)
    return events
