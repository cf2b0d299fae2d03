"""Remove messages from the bus so that their bytes are gone: a deletion overwrites them, a purge
only hides them.

In an order that survives a kill anywhere: first the tombstones, then what only the document's
events lead to, then these events themselves. Whoever starts again finds what is left.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby

from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import DocumentErased, ErasedEvent, Event
from contracts.ids import event_id
from contracts.topology import CHECKPOINTS_BUCKET, PARKED_STREAM, UPLOADS_BUCKET
from operations.command_bus import SOURCE
from operations.erasure.plan import ErasurePlan
from publishing.upload_records import UploadRecords
from runtime.batching import batched
from runtime.bus.lineage import command_lineage
from runtime.bus.nats.connection import translated
from runtime.bus.nats.dead_letters import STREAM as DEAD_STREAM
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_integrity import allow_erasure
from runtime.bus.nats.log_streams import log_streams
from runtime.errors import ConfigurationError, Unavailable

BLOB_STREAM = "KB_BLOBS"
LISTED = 2000
"""Events that one tombstone lists."""

AT_ONCE = 16
"""Deletions that are under way at the same time."""


async def refuse_undeletable_log(bus: JetStreamContext) -> None:
    """Raises ConfigurationError for a log that an older version made, whose server deletes no event
    for anybody.
    """
    for stream in (await log_streams(bus)).names:
        with translated():
            config = (await bus.stream_info(stream)).config
        if config.deny_delete:
            raise ConfigurationError(
                f"{stream} was made by an older version, with deny_delete, "
                "which the server never takes back: its messages can be hidden, not erased. "
                "`lightstream backup` and `restore` into a new stack make a log that can"
            )


async def publish_tombstones(bus: JetStreamContext, plan: ErasurePlan, reason: str) -> None:
    """Publish what stays of the events, before any of them goes. Repeats change nothing."""
    log = NatsLog(bus)
    leaves = plan.leaves
    apart = {*plan.answer_leaves, *plan.question_leaves}
    if plan.answers:
        for envelope in plan.answers.rewritten():
            await log.publish(envelope)
    for part, batch in enumerate(batched(sorted(leaves), LISTED)):
        erased_events = tuple(
            ErasedEvent(sequence=sequence, sha256=leaves[sequence], is_apart=sequence in apart)
            for sequence in batch
        )
        tombstone = DocumentErased(
            document_id=plan.history.id, erased=erased_events, part=part, reason=reason
        )
        await log.publish(envelope_of(plan.history.workspace, tombstone, f"{batch[0]}-{batch[-1]}"))


def envelope_of(workspace: str, tombstone: DocumentErased, part_name: str) -> Envelope[Event]:
    """Return the envelope of a tombstone, with an id that is derived from what it is about."""
    return wrap(
        tombstone,
        id=event_id(
            f"{workspace}/{tombstone.document_id}/{part_name}",
            tombstone.type_name(),
            tombstone.part,
        ),
        source=SOURCE,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )


async def remove(bus: JetStreamContext, plan: ErasurePlan) -> None:
    """Delete everything that the plan names. Repeats change nothing. Raises Unavailable."""
    values = await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)
    streams = await log_streams(bus)
    counts = Counter(map(streams.holding, plan.leaves))
    for stream, count in (counts or {streams.of_workspace(plan.history.workspace): 0}).items():
        await allow_erasure(bus, values, stream, count)
    parts = [subjects.blob(blob.key, part) for blob in plan.blobs for part in range(blob.parts)]
    await _delete(bus, BLOB_STREAM, await _places(bus, BLOB_STREAM, parts))
    await _delete(bus, DEAD_STREAM, plan.letters)
    await _delete(bus, PARKED_STREAM, await _places(bus, PARKED_STREAM, plan.parked_subjects))
    # The newest first: a golden question is found by the feedback that it was made of.
    await _delete_events(bus, sorted(plan.question_leaves, reverse=True))
    await _delete_events(bus, sorted(plan.answer_leaves))
    await _delete_events(bus, sorted(plan.derived_leaves))
    await _delete_events(bus, sorted(plan.history.leaves))
    uploads = UploadRecords(await NatsSharedValues.bind(bus, UPLOADS_BUCKET))
    await uploads.remove(plan.history.workspace, [plan.history.id])


async def _places(bus: JetStreamContext, stream: str, subjects: Iterable[str]) -> list[int]:
    """Return the sequences of the messages at these subjects, of which each has one at most."""
    places: list[int] = []
    for subject in subjects:
        try:
            with translated():
                places.append((await bus.get_last_msg(stream, subject, direct=False)).seq or 0)
        except NotFoundError:
            continue
    return places


async def _delete_events(bus: JetStreamContext, sequences: Sequence[int]) -> None:
    """Delete events of the log, which are in several streams where their workspace was moved."""
    streams = await log_streams(bus)
    for stream, of_stream in groupby(sequences, streams.holding):
        await _delete(bus, stream, [*of_stream])


async def _delete(bus: JetStreamContext, stream: str, sequences: Sequence[int]) -> None:
    for batch in batched(sequences, AT_ONCE):
        await asyncio.gather(*(_delete_one(bus, stream, sequence) for sequence in batch))


async def _delete_one(bus: JetStreamContext, stream: str, sequence: int) -> None:
    try:
        with translated():
            await bus.delete_msg(stream, sequence)
    except (Unavailable, APIError):
        # How the server refuses a message that is not there differs from case to case.
        with suppress(NotFoundError), translated():
            await bus.get_msg(stream, sequence, direct=False)
            raise


def total(all_counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts by name."""
    sums: dict[str, int] = {}
    for counts in all_counts:
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
    return sums
