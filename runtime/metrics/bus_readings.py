"""What the bus tells for `/metrics`: every service about its own durables, the query service about
all of it.
"""

from collections.abc import Iterable, Sequence

from nats.js import JetStreamContext

from contracts.graph import PROJECTIONS
from contracts.partitions import LogPosition, is_log
from contracts.registry import CONSUMERS_OF
from contracts.topology import CONSUMERS, STREAMS, Consumer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.consumers import (
    ConsumerState,
    combined,
    read_consumers,
    read_partitioned,
)
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import LiveGenerations, SharedValues
from runtime.bus.write_status import WriteStatus
from runtime.metrics import instruments
from runtime.projections.audit_progress import read_audit_progress
from runtime.projections.partition_progress import partition_lags
from runtime.semantic_conventions import DURABLE, PROJECTION, STREAM

DEAD = "KB_DEAD"
DEAD_SUBJECTS = "dead.*"


async def read_durables(
    bus: JetStreamContext, durables: Sequence[Consumer], writes: WriteStatus
) -> None:
    """Set the gauges of these durables, and whether this process can write. Raises
    `Unavailable`.
    """
    instruments.log_writable.set(0 if writes.refusal or writes.unconfirmed_writes else 1)
    _set_durables(await read_consumers(bus, durables))


async def read_deployment(bus: JetStreamContext, pointers: LiveGenerations) -> None:
    """Set the gauges of all durables, projections and streams. Raises `Unavailable`."""
    in_partitions = {states[0].name: states for states in await read_partitioned(bus)}
    states = {name: combined(of_all) for name, of_all in in_partitions.items()}
    _set_durables(states.values())
    live = await pointers.live()
    for projection in PROJECTIONS:
        lag = max(states[name].lag for name in CONSUMERS_OF[projection])
        instruments.projection_lag.set(lag, {PROJECTION: projection})
        instruments.generation.set(getattr(live, projection), {PROJECTION: projection})
    streams = await log_streams(bus)
    for number, name in enumerate(streams.names):
        for projection, lag in partition_lags(in_partitions, number).items():
            instruments.partition_lag.set(lag, {STREAM: name, PROJECTION: projection})
    for stream in STREAMS:
        if not is_log(stream.name):
            await _read_stream(bus, stream.name)
    ends = [await _read_stream(bus, name) for name in streams.names]
    instruments.log_sequence.set(LogPosition(tuple(ends)).event_count)


async def read_audit(values: SharedValues) -> None:
    """Set the gauges of the rolling audit of the log. Raises `Unavailable`."""
    if progress := await read_audit_progress(values):
        instruments.audit_position.set(progress.position)
        instruments.audit_finished.set(progress.finished_at)
        instruments.audit_problems.set(len(progress.problems))


def _set_durables(states: Iterable[ConsumerState]) -> None:
    for state in states:
        labels = {DURABLE: state.name}
        instruments.durable_pending.set(state.pending, labels)
        instruments.durable_ack_pending.set(state.ack_pending, labels)
        instruments.durable_redelivered.set(state.redelivered_count, labels)


async def _read_stream(bus: JetStreamContext, name: str) -> int:
    """Set the gauges of a stream, and return its last sequence."""
    with translated():
        info = await bus.stream_info(name, subjects_filter=DEAD_SUBJECTS if name == DEAD else None)
    state = info.state
    labels = {STREAM: name}
    instruments.stream_size.set(state.bytes, labels)
    instruments.stream_messages.set(state.messages, labels)
    if name == DEAD:
        letters = state.subjects or {}
        for consumer in CONSUMERS:
            instruments.dead_letters.set(
                letters.get(f"dead.{consumer.name}", 0), {DURABLE: consumer.name}
            )
    return state.last_seq
