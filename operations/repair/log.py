"""Plans and makes a repaired log.

It is written to a folder first, as a backup, and verified; only then the stream is made anew from
it. So whatever happens meanwhile, `lightstream restore` can finish the work.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from operations import checkpoints
from operations.backup import manifest as manifests
from operations.backup.bus_state import consumer_floors
from operations.backup.manifest import Manifest
from operations.backup.parts import write_part
from operations.backup.restoring import Restore
from operations.backup.taking import PART_BYTES, PART_MESSAGES
from operations.backup.verifying import verify
from operations.repair.sources import Source
from runtime.bus.chain import erased_by
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.log_streams import sole_stream
from runtime.bus.records import Record, leaf
from runtime.errors import InvalidInput
from runtime.stores.documents.port import Rows

Report = Callable[[dict[str, Any]], None]

PURPOSE = "a repair"

ID = "Nats-Msg-Id"

PAGE = 200
"""Events that are taken from a source at once."""


@dataclass
class RepairPlan:
    """What a repair does. `lost_sequences`: sequences that come back; `changed_sequences`:
    sequences at which the log has another event.

    The log's own event there moves to its end: what was written in another's place is not lost.
    """

    lost_sequences: list[int] = field(default_factory=list[int])
    changed_sequences: list[int] = field(default_factory=list[int])
    last_sequence: int = 0

    @property
    def restored(self) -> list[int]:
        """Return all sequences whose events come from the source, in order."""
        return sorted([*self.lost_sequences, *self.changed_sequences])


async def plan_repair(jetstream: JetStreamContext, source: Source) -> RepairPlan:
    """Compare the log with the source. Raises `Unavailable`."""
    held_leaves: dict[int, str] = {}
    erased_sequences: set[int] = set()
    stream = await sole_stream(jetstream, PURPOSE)
    async with aclosing(read_records(jetstream, stream)) as pages:
        async for page in pages:
            held_leaves |= {record.sequence: leaf(record) for record in page}
            erased_sequences |= {erasure.sequence for erasure in erased_by(page)}
    plan = RepairPlan(last_sequence=max(held_leaves, default=0))
    async with aclosing(source.records()) as records:
        async for record in records:
            erased_sequences |= {erasure.sequence for erasure in erased_by([record])}
            plan.last_sequence = max(plan.last_sequence, record.sequence)
            if record.sequence not in held_leaves:
                plan.lost_sequences.append(record.sequence)
            elif held_leaves[record.sequence] != leaf(record):
                plan.changed_sequences.append(record.sequence)
    plan.lost_sequences = sorted(set(plan.lost_sequences) - erased_sequences)
    plan.changed_sequences = sorted(set(plan.changed_sequences) - erased_sequences)
    return plan


async def write_repaired(
    jetstream: JetStreamContext, source: Source, plan: RepairPlan, folder: Path, report: Report
) -> None:
    """Write the log as it is to be into an empty folder, as a backup. Raises InvalidInput for a
    folder with files.
    """
    _make_empty(folder)
    manifest = Manifest(
        taken_at=datetime.now(UTC).isoformat(timespec="seconds"), undigested="it is a repaired log"
    )
    first_change = min(plan.restored, default=plan.last_sequence + 1)
    floors = await consumer_floors(jetstream)
    manifest.floors = {name: min(floor, first_change - 1) for name, floor in floors.items()}
    buffer: list[Record] = []
    size = 0
    async with aclosing(_merged(jetstream, source, plan)) as records:
        async for record in records:
            buffer.append(record)
            size += len(record.data)
            if len(buffer) >= PART_MESSAGES or size >= PART_BYTES:
                manifest.events.append(
                    write_part(folder, f"events/{len(manifest.events) + 1:08}", buffer)
                )
                buffer = []
                size = 0
                report({"position": manifest.events[-1].last, "end": plan.last_sequence})
    if buffer:
        manifest.events.append(write_part(folder, f"events/{len(manifest.events) + 1:08}", buffer))
    manifest.last, manifest.complete = (
        max(plan.last_sequence, *(part.last for part in manifest.events)),
        True,
    )
    manifests.write(folder, manifest)


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
        async for record in log:
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
    for number, record in enumerate(moved_records, plan.last_sequence + 1):
        yield replace(record, sequence=number)


async def _restored(source: Source, plan: RepairPlan) -> AsyncGenerator[Record]:
    for start in range(0, len(plan.restored), PAGE):
        for record in await source.get(plan.restored[start : start + PAGE]):
            yield record


async def _log(jetstream: JetStreamContext) -> AsyncGenerator[Record]:
    stream = await sole_stream(jetstream, PURPOSE)
    async with aclosing(read_records(jetstream, stream)) as pages:
        async for page in pages:
            for record in page:
                yield record


async def replace_log(
    jetstream: JetStreamContext, rows: Rows, folder: Path, report: Report, replicas: int
) -> int:
    """Make the stream anew from a verified copy, and have services take it for the log. Returns its
    events.

    Raises InvalidInput for a damaged copy, and while services run.
    """
    copy = verify([folder], report)
    if copy.problems:
        raise InvalidInput(f"the copy in {folder} is not sound: {copy.problems[0]}")
    restore = Restore(jetstream, copy, report, replicas)
    await restore.refuse_services()
    stream = await sole_stream(jetstream, PURPOSE)
    with translated():
        await jetstream.delete_stream(stream)
    events = await restore.run()
    await checkpoints.accept_loss(jetstream, rows)
    return events
