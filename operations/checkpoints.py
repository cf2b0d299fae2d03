"""Checkpoints of the generations that a rebuild fills, drops or goes back to; and accepting a loss
of the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nats.js import JetStreamContext

from contracts.graph import Projection
from contracts.partitions import LogPosition
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from operations.digest import Stores
from publishing import documents
from runtime.bus.nats import log_integrity
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log_evidence import collect_log_evidence, observe_log
from runtime.bus.nats.log_integrity import EarlierLook
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import LiveGenerations, Log, SharedValues
from runtime.errors import InvalidInput, Unavailable
from runtime.projections.audit_progress import write_audit_progress
from runtime.projections.checkpoints import (
    WatchedProjection,
    advance,
    describe_debt,
    describe_loss,
    live_state,
    state_of,
)
from runtime.projections.log_archive import accept_holes, begin_anew
from runtime.projections.verdicts import FINDERS, Verdict, combined_verdict, write_verdict
from runtime.stores.documents import schema
from runtime.stores.documents.checkpoints import (
    RowCheckpoints,
    newest_versions,
    read_mark,
    write_mark,
)
from runtime.stores.documents.port import Rows, Table
from runtime.stores.port import Checkpoint, CheckpointStore
from services.query.replay import UNFINISHED


def watched_stores(projection: Projection, stores: Stores) -> WatchedProjection:
    """All stores of a projection."""
    parts: dict[str, CheckpointStore] = {
        "the document store": RowCheckpoints(stores.rows, projection)
    }
    if projection == "graph":
        parts["the graph store"] = stores.graph
    if projection == "vectors":
        parts["the vector store"] = stores.vectors
    return WatchedProjection(projection, parts)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a stack, for whoever fills generations."""

    jetstream: JetStreamContext
    values: SharedValues
    stores: Stores

    @classmethod
    async def open(cls, jetstream: JetStreamContext, stores: Stores) -> "Checkpoints":
        """Open the checkpoints of a stack. Raises ConfigurationError without the bucket."""
        return cls(jetstream, await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET), stores)

    async def record(self, projection: Projection, generation: int, sequence: int) -> None:
        """Record that the generation holds everything up to that sequence."""
        state = await observe_log(self.jetstream)
        projection_state = await state_of(
            watched_stores(projection, self.stores), generation, self.values
        )
        await advance(projection_state, self.values, Checkpoint(sequence, state.created_at))

    async def require_intact(self, projection: Projection, generation: int) -> None:
        """Raises InvalidInput when a store lost what it held of that generation, or was filled from
        a log before.
        """
        projection_state = await state_of(
            watched_stores(projection, self.stores), generation, self.values
        )
        state = await observe_log(self.jetstream)
        why = (
            f"{' and '.join(projection_state.lost)} lost what was in it"
            if projection_state.lost
            else ""
        )
        if (await schema.read(self.stores.rows)).is_owed(projection, generation):
            why = why or "it has been incomplete since an upgrade or a loss"
        if any(
            checkpoint.log != state.created_at or checkpoint.sequence > state.last_sequence
            for _, checkpoint in projection_state.checkpoints
        ):
            why = why or "it holds what the log has lost"
        if why:
            raise InvalidInput(
                f"generation {generation} of {projection} cannot serve again: {why}; "
                f"run `lightstream rebuild {projection}`"
            )


async def require_sound_graph(jetstream: JetStreamContext, stores: Stores) -> None:
    """Raises InvalidInput when the live graph, which vectors are made from, is lost or
    incomplete.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    state = await live_state(
        watched_stores("graph", stores), await NatsLiveGenerations.bind(jetstream), values
    )
    is_owed = (await schema.read(stores.rows)).is_owed("graph", state.generation)
    if state.lost or is_owed:
        reason = describe_loss(state) if state.lost else describe_debt("graph")
        raise InvalidInput(
            f"vectors are made from the graph, and {reason}; run `lightstream rebuild graph` first"
        )


async def require_loss(jetstream: JetStreamContext, rows: Rows) -> str:
    """Return what the log has lost. Raises InvalidInput when it has lost nothing."""
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    if damage := (await combined_verdict(values)).log:
        return damage
    pointers = await NatsLiveGenerations.bind(jetstream)
    names = [consumer.name for consumer in CONSUMERS]
    streams = await log_streams(jetstream)
    earlier_looks = {
        stream: EarlierLook(stored_mark=await read_mark(rows, stream)) for stream in streams.names
    }
    evidence = await collect_log_evidence(jetstream, values, names, earlier_looks)
    versions = await newest_versions(rows, (await pointers.live()).status)
    evidence.add_claims("the document store", versions)
    if damage := await evidence.damage(jetstream, values, hashes=True):
        return damage
    raise InvalidInput("the log has lost nothing that is known of: there is no loss to accept")


async def rewind_consumers(jetstream: JetStreamContext) -> None:
    """Reset consumers that are beyond the end of the log: they would skip new events."""
    for stream in (await log_streams(jetstream)).names:
        end = (await log_integrity.observe(jetstream, stream)).last_sequence
        for consumer in CONSUMERS:
            with translated():
                info = await jetstream.consumer_info(stream, consumer.name)
                if info.delivered and info.delivered.stream_seq > end:
                    await jetstream.reset_consumer(stream, consumer.name, end + 1)


async def accept_loss(jetstream: JetStreamContext, rows: Rows) -> None:
    """Accept the log as it is, so that services write to it again."""
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    streams = (await log_streams(jetstream)).names
    noted_marks = {
        stream: await log_integrity.read_noted_mark(values, stream) for stream in streams
    }
    known_marks = [mark for mark, _ in noted_marks.values()]
    known_marks += [await read_mark(rows, stream) for stream in streams]
    accepted_count = max((mark.accepted for mark in known_marks if mark), default=0) + 1
    end = LogPosition.start(len(streams))
    for stream, (_, revision) in noted_marks.items():
        state = await log_integrity.observe(jetstream, stream)
        log_mark = await log_integrity.mark_of(jetstream, stream, state, accepted_count)
        await write_mark(rows, stream, log_mark)
        if not await log_integrity.note_mark(values, stream, log_mark, revision):
            raise Unavailable("somebody else accepted the loss at the same moment; start again")
        end = end.behind([log_mark.sequence])
    for stage in FINDERS:
        await write_verdict(values, stage, Verdict())
    await write_audit_progress(values, None)
    await begin_anew(rows, values, end)
    for stream, sequence in zip(streams, end.sequences, strict=True):
        await accept_holes(rows, stream, sequence)


async def add_unfinished_again(log: Log, pointers: LiveGenerations, rows: Rows) -> int:
    """Add again the documents whose processing the loss cut off, and return how many."""
    generation = (await pointers.live()).status
    added_count = 0
    for partition in await rows.partitions("documents"):
        if partition.generation != generation:
            continue
        for _, row in await rows.find(Table("documents", partition), {"status": list(UNFINISHED)}):
            again = await documents.reprocess_document(
                log,
                workspace=partition.workspace,
                id=row["id"],
                version=row["version"],
                source="lightstream/rebuild",
            )
            added_count += again is not None
    return added_count


async def drop_others(
    projection: Projection, kept_generations: Sequence[int | None], stores: Stores
) -> None:
    """Remove the checkpoints of dropped generations."""
    await RowCheckpoints(stores.rows, projection).drop_others(kept_generations)
    await schema.forget_others(stores.rows, projection, kept_generations)
