"""A graph as it was read at once, which questions look into without asking the store."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, TypeVar

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.graph.write_batches import sorted_ties

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

ENTITY = "entity"
"""The kind of a change of an entity, before its name."""
RELATION = "relation"
"""The kind of a change of a relation, before its ends."""
TIES = "ties"
"""The kind of a change of the relations at an entity, before its name."""


@dataclass(frozen=True, slots=True)
class Star:
    """The relations at one entity, the heaviest first and perhaps not all, and how many it has."""

    degree: int
    relations: tuple[RelationSummary, ...]


@dataclass(frozen=True)
class Changes:
    """Entities by name, and relations by their ends, that are no longer what a snapshot has."""

    names: frozenset[str]
    pairs: frozenset[tuple[str, str]]


class GraphSnapshot:
    """Entities and relations, without what has changed since until that is renewed. `size` is in
    bytes, about.
    """

    def __init__(self) -> None:
        self.size = 0
        self._entities: dict[str, Entity] = {}
        self._relations: dict[tuple[str, str], Relation] = {}
        self._relations_at: defaultdict[str, list[Relation]] = defaultdict(list)
        """By either end, also where that is no entity."""
        self._changes: set[tuple[Hashable, ...]] = set()
        self._changed_names: set[str] = set()
        self._changed_pairs: set[tuple[str, str]] = set()
        self._nodes: dict[str, Node] = {}
        self._summaries: dict[str, list[RelationSummary]] = {}
        self._stars: dict[str, dict[int, Star]] = {}

    def __len__(self) -> int:
        """Return the number of entities and relations."""
        return len(self._entities) + len(self._relations)

    def add(self, rows: Iterable[Entity | Relation]) -> None:
        """Add entities or relations, each once."""
        for row in rows:
            if isinstance(row, Entity):
                self._entities[row.name] = row
                continue
            self._relations[row.key] = row
            for end in {*row.key}:
                self._relations_at[end].append(row)

    def forget(self, change: tuple[Any, ...]) -> None:
        """Know no more of a key, given with its kind: see `ChangedKeys`."""
        self._changes.add(change)
        if change[0] == ENTITY:
            self._changed_names.add(change[1])
        elif change[0] == RELATION:
            self._changed_pairs.add(change[1])

    def changes(self) -> Changes:
        """Return what was forgotten."""
        return Changes(frozenset(self._changed_names), frozenset(self._changed_pairs))

    def renew(
        self, entities: Mapping[str, Entity], relations: Mapping[tuple[str, str], Relation]
    ) -> list[Entity | Relation]:
        """Know all again that was forgotten: these are those of it that exist. Returns what it had
        in their place.
        """
        names, pairs = self._changed_names, self._changed_pairs
        ends = {end for pair in pairs for end in pair}
        # Whether a name is an entity decides what the stars of its neighbours have.
        toggled = [name for name in names if (name in self._entities) != (name in entities)]
        around = ends.union(
            end for name in toggled for each in self._relations_at.get(name, ()) for end in each.key
        )
        former_rows: list[Entity | Relation] = []
        former_rows += _replace(self._entities, names, entities)
        former_rows += _replace(self._relations, pairs, relations)
        self._replace_at_ends(ends, pairs, relations)
        for name in names | around:
            self._nodes.pop(name, None)
            self._summaries.pop(name, None)
            self._stars.pop(name, None)
        self._changes.clear()
        self._changed_names = set()
        self._changed_pairs = set()
        return former_rows

    def _replace_at_ends(
        self,
        ends: Iterable[str],
        pairs: Collection[tuple[str, str]],
        relations: Mapping[tuple[str, str], Relation],
    ) -> None:
        """Have at these ends those relations of the pairs that exist."""
        for end in ends:
            relations_at = self._relations_at[end]
            relations_at[:] = [relation for relation in relations_at if relation.key not in pairs]
        for relation in relations.values():
            for end in {*relation.key}:
                self._relations_at[end].append(relation)

    def entities(self, names: Iterable[str]) -> dict[str, Entity | None]:
        """Return entities; None for what is known not to be."""
        return self._known(ENTITY, names, self._entities)

    def relations(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Relation | None]:
        """Return relations; None for what is known not to be."""
        return self._known(RELATION, pairs, self._relations)

    def nodes(self, names: Iterable[str]) -> dict[str, Node | None]:
        """Return entities without their texts; None for what is known not to be."""
        entities = self._known(ENTITY, names, self._entities)
        return {name: self._node(entity) if entity else None for name, entity in entities.items()}

    def degrees(self, names: Iterable[str]) -> dict[str, int | None]:
        """Return how many relations entities have; None for what is known not to be."""
        relations_at = self._known_relations_at(names)
        return {
            name: None if relations is None else len(relations)
            for name, relations in relations_at.items()
        }

    def summaries(self, names: Iterable[str], limit: int) -> dict[str, list[RelationSummary]]:
        """Return the relations at entities, but for those with more than `limit`: of these the
        store gives some that it chooses itself. Names that are no entity may have relations, too.
        """
        relations_at = self._known_relations_at(names)
        return {
            name: self._summaries_at(name, relations)
            for name, relations in relations_at.items()
            if relations is not None and len(relations) <= limit
        }

    def stars(self, names: Iterable[str], limit: int) -> dict[str, Star | None]:
        """Return the heaviest relations at entities, and how many they have; None for what is known
        not to be.
        """
        relations_at = self._known_relations_at(names)
        return {
            name: None if relations is None else self._star(name, relations, limit)
            for name, relations in relations_at.items()
        }

    def _known(self, kind: str, keys: Iterable[K], values: Mapping[K, V]) -> dict[K, V | None]:
        """Return the values of keys that have not changed; None where there was none."""
        changes = self._changes
        return {key: values.get(key) for key in keys if (kind, key) not in changes}

    def _known_relations_at(self, names: Iterable[str]) -> dict[str, Sequence[Relation] | None]:
        """Return the relations at entities that have not changed; None for what is no entity."""
        changes = self._changes
        return {
            name: self._relations_at.get(name, ()) if name in self._entities else None
            for name in names
            if (TIES, name) not in changes
        }

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
        stars = self._stars.setdefault(name, {})
        star = stars.get(limit)
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
            stars[limit] = star
        return star


def _summary(relation: Relation) -> RelationSummary:
    sources = relation.source_ids[:MOST_SOURCES]
    return RelationSummary(*relation.key, relation.weight, relation.keywords, sources)


def _replace(values: dict[K, V], keys: Iterable[K], existing: Mapping[K, V]) -> list[V]:
    """Have of these keys those values that exist; return the former ones."""
    former_values = [values.pop(key) for key in keys if key in values]
    values.update(existing)
    return former_values
