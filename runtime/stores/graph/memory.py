"""The graph store in memory, under the same contract: for fast tests and as the plainest reading of
the port.
"""

import heapq
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass, field

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.port import Neighbourhood, Node, RelationSummary
from runtime.stores.graph.scans import everything_scanned
from runtime.stores.graph.write_batches import newest_entities, newest_relations, node_of, tie_of
from runtime.stores.port import Checkpoint

Pair = tuple[str, str]


@dataclass
class _Content:
    """The rows of one partition, tombstones too; `incident` has the pairs of each name."""

    entities: dict[str, Entity] = field(default_factory=dict[str, Entity])
    relations: dict[Pair, Relation] = field(default_factory=dict[Pair, Relation])
    incident: defaultdict[str, set[Pair]] = field(
        default_factory=lambda: defaultdict[str, set[Pair]](set)
    )

    def of(self, name: str) -> list[Relation]:
        """Return the relations at one entity, heaviest first, then by names."""
        alive = [
            self.relations[key]
            for key in self.incident.get(name, ())
            if not self.relations[key].is_gone
        ]
        return sorted(alive, key=_heaviest_first)


class MemoryGraph:
    """The port `Graph` in one process's memory. No call awaits anything, so each is atomic."""

    def __init__(self) -> None:
        self._partitions: dict[Partition, _Content] = {}
        self._checkpoints: dict[int, Checkpoint] = {}

    async def prepare(self) -> None:
        pass

    async def missing(self) -> list[str]:
        return []

    async def ping(self) -> None:
        pass

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        new_entities = newest_entities(entities)
        new_relations = newest_relations(relations)
        if not new_entities and not new_relations:
            return
        content = self._partitions.setdefault(partition, _Content())
        for entity in new_entities:
            stored_entity = content.entities.get(entity.name)
            if stored_entity is None or stored_entity.revision < entity.revision:
                content.entities[entity.name] = entity
        for relation in new_relations:
            stored_relation = content.relations.get(relation.key)
            if stored_relation is None or stored_relation.revision < relation.revision:
                content.relations[relation.key] = relation
            for name in relation.key:
                content.entities.setdefault(name, Entity(name, 0, is_gone=True))
                content.incident[name].add(relation.key)

    async def entities(self, partition: Partition, names: Collection[str]) -> dict[str, Entity]:
        entities = self._content(partition).entities
        return {
            name: entities[name]
            for name in names
            if name in entities and not entities[name].is_gone
        }

    async def relations(
        self, partition: Partition, pairs: Collection[Pair]
    ) -> dict[Pair, Relation]:
        relations = self._content(partition).relations
        return {
            key: relations[key] for key in pairs if key in relations and not relations[key].is_gone
        }

    async def excerpts(
        self, partition: Partition, names: Collection[str], pairs: Collection[Pair], *, longest: int
    ) -> tuple[dict[str, Entity], dict[Pair, Relation]]:
        """See `Graph`."""
        entities = await self.entities(partition, names)
        relations = await self.relations(partition, pairs)
        return (
            {
                name: Entity(
                    name,
                    entity.revision,
                    support=entity.support,
                    description=entity.description[:longest],
                )
                for name, entity in entities.items()
            },
            {
                key: Relation(
                    *key,
                    relation.revision,
                    keywords=relation.keywords,
                    description=relation.description[:longest],
                )
                for key, relation in relations.items()
            },
        )

    async def degrees(self, partition: Partition, names: Collection[str]) -> dict[str, int]:
        content = self._content(partition)
        return {name: len(content.of(name)) for name in await self.entities(partition, names)}

    async def relation_summaries(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> dict[str, list[RelationSummary]]:
        """See `Graph`."""
        content = self._content(partition)
        by_name = {name: content.of(name)[: max(limit, 0)] for name in names}
        return {
            name: [RelationSummary(*relation.key, relation.weight) for relation in relations]
            for name, relations in by_name.items()
            if relations
        }

    async def nodes(self, partition: Partition, names: Collection[str]) -> dict[str, Node]:
        entities = await self.entities(partition, names)
        return {name: node_of(entity) for name, entity in entities.items()}

    async def neighbourhood(
        self, partition: Partition, names: Collection[str], *, limit: int
    ) -> Neighbourhood:
        content = self._content(partition)
        entities = await self.entities(partition, names)
        nodes = {name: node_of(entity) for name, entity in entities.items()}
        once: dict[Pair, Relation] = {}
        for name in entities:
            relations = [
                r
                for r in content.of(name)
                if not any(content.entities[end].is_gone for end in r.key)
            ]
            once |= {relation.key: relation for relation in relations[: max(limit, 0)]}
        nodes |= {end: node_of(content.entities[end]) for key in once for end in key}
        ties = [tie_of(relation) for relation in sorted(once.values(), key=_heaviest_first)]
        return Neighbourhood(nodes, ties, await self.degrees(partition, names))

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[tuple[str, str]]:
        names = [
            name
            for name, entity in self._content(partition).entities.items()
            if name > after
            and not entity.is_gone
            and (not name.isascii() or containing.casefold() in name.casefold())
        ]
        entities = self._content(partition).entities
        return [(name, entities[name].type) for name in heapq.nsmallest(limit, names)]

    async def scan_entities(
        self, partition: Partition, after: str = "", limit: int = 1000
    ) -> list[Entity]:
        entities = self._content(partition).entities
        names = (name for name, entity in entities.items() if name > after and not entity.is_gone)
        return [entities[name] for name in heapq.nsmallest(limit, names)]

    async def scan_relations(
        self, partition: Partition, after: Pair = ("", ""), limit: int = 1000
    ) -> list[Relation]:
        relations = self._content(partition).relations
        keys = (key for key, relation in relations.items() if key > after and not relation.is_gone)
        return [relations[key] for key in heapq.nsmallest(limit, keys)]

    def everything(
        self, partition: Partition, rows: int
    ) -> AsyncGenerator[Sequence[Entity] | Sequence[Relation]]:
        return everything_scanned(self, partition, rows)

    async def hubs(self, partition: Partition, *, limit: int) -> list[str]:
        degrees = await self.degrees(partition, self._content(partition).entities)
        return heapq.nsmallest(max(limit, 0), degrees, key=lambda name: (-degrees[name], name))

    async def drop(self, partition: Partition) -> None:
        self._partitions.pop(partition, None)

    async def partitions(self) -> set[Partition]:
        return set(self._partitions)

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        return self._checkpoints.get(generation)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        before = self._checkpoints.get(generation)
        if before is None or before.sequence < checkpoint.sequence:
            self._checkpoints[generation] = checkpoint

    async def drop_checkpoint(self, generation: int) -> None:
        self._checkpoints.pop(generation, None)

    async def close(self) -> None:
        pass

    def _content(self, partition: Partition) -> _Content:
        return self._partitions.get(partition, _Content())


def _heaviest_first(relation: Relation) -> tuple[float, Pair]:
    return -relation.weight, relation.key
