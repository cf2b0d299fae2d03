"""Rebuilds projections from the log: into a new generation, beside the live one, switched to with one write.

Nothing is published and no language model is asked: what it said is in the log. The live services go on meanwhile.
They read the live generations anew for every batch, so whatever enters the log after the switch goes to the new ones;
what was in the log at the switch, the rebuild itself has handled. A rebuild that was killed is simply started again:
its half-built generation is never used, and dropped. A server that is started again meanwhile delays it, no more.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from contracts import subjects
from contracts.events import (
    ChunksCreated,
    DescriptionSummarized,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    GraphEdited,
    GraphMerged,
)
from contracts.graph import Generations, Projection
from runtime.bus.codec import decode
from runtime.bus.parking.port import ParkedEvents
from runtime.bus.port import ActiveGenerations, Delivery, GenerationState, Log, Message, ProjectionGenerations
from runtime.errors import ConfigurationError, InvalidInput, NewerVersion, Poison
from runtime.models.port import Embedder
from runtime.stores.documents.caches import CachedEmbeddings, ExtractionCache
from runtime.stores.documents.extents import RowExtents
from services.extractor.handler import on_entities_extracted as remember
from services.indexer.handler import index_graph, on_chunks
from services.merger.adapters import RowContributions, RowSummaries
from services.merger.domain.descriptions import Limits
from services.merger.handler import on_description_summarized, on_extents, on_graph_edited
from services.merger.handler import on_entities_extracted as merge
from services.merger.hubs import Hubs
from services.merger.port import Merging
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.status.projection import on_facts
from standalone.operations.checkpoints import Checkpoints
from standalone.operations.comparison import compare
from standalone.operations.digest import Stores
from standalone.operations.generations import drop_unused
from standalone.operations.newer_events import NewerEvent, newer_event, park
from standalone.operations.retries import patiently

PAGE = 200
KEYS = 500
"""Entities or relations indexed at once."""

Report = Callable[[dict[str, Any]], None]
Handle = Callable[[Sequence[Delivery[Any]], Generations], Awaitable[Sequence[Sequence[Event]]]]
"""A handler whose facts are few enough for a list. The chunker, whose may not be, is not run: its facts are in the log.
"""


@dataclass
class Rebuild:
    """One rebuild under way. `keys`: entities and relations whose vectors are still to be made, by workspace.

    `begun`: the pointers it started from; it switches only while they are still the same. `newer`: the events that it
    left out because their version is newer than this code; `parked` is where they wait for the live services.
    """

    log: Log
    pointers: ActiveGenerations
    stores: Stores
    embedder: Embedder
    targets: Sequence[Projection]
    report: Report
    limits: Limits
    checkpoints: Checkpoints | None = None
    compared: Stores | None = None
    """The stores as the live generations see them, where another embedding model made their vectors."""
    lost: bool = False
    """The live generations were moved aside with their store: there is no way back to them."""
    hubs: Hubs = field(default_factory=Hubs)
    generations: Generations = field(default_factory=Generations)
    begun: ProjectionGenerations = field(default_factory=dict[Projection, GenerationState])
    position: int = 0
    events: int = 0
    skipped: int = 0
    parked: ParkedEvents | None = None
    newer: list[NewerEvent] = field(default_factory=list[NewerEvent])
    keys: dict[str, set[tuple[str, ...]]] = field(default_factory=dict[str, set[tuple[str, ...]]])
    started: float = field(default_factory=time.monotonic)

    async def run(self, workspace: str) -> dict[str, Any]:
        """Rebuild, compare the workspace's digests, switch. Returns what was done, with rates."""
        before = await self._begin()
        await self._catch_up()
        seconds = time.monotonic() - self.started
        sides = (self.generations, self.stores), (before, self.compared or self.stores)
        digests = {target: await compare(target, workspace, *sides) for target in self.targets}
        await self._switch()
        await self._drop_unused()
        return {
            "targets": list(self.targets),
            "events": self.events,
            "skipped": self.skipped,
            "newer": [asdict(event) for event in self.newer],
            "seconds": round(seconds, 2),
            "events_per_second": round(self.events / seconds, 1) if seconds else 0.0,
            "language_model_calls": 0,
            "digests": digests,
            "generations": {target: self.generations.of(target) for target in self.targets},
        }

    async def roll_back(self) -> dict[str, Any]:
        """Switch back to the previous generations, after they have caught up with the log; can be undone the same way.

        Raises InvalidInput when there is none to go back to.
        """
        pointers, _ = await self.pointers.read()
        self.generations = Generations(**{name: pointer.live for name, pointer in pointers.items()})
        for target in self.targets:
            previous = pointers[target].previous
            if previous is None:
                raise InvalidInput(f"{target} has no previous generation: it was never rebuilt")
            self.generations = self.generations.having(target, previous)
            if self.checkpoints:
                await self.checkpoints.require(target, previous)
        self.begun = pointers
        self.position = min(pointers[target].complete_to for target in self.targets)
        await self._catch_up()
        await self._switch()
        return {
            "targets": list(self.targets),
            "events": self.events,
            "newer": [asdict(event) for event in self.newer],
            "generations": {target: self.generations.of(target) for target in self.targets},
        }

    async def _begin(self) -> Generations:
        """Take new generation numbers, remove what an unfinished rebuild left, and return the live generations."""
        await self._drop_unused()
        before = await patiently(self._number)
        if "vectors" in self.targets:
            await patiently(lambda: self.stores.vectors.prepare(self.generations.vectors))
        return before

    async def _number(self) -> Generations:
        pointers, revision = await self.pointers.read()
        before = Generations(**{name: pointer.live for name, pointer in pointers.items()})
        self.generations = before
        for target in self.targets:
            number = pointers[target].highest + 1
            pointers[target] = replace(pointers[target], highest=number)
            self.generations = self.generations.having(target, number)
        await self.pointers.write(pointers, revision)
        self.begun = dict(pointers)
        return before

    async def _drop_unused(self) -> None:
        await patiently(lambda: drop_unused(self.pointers, self.stores, self.targets))

    async def _catch_up(self) -> None:
        """Handle the log to its end, and make the vectors that asks for."""
        while await patiently(self._follow, progress=lambda: self.position):
            pass
        await self._index()

    async def _follow(self) -> bool:
        """Handle what the log holds behind our position. False when there was nothing."""
        end = await self.log.last_sequence()
        if end <= self.position:
            return False
        async for messages in self.log.read(self.position, [subjects.ALL], page=PAGE):
            await self._page(messages)
            self.position = messages[-1].sequence
            self.report({"events": self.events, "position": self.position, "end": end})
        self.position = max(self.position, end)
        return True

    async def _page(self, messages: Sequence[Message]) -> None:
        deliveries = [delivery for message in messages if (delivery := self._open(message))]
        self.events += len(deliveries)
        rows = self.stores.rows
        embeddings = CachedEmbeddings(rows, self.embedder)
        extracted = _only(deliveries, EntitiesExtracted)
        if "status" in self.targets:
            handle = partial(on_facts, documents=RowDocuments(rows), passages=RowPassages(rows))
            await self._handle(handle, deliveries)
            await self._handle(partial(remember, extractions=ExtractionCache(rows)), extracted)
        reaching = _only(deliveries, ChunksCreated, DocumentDeleted)
        if "graph" in self.targets:
            merging = Merging(RowContributions(rows), RowSummaries(rows), self.stores.graph, self.limits, self.hubs)
            for handle, facts in (
                (on_description_summarized, _only(deliveries, DescriptionSummarized)),
                (merge, extracted),
                (on_extents, reaching),
                (on_graph_edited, _only(deliveries, GraphEdited)),
            ):
                self._note(facts, await self._handle(partial(handle, merging=merging), facts))
        if "vectors" in self.targets:
            handle = partial(
                on_chunks,
                vectors=self.stores.vectors,
                embeddings=embeddings,
                extents=RowExtents(rows, "vector_extents"),
            )
            await self._handle(handle, reaching)
            merged = _only(deliveries, GraphMerged)
            self._note(merged, [[delivery.event] for delivery in merged])

    def _open(self, message: Message) -> Delivery[Event] | None:
        try:
            envelope = decode(message.data, message.subject, message.headers)
        except NewerVersion as error:
            self.newer.append(newer_event(message, error))
            return None
        except Poison:
            # It was set aside when it came; there is nothing of it in any projection.
            self.skipped += 1
            return None
        return Delivery(envelope, message.sequence, 1, message.published_at)

    def _note(self, deliveries: Sequence[Delivery[Any]], facts: Sequence[Sequence[Event]]) -> None:
        """Vectors of the graph are made once, at the end: a hub is not embedded again for each time it grew."""
        if "vectors" not in self.targets:
            return
        for delivery, of_one in zip(deliveries, facts, strict=True):
            keys = self.keys.setdefault(delivery.workspace, set())
            for fact in of_one:
                if isinstance(fact, GraphMerged):
                    keys |= {(entity.name,) for entity in fact.entities}
                    keys |= {(relation.source, relation.target) for relation in fact.relations}

    async def _handle(self, handle: Handle, batch: Sequence[Delivery[Any]]) -> Sequence[Sequence[Event]]:
        """What the live edge does, without publishing: what cannot be handled there is left out here too."""
        if not batch:
            return []
        try:
            return await patiently(lambda: handle(batch, self.generations))
        except Poison:
            if len(batch) == 1:
                self.skipped += 1
                return [[]]
            return [facts for one in batch for facts in await self._handle(handle, [one])]

    async def _index(self) -> None:
        """Make the vectors of the noted keys."""
        embeddings = CachedEmbeddings(self.stores.rows, self.embedder)
        for workspace, keys in self.keys.items():
            ordered = sorted(keys)
            for start in range(0, len(ordered), KEYS):
                part = ordered[start : start + KEYS]
                index = partial(
                    index_graph,
                    workspace,
                    {key[0] for key in part if len(key) == 1},
                    {(key[0], key[1]) for key in part if len(key) == 2},
                    self.generations,
                    self.stores.graph,
                    self.stores.vectors,
                    embeddings,
                )
                await patiently(index)
                self.report({"vectors": start + len(part), "of": len(ordered)})
        self.keys.clear()

    async def _switch(self) -> None:
        """One write. What the live services were still handling then is in the log, and handled here too.

        Raises ConfigurationError when another rebuild has begun or switched meanwhile: it may have dropped what this
        one made, so its generations must never serve.
        """
        complete_to = await patiently(self.log.handled)
        wanted: ProjectionGenerations = {
            target: self._pointer(self.begun[target], target, complete_to) for target in self.targets
        }
        await patiently(partial(self._point, wanted))
        await self._catch_up()
        if self.parked:
            # Now, for the live services write to the new generation from here on.
            await park(self.parked, self.newer, self.targets)

    async def _point(self, wanted: ProjectionGenerations) -> None:
        pointers, revision = await self.pointers.read()
        if all(pointers[target] == pointer for target, pointer in wanted.items()):
            return  # written by an attempt whose answer was lost
        if any(pointers[target] != self.begun[target] for target in self.targets):
            raise ConfigurationError("another rebuild overtook this one: nothing was switched, see how that one ends")
        for target, pointer in wanted.items():
            if self.checkpoints:
                await self.checkpoints.enter(target, pointer.live, self.position)
        await self.pointers.write({**pointers, **wanted}, revision)

    def _pointer(self, old: GenerationState, target: Projection, complete_to: int) -> GenerationState:
        previous = None if self.lost else old.live
        return GenerationState(self.generations.of(target), previous, old.highest, complete_to)


def _only(deliveries: Sequence[Delivery[Any]], *kinds: type[Event]) -> list[Delivery[Any]]:
    return [delivery for delivery in deliveries if isinstance(delivery.event, kinds)]
