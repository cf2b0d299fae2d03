"""Rebuilds projections from the log: into a new generation, beside the live one, switched to with
one write.

Nothing is published and no language model is asked: what it said is in the log. The log is loaded
in bulk, and what has entered it meanwhile is handled event by event. The live services go on. They
read the live generations anew for every batch, so whatever enters the log after the switch goes to
the new ones; what was in the log at the switch, the rebuild itself has handled. A rebuild that was
killed is simply started again: its half-built generation is never used, and dropped. A server that
is started again meanwhile delays it, no more.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from contracts import subjects
from contracts.events import Event, GraphMerged
from contracts.graph import Generations, Projection, of_origin
from contracts.partitions import LogPosition
from operations.bulk_load import BulkLoad, Replays, Report
from operations.checkpoints import Checkpoints
from operations.comparison import ComparedRows, compare_all
from operations.digest import Stores
from operations.due_summaries import Reminder, find_reminders, remind
from operations.generations import common_position, drop_unused
from operations.newer_events import NewerEvent, newer_event, park
from operations.own_vectors import (
    ChosenGenerations,
    OwnModel,
    prepare_own,
    previous_generations,
    reserve,
    states_after_switch,
    stores_of,
    waiting_generations,
)
from operations.retries import retry_outages
from runtime.bus.codec import decode
from runtime.bus.generations import GenerationState, OwnGeneration, ProjectionGenerations
from runtime.bus.parking.port import ParkedEvents
from runtime.bus.port import Delivery, LiveGenerations, Log, Message
from runtime.errors import ConfigurationError, NewerVersion, Poison
from runtime.garbage import collecting_seldom
from runtime.models.port import Embedder
from runtime.projections.rebuild_candidate import MAX_REMINDERS, Candidate
from runtime.replay import Replay
from runtime.stores.documents import schema
from services.chunker.replay import DescriptionReplay
from services.extractor.replay import ExtractionReplay
from services.indexer.replay import VectorReplay
from services.merger.replay import GraphReplay
from services.merger.settings import MergerSettings
from services.query.replay import StatusReplay

PAGE = 200


@dataclass
class Rebuild:
    """One rebuild under way.

    It switches only while the pointers are still the `initial_pointers`. `newer_events`: the events
    that it left out because their version is newer than this code; `parked_events` is where they
    wait for the live services.
    """

    log: Log
    pointers: LiveGenerations
    stores: Stores
    embedder: Embedder
    targets: Sequence[Projection]
    report: Report
    merger_settings: MergerSettings
    checkpoints: Checkpoints | None = None
    live_stores: Stores | None = None
    """The stores as the live generations see them, where another embedding model made their
    vectors.
    """
    events_per_second: int = 0
    """Events that are read a second at most while the log is loaded; 0: as many as possible."""
    emptied_before: bool = False
    """The live generations were moved aside with their store: there is no way back to them."""
    until: LogPosition | None = None
    """The place up to which `fill` and `check` read the log; None: its end."""
    before_switch: Callable[[Generations], Awaitable[None]] | None = None
    """Called before filled generations go live; what it raises keeps them from it."""
    workspaces: Sequence[str] = ()
    """The only workspaces that are read; none: all."""
    own_models: Mapping[str, OwnModel] = field(default_factory=dict[str, OwnModel])
    """What embeds the workspaces that have a model of their own."""
    only_own: bool = False
    """New vectors are made of those workspaces alone: the others keep the live generation."""
    own_generations: Mapping[str, OwnGeneration] = field(default_factory=dict[str, OwnGeneration])
    generations: Generations = field(default_factory=Generations)
    initial_pointers: ProjectionGenerations = field(
        default_factory=dict[Projection, GenerationState]
    )
    position: LogPosition = field(default_factory=LogPosition.start)
    events: int = 0
    skipped_count: int = 0
    parked_events: ParkedEvents | None = None
    newer_events: list[NewerEvent] = field(default_factory=list[NewerEvent])
    reminders: list[Reminder] = field(default_factory=list[Reminder])
    """Events that name what lacks summaries in the new graph."""
    started_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        rows = self.stores.rows
        graph = self.stores.graph
        embeddings = {workspace: model.embedding for workspace, model in self.own_models.items()}
        self.vectors = VectorReplay(rows, graph, self.stores.vectors, self.embedder, embeddings)
        self.replays = Replays(
            StatusReplay(rows),
            DescriptionReplay(rows),
            ExtractionReplay(rows),
            GraphReplay(rows, graph, self.merger_settings),
            self.vectors,
        )
        self.handlers = [
            handler for replay in self.replays.of(self.targets) for handler in replay.handlers()
        ]

    async def run(self, workspace: str) -> dict[str, Any]:
        """Rebuild, compare the workspace's digests, switch. Returns what was done, with rates."""
        result = await self.fill(workspace)
        await self._go_live()
        newer_events = [asdict(event) for event in self.newer_events]
        return {**result, "newer": newer_events, "seconds": self._seconds()}

    async def fill(self, workspace: str) -> dict[str, Any]:
        """Rebuild and compare as `run` does, without switching: `promote` does that, in this
        process or a later one.
        """
        before = await self._begin()
        await self.load()
        if self.until is None:
            await self.catch_up()
        return await self.compare_with(workspace, before)

    async def compare_with(self, workspace: str, before: Generations) -> dict[str, Any]:
        """Return what was done, and the workspace's digests here and in these live generations.

        `seconds` are all until now; `events_per_second` is without the comparison.
        """
        seconds = self._seconds()
        stores = stores_of(self.stores, of_origin(self.own_models, workspace))
        sides = (self.generations, stores), (before, self.live_stores or stores)
        digests = await compare_all(self.targets, workspace, *sides, ComparedRows(self.report))
        return {
            "targets": list(self.targets),
            "events": self.events,
            "skipped": self.skipped_count,
            "newer": [asdict(event) for event in self.newer_events],
            "seconds": self._seconds(),
            "events_per_second": round(self.events / seconds, 1) if seconds else 0.0,
            "language_model_calls": 0,
            "digests": digests,
            "generations": {target: self.generations.of(target) for target in self.targets},
        }

    def _seconds(self) -> float:
        """Return the seconds since it was started."""
        return round(time.monotonic() - self.started_at, 2)

    async def check(self, workspace: str) -> dict[str, Any]:
        """Rebuild one workspace and compare it as `fill` does, and drop what was made: it never
        goes live.
        """
        self.workspaces = [workspace]
        result = await self.fill(workspace)
        await self._drop_unused()
        return result

    async def promote(self, candidate: Candidate) -> dict[str, Any]:
        """Switch to generations that were filled before, after they have caught up with the log.

        Raises InvalidInput when another rebuild of one of them has begun since: it has dropped
        them.
        """
        pointers, _ = await self.pointers.read()
        self.generations, self.own_generations = waiting_generations(pointers, candidate)
        await self._require_intact(tuple(candidate.generations))
        self.initial_pointers = pointers
        self.position = await common_position(self.log, [candidate.position])
        self.newer_events = [NewerEvent(**event) for event in candidate.newer]
        self.reminders = [Reminder(**event) for event in candidate.reminders]
        await self.catch_up()
        await self._go_live()
        return self._switched()

    async def _go_live(self) -> None:
        if self.before_switch:
            await self.before_switch(self.generations)
            await self.catch_up()
        await self._switch()
        await self._drop_unused()

    def candidate(self) -> Candidate:
        """Return what was filled, for `promote`."""
        return Candidate(
            {target: self.generations.of(target) for target in self.targets},
            self.position.stored,
            [asdict(event) for event in self.newer_events],
            [asdict(reminder) for reminder in self.reminders[:MAX_REMINDERS]],
            {name: asdict(of_one) for name, of_one in self.own_generations.items()},
        )

    async def roll_back(self) -> dict[str, Any]:
        """Switch back to the previous generations, after they have caught up with the log; can be
        undone the same way.

        Raises InvalidInput when there is none to go back to.
        """
        pointers, _ = await self.pointers.read()
        self.generations, self.own_generations = previous_generations(pointers, self.targets)
        await self._require_intact(self.targets)
        self.initial_pointers = pointers
        stored_positions = [pointers[target].complete_to for target in self.targets]
        self.position = await common_position(self.log, stored_positions)
        await self.catch_up()
        if self.before_switch:
            await self.before_switch(self.generations)
        await self._switch()
        return self._switched()

    async def _require_intact(self, targets: Sequence[Projection]) -> None:
        if self.checkpoints:
            for target in targets:
                await self.checkpoints.require_intact(target, self.generations.of(target))

    def _switched(self) -> dict[str, Any]:
        return {
            "targets": list(self.targets),
            "events": self.events,
            "newer": [asdict(event) for event in self.newer_events],
            "generations": {target: self.generations.of(target) for target in self.targets},
        }

    async def _begin(self) -> Generations:
        """Take new generation numbers, remove what an unfinished rebuild left, and return the live
        generations.
        """
        await self._drop_unused()
        before = await retry_outages(self._reserve_generations)
        for target in () if self.only_own else self.targets:
            # Now, not at the switch: a generation is complete for the program that fills it.
            generation = self.generations.of(target)
            await retry_outages(partial(schema.complete, self.stores.rows, target, generation))
            if target == "vectors":
                await retry_outages(lambda: self.stores.vectors.prepare(self.generations.vectors))
        await retry_outages(lambda: prepare_own(self.own_models, self.generations))
        return before

    async def _reserve_generations(self) -> Generations:
        before = await self.pointers.live()
        pointers, revision = await self.pointers.read()
        pointers, (self.generations, self.own_generations) = reserve(
            pointers, self.targets, self.own_models, only_own=self.only_own
        )
        await self.pointers.write(pointers, revision)
        self.initial_pointers = dict(pointers)
        return before

    async def _drop_unused(self) -> None:
        await retry_outages(lambda: drop_unused(self.pointers, self.stores, self.targets))

    async def load(self) -> None:
        """Fill the generations, which hold nothing yet, with what the log holds now."""
        load = BulkLoad(
            self.log,
            self.stores,
            self.replays,
            self.targets,
            self.generations,
            self._decode,
            self.report,
            events_per_second=self.events_per_second,
            until=self.until,
            workspaces=self.workspaces,
        )
        with collecting_seldom():
            await load.run()
        self.position = load.position
        self.events += load.events
        self.skipped_count += load.skipped
        if self.parked_events:
            unsummarized_keys = self.replays.graph.unsummarized_keys
            self.reminders = await retry_outages(
                partial(find_reminders, self.log, unsummarized_keys, self.position)
            )

    async def catch_up(self) -> None:
        """Handle the log behind `position` to its end, and make the vectors that asks for."""
        while await retry_outages(self._read_log, progress=lambda: self.position):
            pass
        async for vector_count, total in self.vectors.index_collected(
            self.generations, retry_outages
        ):
            self.report({"vectors": vector_count, "of": total})

    async def _read_log(self) -> bool:
        """Handle what the log holds behind our position. False when there was nothing."""
        end = await self.log.end()
        if self.position.includes(end):
            return False
        read = list(map(subjects.of_workspace, self.workspaces)) or [subjects.ALL]
        async for messages in self.log.read_behind(self.position, read, page=PAGE):
            await self._handle_page(messages)
            self.position = self.position.behind([messages[-1].sequence])
            self.report({"events": self.events, **self.position.progress_to(end)})
        self.position = self.position.joined(end)
        return True

    async def _handle_page(self, messages: Sequence[Message]) -> None:
        deliveries = [delivery for message in messages if (delivery := self._decode(message))]
        self.events += len(deliveries)
        for handler in self.handlers:
            selection = handler.select(deliveries)
            self._collect(selection, await self._handle(handler.handle, selection))
        # What the log says was merged counts too: the graph may not be rebuilt with the vectors.
        merge_deliveries = [
            delivery for delivery in deliveries if isinstance(delivery.event, GraphMerged)
        ]
        self._collect(merge_deliveries, [[delivery.event] for delivery in merge_deliveries])

    def _decode(self, message: Message) -> Delivery[Event] | None:
        try:
            envelope = decode(message.data, message.subject, message.headers)
        except NewerVersion as error:
            self.newer_events.append(newer_event(message, error))
            return None
        except Poison:
            # It became a dead letter when it came, and no projection has anything of it.
            self.skipped_count += 1
            return None
        return Delivery(envelope, message.sequence, 1, message.published_at)

    def _collect(
        self, deliveries: Sequence[Delivery[Any]], published_events: Sequence[Sequence[Event]]
    ) -> None:
        if "vectors" in self.targets:
            for delivery, events in zip(deliveries, published_events, strict=True):
                self.vectors.collect(delivery.workspace, events)

    async def _handle(
        self, handle: Replay, batch: Sequence[Delivery[Any]]
    ) -> Sequence[Sequence[Event]]:
        """Handle a batch as the live service does, without publishing: an event that can never
        succeed is skipped.
        """
        if not batch:
            return []
        try:
            return await retry_outages(lambda: handle(batch, self.generations))
        except Poison:
            if len(batch) == 1:
                self.skipped_count += 1
                return [[]]
            return [
                events for delivery in batch for events in await self._handle(handle, [delivery])
            ]

    async def _switch(self) -> None:
        """Make the new generations live with one write of the pointers, and handle what the live
        services were at then.

        Raises ConfigurationError when another rebuild has begun or switched meanwhile: it may have
        dropped what this one made, so its generations must never serve.
        """
        complete_to = await retry_outages(self.log.handled_position)
        new_pointers = states_after_switch(
            self.initial_pointers,
            self.targets,
            ChosenGenerations(self.generations, self.own_generations),
            complete_to.stored,
            emptied_before=self.emptied_before,
        )
        await retry_outages(partial(self._write_pointers, new_pointers))
        await self.catch_up()
        if self.parked_events:
            # Now, for the live services write to the new generation from here on.
            await park(self.parked_events, self.newer_events, self.targets)
            await remind(self.parked_events, self.reminders)

    async def _write_pointers(self, new_pointers: ProjectionGenerations) -> None:
        pointers, revision = await self.pointers.read()
        if all(pointers[target] == pointer for target, pointer in new_pointers.items()):
            return  # written by an attempt whose answer was lost
        if any(pointers[target] != self.initial_pointers[target] for target in self.targets):
            raise ConfigurationError(
                "another rebuild overtook this one: nothing was switched, see how that one ends"
            )
        for target, pointer in new_pointers.items():
            if self.checkpoints and not self.only_own:
                await self.checkpoints.record(target, pointer.live, self.position.event_count)
        await self.pointers.write({**pointers, **new_pointers}, revision)
