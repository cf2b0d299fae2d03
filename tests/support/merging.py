"""A merger over stores in memory, and its graph as plain data."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from contracts.events import EntitiesExtracted
from contracts.graph import Entity, Generations, Partition, Relation
from knowledge.descriptions import SummaryLimits
from runtime.bus.port import Delivery
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import on_entities_extracted
from services.merger.port import MergeDependencies
from tests.support.events import delivered

SPACE = Partition("w", 1)


def merge_dependencies(
    rows: MemoryRows, graph: MemoryGraph, hubs: AggregateCache | None = None
) -> MergeDependencies:
    """What the handlers of one replica of the merger work with, over these stores. It remembers
    whatever it reads.
    """
    return MergeDependencies(
        RowContributions(rows),
        RowSummaries(rows),
        graph,
        SummaryLimits(),
        hubs or AggregateCache(min_contributions=1),
    )


@dataclass
class Merger:
    """The handler with its stores."""

    rows: MemoryRows = field(default_factory=MemoryRows)
    graph: MemoryGraph = field(default_factory=MemoryGraph)

    hubs: AggregateCache = field(default_factory=lambda: AggregateCache(min_contributions=1))

    @property
    def dependencies(self) -> MergeDependencies:
        """What its handlers work with."""
        return merge_dependencies(self.rows, self.graph, self.hubs)

    def replica(self, min_contributions: int = 1) -> "Merger":
        """Another process on the same stores, with a memory of its own."""
        return Merger(self.rows, self.graph, AggregateCache(min_contributions=min_contributions))

    async def merge(self, *events: EntitiesExtracted, workspace: str = "w") -> list[Any]:
        """Merge these events in one batch, and return what the handler returned."""
        return await self.handle(
            [delivered(event, n, workspace=workspace) for n, event in enumerate(events, 1)]
        )

    async def handle(
        self, batch: Sequence[Delivery[EntitiesExtracted]], generations: Generations | None = None
    ) -> Any:
        """Call the handler."""
        return await on_entities_extracted(
            batch, generations or Generations(), dependencies=self.dependencies
        )

    async def entities(self, partition: Partition = SPACE) -> dict[str, Entity]:
        """All entities by name."""
        return {entity.name: entity for entity in await self.graph.scan_entities(partition)}

    async def relations(self, partition: Partition = SPACE) -> dict[tuple[str, str], Relation]:
        """All relations by the names of their ends."""
        return {relation.key: relation for relation in await self.graph.scan_relations(partition)}

    async def picture(self, partition: Partition = SPACE) -> dict[Any, dict[str, Any]]:
        """The whole graph without its revisions, which count how often a key was folded."""
        shown: dict[Any, dict[str, Any]] = {}
        things: Iterable[tuple[Any, Entity | Relation]] = [
            *(await self.entities(partition)).items(),
            *(await self.relations(partition)).items(),
        ]
        for key, thing in things:
            shown[key] = {
                name: value for name, value in asdict(thing).items() if name != "revision"
            }
        return shown
