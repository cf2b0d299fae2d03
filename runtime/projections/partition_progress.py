"""How large each partition of the log is, and how far the projections are with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nats.js import JetStreamContext

from contracts.graph import PROJECTIONS, Projection
from contracts.registry import CONSUMERS_OF
from runtime.bus.nats.connection import translated
from runtime.bus.nats.consumers import ConsumerState, read_partitioned
from runtime.bus.nats.log_streams import log_streams


@dataclass(frozen=True)
class PartitionProgress:
    """One partition. `end`: its newest sequence; `size`: bytes on the bus's disk; `lags`: by
    projection, the events that its slowest consumer has yet to handle here.
    """

    stream: str
    end: int
    events: int
    size: int
    lags: Mapping[Projection, int]


def partition_lags(
    states: Mapping[str, Sequence[ConsumerState]], partition: int
) -> dict[Projection, int]:
    """Return by projection what its slowest consumer has yet to handle of a partition; `states` by
    consumer, and by partition.
    """
    return {
        projection: max(states[name][partition].lag for name in CONSUMERS_OF[projection])
        for projection in PROJECTIONS
    }


async def read_partitions(bus: JetStreamContext) -> list[PartitionProgress]:
    """Return all partitions, in order. Raises `Unavailable`."""
    states = {of_all[0].name: of_all for of_all in await read_partitioned(bus)}
    partitions: list[PartitionProgress] = []
    for number, name in enumerate((await log_streams(bus)).names):
        with translated():
            state = (await bus.stream_info(name)).state
        lags = partition_lags(states, number)
        partitions.append(
            PartitionProgress(name, state.last_seq, state.messages, state.bytes, lags)
        )
    return partitions
