"""Notes that rebuilds leave on the bus: generations that are filled and wait for promotion, and how
long one took.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from nats.js import JetStreamContext

from contracts.graph import Projection
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus.generations import OwnGeneration
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import SharedValues
from runtime.errors import Unavailable

KEY = "rebuild_candidate"

MAX_REMINDERS = 2000
"""Events that a note has room for; what others name is summarised at its next change."""


@dataclass(frozen=True)
class Candidate:
    """Generations that `rebuild start` has filled. `position`: place, as it is stored, up to which
    the log is in them.

    `newer`: the events that were left out because their version is newer than that code.
    `reminders`: the events that name what lacks summaries, at most MAX_REMINDERS. `own_fields`:
    the generations of vectors of workspaces with a model of their own.
    """

    generations: Mapping[Projection, int]
    position: int | Sequence[int]
    newer: Sequence[Mapping[str, Any]] = ()
    reminders: Sequence[Mapping[str, Any]] = ()
    own_fields: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )

    @property
    def own_generations(self) -> dict[str, OwnGeneration]:
        """Return the generations of `own_fields`."""
        return {workspace: OwnGeneration(**fields) for workspace, fields in self.own_fields.items()}


async def read(values: SharedValues) -> Candidate | None:
    """Return what waits for promotion. Raises `Unavailable`."""
    value, _ = await values.read(KEY)
    return Candidate(**json.loads(value)) if value else None


async def write(values: SharedValues, candidate: Candidate | None) -> None:
    """Note a candidate in place of any other, or that there is none. Raises `Unavailable`."""
    _, revision = await values.read(KEY)
    if not await values.write(
        KEY, json.dumps(asdict(candidate)).encode() if candidate else b"", revision
    ):
        raise Unavailable("another rebuild left its note at the same moment; start again")


async def note_speed(
    values: SharedValues, targets: Sequence[Projection], events: int, seconds: float
) -> None:
    """Note what a rebuild of these projections took."""
    _, revision = await values.read(_speed_key(targets))
    # A note that is lost costs an estimate.
    await values.write(_speed_key(targets), json.dumps([events, seconds]).encode(), revision)


async def plan(
    bus: JetStreamContext, targets: Sequence[Projection], events_per_second: int
) -> dict[str, Any]:
    """Return what a rebuild of these projections would read and make, and seconds: None where none
    was made before.

    Raises ConfigurationError or `Unavailable`.
    """
    streams = await log_streams(bus)
    with translated():
        events = sum([(await bus.stream_info(name)).state.messages for name in streams.names])
    pointers, _ = await (await NatsLiveGenerations.bind(bus)).read()
    value, _ = await (await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)).read(
        _speed_key(targets)
    )
    before, seconds = json.loads(value) if value else (0, 0.0)
    estimate = round(seconds * events / before, 1) if before else None
    if estimate is not None and events_per_second:
        estimate = round(max(estimate, events / events_per_second), 1)
    return {
        "targets": list(targets),
        "events": events,
        "seconds": estimate,
        "generations": {target: pointers[target].highest + 1 for target in targets},
        "dropped": {
            target: previous_generation
            for target in targets
            if (previous_generation := pointers[target].previous) is not None
        },
    }


def _speed_key(targets: Sequence[Projection]) -> str:
    return f"rebuild_speed.{'-'.join(targets)}"
