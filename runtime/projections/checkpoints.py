"""Compare the stores of a projection with their checkpoint on the bus, and advance both.

The checkpoint goes into every store of the projection first, and onto the bus after that. So a
store never holds less than the note says, unless it was lost or replaced by an older copy.
"""

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from contracts.graph import PROJECTIONS, Projection
from runtime.bus.port import LiveGenerations, SharedValues
from runtime.stores.port import Checkpoint, CheckpointStore

SECOND_LOOK = 1.0
"""Seconds after which a store that seems to have lost something is asked once more: it may just
have started.
"""


@dataclass(frozen=True)
class WatchedProjection:
    """A projection with its stores by name. `durables`: those that fill it, where this service
    does; else none.

    `held_durables`: the durables of this service that take nothing in while the projection is
    incomplete, for what they make rests on it.
    """

    projection: Projection
    parts: Mapping[str, CheckpointStore]
    durables: tuple[str, ...] = ()
    held_durables: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProjectionState:
    """The checkpoint of a generation on the bus, and those in each of its stores."""

    watch: WatchedProjection
    generation: int
    note: Checkpoint | None
    parts: Mapping[str, Checkpoint | None]

    @property
    def lost(self) -> list[str]:
        """Return the stores that hold less than the bus notes."""
        note = self.note
        if note is None:
            return []
        return [
            name
            for name, checkpoint in self.parts.items()
            if checkpoint is None or checkpoint.sequence < note.sequence
        ]

    @property
    def checkpoints(self) -> list[tuple[str, Checkpoint]]:
        """Return the existing checkpoints by name: of each store, and the note on the bus."""
        candidates = [*self.parts.items(), ("the bus", self.note)]
        return [(name, checkpoint) for name, checkpoint in candidates if checkpoint]


async def live_state(
    projection: WatchedProjection, pointers: LiveGenerations, values: SharedValues
) -> ProjectionState:
    """Return the state of the live generation. Raises `Unavailable` when the bus or a store does
    not answer.
    """
    state = await state_of(projection, (await pointers.live()).of(projection.projection), values)
    if state.lost:
        await asyncio.sleep(SECOND_LOOK)
        # Meanwhile another generation may have been made the live one.
        state = await state_of(
            projection, (await pointers.live()).of(projection.projection), values
        )
    return state


async def state_of(
    watch: WatchedProjection, generation: int, values: SharedValues
) -> ProjectionState:
    """Return the state of a generation. The note is read first: a store that was written meanwhile
    holds more.
    """
    note, _ = await read_note(values, watch.projection, generation)
    parts = {name: await part.checkpoint(generation) for name, part in watch.parts.items()}
    return ProjectionState(watch, generation, note, parts)


async def begin(watch: WatchedProjection, generation: int, values: SharedValues, log: str) -> None:
    """Put a checkpoint of sequence 0 into every store of a generation, and note it. Greater ones
    stay.

    Before the first events written there count as handled: stores lost right after that are
    noticed, too. `log`: when the log was created.
    """
    start = Checkpoint(0, log)
    for part in watch.parts.values():
        await part.put_checkpoint(generation, start)
    await write_note(values, watch.projection, generation, start)


async def advance(state: ProjectionState, values: SharedValues, checkpoint: Checkpoint) -> None:
    """Put the checkpoint into every store that has a lesser one, then note it. Sequence 0 is that
    of `begin`.
    """
    if not checkpoint.sequence:
        return
    for name, part in state.watch.parts.items():
        before = state.parts[name]
        if before is None or before.sequence < checkpoint.sequence:
            await part.put_checkpoint(state.generation, checkpoint)
    if state.note is None or state.note.sequence < checkpoint.sequence:
        await write_note(values, state.watch.projection, state.generation, checkpoint)


def note_key(projection: str, generation: int) -> str:
    """Return the key under which the bus notes how far a projection has come."""
    return f"note.{projection}.{generation}"


async def read_note(
    values: SharedValues, projection: str, generation: int
) -> tuple[Checkpoint | None, int]:
    """Return the note of a projection, and the revision to replace it."""
    note, revision = await values.read(note_key(projection, generation))
    return (Checkpoint(**json.loads(note)) if note else None), revision


async def write_note(
    values: SharedValues, projection: str, generation: int, checkpoint: Checkpoint
) -> None:
    """Note it, unless a greater one is noted or another process writes at the same time."""
    noted_checkpoint, revision = await read_note(values, projection, generation)
    if noted_checkpoint is None or noted_checkpoint.sequence < checkpoint.sequence:
        await values.write(
            note_key(projection, generation), json.dumps(asdict(checkpoint)).encode(), revision
        )


def describe_loss(state: ProjectionState) -> str:
    """Return what is wrong with a projection."""
    return (
        f"{state.watch.projection}: {' and '.join(state.lost)} lost what was in there, "
        "or is an older copy"
    )


def describe_debt(projection: Projection) -> str:
    """Return what is wrong with a projection that is owed: see
    `runtime/stores/documents/schema.py`.
    """
    return (
        f"{projection}: it has been incomplete since an upgrade, or since the loss of what it is "
        "made from"
    )


def loss_message(losses: Mapping[Projection, str]) -> str:
    """Return the message why these projections answer nothing, and what to do."""
    return f"{'; '.join(losses.values())}; run `{rebuild_command(tuple(losses))}`"


def rebuild_command(projections: Collection[str]) -> str:
    """Return the command that rebuilds these projections; the graph comes before what is made from
    it.
    """
    if set(projections) == set(PROJECTIONS):
        return "lightstream rebuild all"
    return " && ".join(
        f"lightstream rebuild {projection}"
        for projection in PROJECTIONS
        if projection in projections
    )
