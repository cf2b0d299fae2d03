"""How the projections of a stack are: their generations, how far their consumers are, and why one
stands.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nats.js import JetStreamContext

from contracts.graph import PROJECTIONS, Projection
from contracts.registry import CONSUMERS_OF
from contracts.topology import CHECKPOINTS_BUCKET, declared_consumer
from runtime.bus.nats.consumers import read_consumers
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.counts import ParkedCount, count_parked
from runtime.projections import rebuild_candidate
from runtime.projections.partition_progress import PartitionProgress, read_partitions
from runtime.projections.rebuild_lease import RunningRebuild, running
from runtime.projections.verdicts import combined_verdict

INTERVAL = 1.0
"""Seconds between two looks at the consumers of a projection that is behind."""


@dataclass(frozen=True)
class ProjectionProgress:
    """One projection. Positions are sequences of the log, of all its partitions together.

    `lag`: events that its slowest consumer has yet to handle; `rate`: events a second that it
    handled just now; `why`: what keeps it from being current, where anything but time does.
    """

    projection: Projection
    generation: int
    previous: int | None
    candidate: int | None
    """The generation that waits for promotion."""
    cursor: int
    head: int
    lag: int
    rate: float
    state: Literal["current", "behind", "waiting", "lost"]
    why: str


@dataclass(frozen=True)
class _Look:
    cursor: int
    lag: int
    handled_count: int
    """Deliveries that were acknowledged, of the slowest consumer."""


@dataclass(frozen=True)
class ProjectionStates:
    """All projections, the rebuild under way, if there is one, and the partitions of the log, where
    there are several.
    """

    projections: Sequence[ProjectionProgress]
    rebuild: RunningRebuild | None
    partitions: Sequence[PartitionProgress] = ()


async def read_states(bus: JetStreamContext) -> ProjectionStates:
    """Return the states of all projections. Raises ConfigurationError or `Unavailable`."""
    pointers, _ = await (await NatsLiveGenerations.bind(bus)).read()
    values = await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)
    verdict = await combined_verdict(values)
    parked_counts = (await count_parked(NatsParkedEvents(bus))).counts
    first = {name: await _look(bus, CONSUMERS_OF[name]) for name in PROJECTIONS}
    if behind := any(second_look.lag for second_look in first.values()):
        await asyncio.sleep(INTERVAL)
    second = (
        {name: await _look(bus, CONSUMERS_OF[name]) for name in PROJECTIONS} if behind else first
    )
    head = (await NatsLog(bus).end()).event_count
    candidate = await rebuild_candidate.read(values)
    states: list[ProjectionProgress] = []
    for name in PROJECTIONS:
        first_look = second[name]
        rate = (second[name].handled_count - first[name].handled_count) / INTERVAL
        loss = verdict.log or verdict.stores.get(name, "")
        waiting = "; ".join(str(count) for count in parked_counts if _concerns(count, name))
        state = (
            "lost" if loss else "waiting" if waiting else "behind" if first_look.lag else "current"
        )
        cursor = first_look.cursor if first_look.lag else head
        states.append(
            ProjectionProgress(
                name,
                pointers[name].live,
                pointers[name].previous,
                candidate.generations.get(name) if candidate else None,
                cursor,
                head,
                first_look.lag,
                max(rate, 0.0),
                state,
                loss or waiting,
            )
        )
    partitions = await read_partitions(bus)
    return ProjectionStates(
        states, await running(values), partitions if len(partitions) > 1 else ()
    )


def _concerns(parked_count: ParkedCount, projection: Projection) -> bool:
    return not set(CONSUMERS_OF[projection]).isdisjoint(parked_count.durables)


async def _look(bus: JetStreamContext, names: Sequence[str]) -> _Look:
    states = await read_consumers(bus, [declared_consumer(name) for name in names])
    slowest = max(states, key=lambda state: state.lag)
    return _Look(slowest.handled_sequence, slowest.lag, slowest.acknowledged_sequence)
