"""How far every durable consumer is, as the server says it."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from nats.js import JetStreamContext

from contracts.partitions import number_at
from contracts.topology import CONSUMERS, Consumer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log_streams import log_streams


@dataclass(frozen=True)
class ConsumerState:
    """One durable. `delivered_sequence` and `handled_sequence` are sequences of its stream, or sums
    of how far it is on each of several; the others count messages.
    """

    name: str
    pending: int
    """Not delivered yet."""
    ack_pending: int
    """Delivered, not acknowledged yet."""
    redelivered_count: int
    """Delivered more than once, not acknowledged yet."""
    delivered_sequence: int
    handled_sequence: int
    """Everything up to it is acknowledged."""
    acknowledged_sequence: int
    """Deliveries that were acknowledged, ever."""

    @property
    def lag(self) -> int:
        """Return how many messages it has yet to handle."""
        return self.pending + self.ack_pending


async def read_consumers(
    jetstream: JetStreamContext, consumers: Sequence[Consumer] = CONSUMERS
) -> Sequence[ConsumerState]:
    """Return the state of each of these durables; by default of all, in the order of the pipeline.

    Raises `Unavailable`.
    """
    return [combined(states) for states in await read_partitioned(jetstream, consumers)]


async def read_partitioned(
    jetstream: JetStreamContext, consumers: Sequence[Consumer] = CONSUMERS
) -> Sequence[Sequence[ConsumerState]]:
    """Return the states of each of these durables in every partition, as `read_consumers` does
    together.
    """
    count = (await log_streams(jetstream)).count
    return [
        [await _state_of(jetstream, durable) for durable in consumer.in_partitions(count)]
        for consumer in consumers
    ]


async def _state_of(jetstream: JetStreamContext, consumer: Consumer) -> ConsumerState:
    with translated():
        info = await jetstream.consumer_info(consumer.stream, consumer.name)
    return ConsumerState(
        name=consumer.name,
        pending=info.num_pending or 0,
        ack_pending=info.num_ack_pending or 0,
        redelivered_count=info.num_redelivered or 0,
        delivered_sequence=number_at(info.delivered.stream_seq) if info.delivered else 0,
        handled_sequence=number_at(info.ack_floor.stream_seq) if info.ack_floor else 0,
        acknowledged_sequence=(info.delivered.consumer_seq if info.delivered else 0)
        - (info.num_ack_pending or 0),
    )


def combined(states: Sequence[ConsumerState]) -> ConsumerState:
    """Return the state of a durable that stands on several streams."""
    return ConsumerState(
        states[0].name,
        *(sum(column) for column in zip(*(astuple(state)[1:] for state in states), strict=True)),
    )
