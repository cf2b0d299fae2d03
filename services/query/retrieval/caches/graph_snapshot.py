"""A graph as it was read at once, which questions look into without asking the store."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeVar

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.graph.write_batches import sorted_ties

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

TIES = "ties"
"""The kind of a change of the relations at an entity, before its name."""


@dataclass(frozen=True, slots=True)
class Star:
    """The relations at one entity, the heaviest first and perhaps not all, and how many it has."""

    degree: int
    relations: tuple[RelationSummary, ...]


class GraphSnapshot:
    """Entities and relations, without what has changed since. `size` is in bytes, about."""

    def __init__(self) -> None:
        self.size = 0
        self._entities: dict[str, Entity] = {}
        self._relations: dict[tuple[str, str], Relation] = {}
        self._relations_at: dict[str, list[Relation]] = {}
        self._changes: set[tuple[Hashable, ...]] = set()
        self._nodes: dict[str, Node] = {}
        self._summaries: dict[str, list[RelationSummary]] = {}
        self._stars: dict[tuple[str, int], Star] = {}

    def __len__(self) -> int:
        """Return the number of entities and relations."""
        return len(self._entities) + len(self._relations)

    def add(self, rows: Iterable[Entity | Relation]) -> None:
        """Add entities, all of them before the first relation, or relations."""
        for row in rows:
            if isinstance(row, Entity):
                self._entities[row.name] = row
                self._relations_at[row.name] = []
                continue
            self._relations[row.key] = row
            for end in {*row.key} & self._relations_at.keys():
                self._relations_at[end].append(row)

    def forget(self, change: tuple[Hashable, ...]) -> None:
        """Know no more of a key, given with its kind: see `ChangedKeys`."""
        self._changes.add(change)

    def entities(self, names: Iterable[str]) -> dict[str, Entity | None]:
        """Return entities; None for what is known not to be."""
        return self._known("entity", names, self._entities)

    def relations(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Relation | None]:
        """Return relations; None for what is known not to be."""
        return self._known("relation", pairs, self._relations)

    def nodes(self, names: Iterable[str]) -> dict[str, Node | None]:
        """Return entities without their texts; None for what is known not to be."""
        entities = self._known("entity", names, self._entities)
        return {name: self._node(entity) if entity else None for name, entity in entities.items()}

    def degrees(self, names: Iterable[str]) -> dict[str, int | None]:
        """Return how many relations entities have; None for what is known not to be."""
        relations_at = self._known(TIES, names, self._relations_at)
        return {
            name: None if relations is None else len(relations)
            for name, relations in relations_at.items()
        }

    def summaries(self, names: Iterable[str], limit: int) -> dict[str, list[RelationSummary]]:
        """Return the relations at entities, but for those with more than `limit`: of these the
        store gives some that it chooses itself. Names that are no entity may have relations, too.
        """
        relations_at = self._known(TIES, names, self._relations_at)
        return {
            name: self._summaries_at(name, relations)
            for name, relations in relations_at.items()
            if relations is not None and len(relations) <= limit
        }

    def stars(self, names: Iterable[str], limit: int) -> dict[str, Star | None]:
        """Return the heaviest relations at entities, and how many they have; None for what is known
        not to be.
        """
        relations_at = self._known(TIES, names, self._relations_at)
        return {
            name: None if relations is None else self._star(name, relations, limit)
            for name, relations in relations_at.items()
        }

    def _known(self, kind: str, keys: Iterable[K], values: Mapping[K, V]) -> dict[K, V | None]:
        """Return the values of keys that have not changed; None where there was none."""
        changes = self._changes
        return {key: values.get(key) for key in keys if (kind, key) not in changes}

    def _node(self, entity: Entity) -> Node:
        node = self._nodes.get(entity.name)
        if node is None:
            sources, paths = entity.source_ids[:MOST_SOURCES], entity.file_paths[:MOST_SOURCES]
            node = Node(entity.name, entity.type, sources, paths, entity.support)
            self._nodes[entity.name] = node
        return node

    def _summaries_at(self, name: str, relations: Sequence[Relation]) -> list[RelationSummary]:
        summaries = self._summaries.get(name)
        if summaries is None:
            summaries = sorted_ties(
                RelationSummary(*relation.key, relation.weight) for relation in relations
            )
            self._summaries[name] = summaries
        return summaries

    def _star(self, name: str, relations: Sequence[Relation], limit: int) -> Star:
        star = self._stars.get((name, limit))
        if star is None:
            between_entities = [
                relation
                for relation in relations
                if all(end in self._entities for end in relation.key)
            ]
            heaviest = nsmallest(
                limit, between_entities, key=lambda relation: (-relation.weight, relation.key)
            )
            star = Star(len(relations), tuple(map(_summary, heaviest)))
            self._stars[name, limit] = star
        return star


def _summary(relation: Relation) -> RelationSummary:
    sources = relation.source_ids[:MOST_SOURCES]
    return RelationSummary(*relation.key, relation.weight, relation.keywords, sources)
