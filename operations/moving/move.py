"""Fill other stores from the same log, under the numbers of the live generations, while the present
stores serve.

Services that are started with the other stores find there what the unchanged pointers name. Nothing
is switched here, and no checkpoint of the others stands on the bus, for the present stores would
then look as if they had lost something. Each of the other stores gets its checkpoint: a move that
is repeated goes on behind the least of them.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from nats.js import JetStreamContext

from contracts.graph import PROJECTIONS, Generations, Projection, of_origin
from contracts.partitions import LogPosition
from contracts.topology import CHECKPOINTS_BUCKET
from operations.checkpoints import watched_stores
from operations.chosen_models import open_own
from operations.comparison import ComparedRows, Side, compare
from operations.digest import Stores
from operations.moving.copied_tables import copy_tables, empty, workspaces
from operations.moving.destination import MARK, addresses, mark_of, require_ours
from operations.moving.filled_stores import note_filled
from operations.open_stack import open_as_is
from operations.own_vectors import OwnModel, prepare_own, stores_of
from operations.pace import Pace
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.bus.generations import live_generations
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_evidence import observe_log
from runtime.bus.nats.log_streams import log_streams
from runtime.errors import ConfigurationError, InvalidInput
from runtime.projections import rebuild_candidate, rebuild_lease
from runtime.projections.embedding import EmbeddedVectors
from runtime.settings import Settings
from runtime.stores.documents import schema
from runtime.stores.documents.schema import CHECKPOINTS
from runtime.stores.open import open_vectors
from runtime.stores.port import Checkpoint
from services.merger.settings import MergerSettings

COMPLETE_TO = "complete_to"
"""Key of the row that says how far in each partition of the log the other stores were filled:
checkpoints only say how many events of all partitions a store has.
"""

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Move:
    """A move: to the stores of these settings, whose bus and models are those of the target."""

    destination: Settings
    reason: str = ""
    events_per_second: int = 0
    """Events that are read a second at most while the log is loaded; 0: as many as possible."""


@dataclass(frozen=True)
class Sides:
    """Both sides, open. The vectors of both are of the embedding model that made the live ones;
    `own_models` and `own_present`: those of workspaces with a model of their own, on either side.
    """

    bus: JetStreamContext
    live: Generations
    present_stores: Stores
    other_stores: Stores
    embedding: EmbeddedVectors
    log: str
    """When the log's streams were created."""
    partition_count: int = 1
    own_models: Mapping[str, OwnModel] = field(default_factory=dict[str, OwnModel])
    own_present: Mapping[str, OwnModel] = field(default_factory=dict[str, OwnModel])

    def of_workspace(self, workspace: str) -> tuple[Side, Side]:
        """Return the other side of a workspace, and the present one."""
        other_stores = stores_of(self.other_stores, of_origin(self.own_models, workspace))
        present_stores = stores_of(self.present_stores, of_origin(self.own_present, workspace))
        return (self.live, other_stores), (self.live, present_stores)

    async def position(self) -> LogPosition:
        """Return the place up to which the other stores hold the live generations of this log; its
        start if one does not.
        """
        start = LogPosition.start(self.partition_count)
        event_count = await self._event_count()
        if self.partition_count == 1:
            return LogPosition((event_count,))
        row = (await self.other_stores.rows.get(CHECKPOINTS, [COMPLETE_TO])).get(COMPLETE_TO)
        if row is None or row["log"] != self.log:
            return start
        position = LogPosition.of_stored(row["position"], self.partition_count)
        return position if position.event_count <= event_count else start

    async def _event_count(self) -> int:
        """Return how many events of this log each of the other stores holds at least."""
        record = await schema.read(self.other_stores.rows)
        if any(record.is_owed(projection, self.live.of(projection)) for projection in PROJECTIONS):
            return 0
        checkpoints = [
            await part.checkpoint(self.live.of(projection))
            for projection in PROJECTIONS
            for part in watched_stores(projection, self.other_stores).parts.values()
        ]
        return min(
            checkpoint.sequence if checkpoint and checkpoint.log == self.log else 0
            for checkpoint in checkpoints
        )

    async def record(self, position: LogPosition) -> None:
        """Put the checkpoint into each of the other stores, and nowhere else."""
        checkpoint = Checkpoint(position.event_count, self.log)
        for projection in PROJECTIONS:
            for part in watched_stores(projection, self.other_stores).parts.values():
                await part.put_checkpoint(self.live.of(projection), checkpoint)
        row = {"log": self.log, "position": position.stored}
        await self.other_stores.rows.put(CHECKPOINTS, {COMPLETE_TO: row})


async def plan(target: Target, request: Move) -> dict[str, Any]:
    """Return what `move` would read and fill, and seconds if all was rebuilt once; changes nothing.

    Raises what `move` raises.
    """
    async with _open(target, request.destination) as sides:
        resumed_at = 0
        if not await sides.other_stores.rows.missing():
            resumed_at = (await sides.position()).event_count
            if not resumed_at:
                destination_mark = mark_of(sides.log, addresses(request.destination))
                await require_ours(sides.other_stores, destination_mark)
        full_plan = await rebuild_candidate.plan(sides.bus, PROJECTIONS, request.events_per_second)
        event_count = (await observe_log(sides.bus)).last_sequence
    return {
        "from": addresses(target.settings),
        "to": addresses(request.destination),
        "events": max(0, event_count - resumed_at) if resumed_at else full_plan["events"],
        "resumed_at": resumed_at,
        "seconds": None if resumed_at else full_plan["seconds"],
        "generations": {name: sides.live.of(name) for name in PROJECTIONS},
    }


async def move(
    target: Target, request: Move, report: Report, workspace: str = "default"
) -> dict[str, Any]:
    """Fill the other stores, or go on filling them, and compare both sides. The digests told are of
    `workspace`.

    Raises InvalidInput where the other stores hold anything else, or generations wait for
    promotion; ConfigurationError for events newer than this program; Unavailable; `Busy` during a
    rebuild.
    """
    async with _open(target, request.destination) as sides:
        values = await NatsSharedValues.bind(sides.bus, CHECKPOINTS_BUCKET)
        async with rebuild_lease.hold(
            values, PROJECTIONS, request.reason or "moving to other stores"
        ) as lease:
            if await rebuild_candidate.read(values):
                raise InvalidInput(
                    "generations wait for promotion: `lightstream rebuild promote` or "
                    "`cleanup` first"
                )
            pace = Pace()

            def tell(step: dict[str, Any]) -> None:
                lease.progress = estimate = pace.of(step)
                report(estimate)

            await note_filled(values, addresses(target.settings), addresses(request.destination))
            return await _fill(sides, target, request, tell, workspace)


async def _begin(sides: Sides, request: Move) -> None:
    """Empty the other stores, and mark them as those that this log fills. Raises what
    `require_ours` does.
    """
    destination_mark = mark_of(sides.log, addresses(request.destination))
    await require_ours(sides.other_stores, destination_mark)
    await empty(sides.other_stores)
    await sides.other_stores.rows.put(CHECKPOINTS, {MARK: destination_mark})


def _require_known_versions(work: Rebuild) -> None:
    """Raises ConfigurationError where the log has events that only a newer program reads."""
    if work.newer_events:
        raise ConfigurationError(
            f"{len(work.newer_events)} events of the log are of a version newer than this program, "
            f"the first at sequence {work.newer_events[0].sequence}: "
            "give this command with the newer program"
        )


async def _fill(
    sides: Sides, target: Target, request: Move, tell: Report, workspace: str
) -> dict[str, Any]:
    other_stores = sides.other_stores
    present_stores = sides.present_stores
    await other_stores.rows.prepare()
    await other_stores.graph.prepare()
    position = await sides.position()
    resumed_at = position.event_count
    if not resumed_at:
        await _begin(sides, request)
    await other_stores.vectors.prepare(sides.live.vectors)
    await prepare_own(sides.own_models, sides.live)
    # Before the log is read: what was embedded or condensed once is not paid for again.
    copied_rows = await copy_tables(present_stores.rows, other_stores.rows)
    work = Rebuild(
        NatsLog(sides.bus),
        await NatsLiveGenerations.bind(sides.bus),
        other_stores,
        sides.embedding.embedder,
        PROJECTIONS,
        tell,
        target.settings_of(MergerSettings),
        live_stores=sides.of_workspace(workspace)[1][1],
        events_per_second=request.events_per_second,
        generations=sides.live,
        position=position,
        own_models=sides.own_models,
    )
    if not resumed_at:
        for projection in PROJECTIONS:
            await schema.complete(other_stores.rows, projection, sides.live.of(projection))
        await work.load()
        # What was embedded for the present stores meanwhile.
        await copy_tables(present_stores.rows, other_stores.rows, ("embeddings",))
    await work.catch_up()
    _require_known_versions(work)
    await sides.record(work.position)
    result = await work.compare_with(workspace, sides.live)
    differing = await _differing(sides, tell)
    return {
        **result,
        "resumed_at": resumed_at,
        "complete_to": work.position.event_count,
        "copied": copied_rows,
        **differing,
    }


async def _differing(both_sides: Sides, tell: Report) -> dict[str, Any]:
    """Compare every projection of every workspace; what came in meanwhile makes them differ,
    too.
    """
    names = await workspaces(both_sides.present_stores.rows, both_sides.live.status)
    differing: dict[str, list[Projection]] = {}
    rows = ComparedRows(tell)
    for name in names:
        sides = both_sides.of_workspace(name)
        for projection in PROJECTIONS:
            if not (await compare(projection, name, *sides, rows))["same"]:
                differing.setdefault(name, []).append(projection)
    rows.finish()
    return {"compared_workspaces": len(names), "differing": differing}


@asynccontextmanager
async def _open(target: Target, destination: Settings) -> AsyncGenerator[Sides]:
    """Open both sides; create nothing."""
    async with open_as_is(target.settings) as old_stack, open_as_is(destination) as new_stack:
        bus = old_stack.client.jetstream()
        streams = await log_streams(bus)
        states, _ = await (await NatsLiveGenerations.bind(bus)).read()
        live = live_generations(states)
        own_present = await open_own(old_stack.embeddings, states["vectors"].own_generations)
        async with old_stack.embeddings.of(live.vectors) as embedding:
            model = embedding.model
            vectors = open_vectors(destination, model=model.name, dimension=model.dimension)
            own_models = {
                name: _moved(model_here, destination) for name, model_here in own_present.items()
            }
            try:
                present_stores = Stores(
                    old_stack.stores.rows, old_stack.stores.graph, embedding.vectors
                )
                other_stores = Stores(new_stack.stores.rows, new_stack.stores.graph, vectors)
                yield Sides(
                    bus,
                    live,
                    present_stores,
                    other_stores,
                    embedding,
                    (await observe_log(bus)).created_at,
                    streams.count,
                    own_models,
                    own_present,
                )
            finally:
                for client in (
                    vectors,
                    *(model.embedding.vectors for model in own_models.values()),
                ):
                    await client.close()


def _moved(own_model: OwnModel, destination: Settings) -> OwnModel:
    """Return what embeds a workspace, with the vectors of the other stores."""
    model = own_model.embedding.model
    vectors = open_vectors(destination, model=model.name, dimension=model.dimension)
    return OwnModel(own_model.setting, replace(own_model.embedding, vectors=vectors))
