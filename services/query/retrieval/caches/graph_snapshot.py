"""A graph as it was read at once, which questions look into without asking the store."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from sys import getsizeof
from typing import Any, TypeVar, cast

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.graph.write_batches import node_of, sorted_ties

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

ENTITY = "entity"
"""The kind of a change of an entity, before its name."""
RELATION = "relation"
"""The kind of a change of a relation, before its ends."""
TIES = "ties"
"""The kind of a change of the relations at an entity, before its name."""

ROW_SIZE = 750
"""Bytes that an entity or relation takes beside its description, about."""
OUTLINE_SIZE = 300
"""Bytes that one without texts takes, about."""
SHARED_TEXT = 16
"""Bytes that naming a chunk or a file takes, about: its text is shared with all others that name
it.
"""


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
    """Entities and relations, without what has changed since until that is renewed.

    Without texts it has what leads from one to the others, and takes a quarter of the bytes.
    """

    def __init__(self, *, has_texts: bool = True) -> None:
        self.has_texts = has_texts
        self.size = 0
        """Bytes, about."""
        self._entities: dict[str, Entity | Node] = {}
        self._relations: dict[tuple[str, str], Relation | RelationSummary] = {}
        self._relations_at: defaultdict[str, list[Relation | RelationSummary]] = defaultdict(list)
        """By either end, also where that is no entity."""
        self._changed_names: set[str] = set()
        self._changed_pairs: set[tuple[str, str]] = set()
        self._changed_ends: set[str] = set()
        """Entities of which the relations are no longer what they were."""
        self._nodes: dict[str, Node] = {}
        self._summaries: dict[str, list[RelationSummary]] = {}
        self._stars: dict[str, tuple[int, Star]] = {}
        """With the limit that they were asked for with."""

    def __len__(self) -> int:
        """Return the number of entities and relations."""
        return len(self._entities) + len(self._relations)

    def add(self, rows: Iterable[Entity | Relation]) -> None:
        """Add entities or relations, each once."""
        for row in rows:
            if isinstance(row, Entity):
                self._add_entity(row if self.has_texts else _node(row))
            else:
                self._add_relation(row if self.has_texts else _summary(row))

    def _add_entity(self, entity: Entity | Node) -> None:
        self._entities[entity.name] = entity
        self.size += _size(entity)

    def _add_relation(self, relation: Relation | RelationSummary) -> None:
        key = relation.key
        self._relations[key] = relation
        for end in {*key}:
            self._relations_at[end].append(relation)
        self.size += _size(relation)

    def without_texts(self) -> "GraphSnapshot":
        """Return the same without texts, where nothing has changed yet."""
        outline = GraphSnapshot(has_texts=False)
        for entity in self._entities.values():
            outline._add_entity(_node(entity))
        for relation in self._relations.values():
            outline._add_relation(_summary(relation))
        return outline

    def forget(self, change: tuple[Any, ...]) -> None:
        """Know no more of a key, given with its kind: see `ChangedKeys`."""
        if change[0] == ENTITY:
            self._changed_names.add(change[1])
        elif change[0] == RELATION:
            self._changed_pairs.add(change[1])
        elif change[0] == TIES:
            self._changed_ends.add(change[1])

    def changes(self) -> Changes:
        """Return what was forgotten."""
        return Changes(frozenset(self._changed_names), frozenset(self._changed_pairs))

    def renew(
        self, entities: Mapping[str, Entity], relations: Mapping[tuple[str, str], Relation]
    ) -> None:
        """Know all again that was forgotten: these are those of it that exist."""
        names, pairs = self._changed_names, self._changed_pairs
        touched = {end for pair in pairs for end in pair}
        # Whether a name is an entity decides what the stars of its neighbours have.
        for name in names:
            if (name in self._entities) != (name in entities):
                touched.update(end for each in self._relations_at.get(name, ()) for end in each.key)
        self._remove(names, pairs)
        self.add(entities.values())
        self.add(relations.values())
        for name in names | touched:
            self._nodes.pop(name, None)
            self._summaries.pop(name, None)
            self._stars.pop(name, None)
        self._changed_names = set()
        self._changed_pairs = set()
        self._changed_ends = set()

    def _remove(self, names: Iterable[str], pairs: Collection[tuple[str, str]]) -> None:
        """Have none of these entities and relations."""
        for name in names:
            if (entity := self._entities.pop(name, None)) is not None:
                self.size -= _size(entity)
        for pair in pairs:
            if (relation := self._relations.pop(pair, None)) is not None:
                self.size -= _size(relation)
        for end in {end for pair in pairs for end in pair}:
            relations_at = self._relations_at[end]
            relations_at[:] = [relation for relation in relations_at if relation.key not in pairs]

    def types(self) -> dict[str, str] | None:
        """Return the types of all entities by name; None where some have changed."""
        if self._changed_names:
            return None
        return {name: entity.type for name, entity in self._entities.items()}

    def entities(self, names: Iterable[str]) -> dict[str, Entity | None]:
        """Return entities; None for what is known not to be."""
        return {
            name: entity
            for name, entity in _known(names, self._entities, self._changed_names).items()
            if not isinstance(entity, Node)
        }

    def relations(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Relation | None]:
        """Return relations; None for what is known not to be."""
        return {
            pair: relation
            for pair, relation in _known(pairs, self._relations, self._changed_pairs).items()
            if not isinstance(relation, RelationSummary)
        }

    def nodes(self, names: Iterable[str]) -> dict[str, Node | None]:
        """Return entities without their texts; None for what is known not to be."""
        entities = _known(names, self._entities, self._changed_names)
        if not self.has_texts:
            return cast("dict[str, Node | None]", entities)
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

    def _known_relations_at(
        self, names: Iterable[str]
    ) -> dict[str, Sequence[Relation | RelationSummary] | None]:
        """Return the relations at entities that have not changed; None for what is no entity."""
        changed_ends = self._changed_ends
        return {
            name: self._relations_at.get(name, ()) if name in self._entities else None
            for name in names
            if name not in changed_ends
        }

    def _node(self, entity: Entity | Node) -> Node:
        node = self._nodes.get(entity.name)
        if node is None:
            node = self._nodes[entity.name] = _node(entity)
        return node

    def _summaries_at(
        self, name: str, relations: Sequence[Relation | RelationSummary]
    ) -> list[RelationSummary]:
        summaries = self._summaries.get(name)
        if summaries is None:
            summaries = sorted_ties(
                RelationSummary(*relation.key, relation.weight) for relation in relations
            )
            if self.has_texts:
                self._summaries[name] = summaries
        return summaries

    def _star(self, name: str, relations: Sequence[Relation | RelationSummary], limit: int) -> Star:
        former_limit, star = self._stars.get(name, (0, None))
        if star is None or former_limit != limit:
            between_entities = [
                relation
                for relation in relations
                if all(end in self._entities for end in relation.key)
            ]
            heaviest = nsmallest(
                limit, between_entities, key=lambda relation: (-relation.weight, relation.key)
            )
            star = Star(len(relations), tuple(map(_summary, heaviest)))
            self._stars[name] = (limit, star)
        return star


def _known(keys: Iterable[K], values: Mapping[K, V], changed: Collection[K]) -> dict[K, V | None]:
    """Return the values of keys that have not changed; None where there was none."""
    if not changed:
        return {key: values.get(key) for key in keys}
    return {key: values.get(key) for key in keys if key not in changed}


def _node(entity: Entity | Node) -> Node:
    return entity if isinstance(entity, Node) else node_of(entity)


def _summary(relation: Relation | RelationSummary) -> RelationSummary:
    if isinstance(relation, RelationSummary):
        return relation
    sources = relation.source_ids[:MOST_SOURCES]
    return RelationSummary(*relation.key, relation.weight, relation.keywords, sources)


def _size(row: Entity | Node | Relation | RelationSummary) -> int:
    """Return the bytes that it takes in a snapshot, about."""
    shared_texts = SHARED_TEXT * len(row.source_ids)
    if isinstance(row, Node | RelationSummary):
        return OUTLINE_SIZE + shared_texts
    return ROW_SIZE + shared_texts + SHARED_TEXT * len(row.file_paths) + getsizeof(row.description)
