"""A graph as numbers, without texts: what leads from one entity to others, and what relations are
ranked by. Questions need no store for it.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.graph.write_batches import node_of
from services.query.retrieval.arrays import Integers
from services.query.retrieval.passage_index.grouped import Grouped, group_starts
from services.query.retrieval.port import EntitySupports
from services.query.retrieval.ranking import Pair, RankedRelations

ENTITY = "entity"
"""The kind of a change of an entity, before its name."""
RELATION = "relation"
"""The kind of a change of a relation, before its ends."""

ENTITY_SIZE = 250
"""Bytes that an entity takes beside its chunks, with its name, about."""
RELATION_SIZE = 50
"""Bytes that a relation takes beside its chunks, about."""
CHUNKS_SIZE = 56
"""Bytes that a list of chunks takes, about, beside 8 for each. Those with one chunk are shared."""
MAX_REPLACED_SHARE = 0.25
"""The share of entities whose relations may have changed before those of all are sorted anew."""


@dataclass(frozen=True, slots=True)
class Star:
    """The relations at one entity, the heaviest first and perhaps not all, and how many it has."""

    degree: int
    relations: tuple[RelationSummary, ...]


@dataclass(frozen=True)
class Changes:
    """Entities by name, and relations by their ends, that are no longer what the arrays have."""

    names: frozenset[str]
    pairs: frozenset[Pair]


class GraphArrays:
    """Entities and relations by their numbers. One task at a time reads or changes it.

    An end of a relation that is no entity has a number, too.
    """

    def __init__(self) -> None:
        self.size = 0
        """Bytes, about."""
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._types: list[str] = []
        self._chunks: list[tuple[str, ...]] = []
        self._supports = array("q")
        self._exists = bytearray()
        """1 for an entity."""
        self._degrees = array("q")
        """Relations at each name; one with itself counts once."""
        self._sources = array("i")
        self._targets = array("i")
        self._weights = array("d")
        self._chunks_of_relations: list[tuple[str, ...]] = []
        self._at_names = Grouped(np.zeros(1, np.int64), np.empty(0, np.int32))
        """The relations at each name; those since are in `_replaced`."""
        self._replaced: dict[int, Integers] = {}
        self._shared_chunks: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._changed_names: set[str] = set()
        self._changed_pairs: set[Pair] = set()

    @property
    def row_count(self) -> int:
        """Return the number of entities and relations, about: with those that are gone."""
        return len(self._names) + len(self._weights)

    @property
    def change_count(self) -> int:
        """Return the number of entities and relations that were forgotten."""
        return len(self._changed_names) + len(self._changed_pairs)

    def add(self, rows: Iterable[Entity | Relation]) -> None:
        """Add entities or relations, each once. `sort` must follow."""
        for row in rows:
            if isinstance(row, Entity):
                self._put_entity(node_of(row))
            else:
                self._put_relation(row)

    def sort(self) -> None:
        """Make the lists of relations of all names."""
        is_there = np.flatnonzero(~np.isnan(np.frombuffer(self._weights)))
        sources, targets = self._ends(is_there)
        with_others = sources != targets
        ends = np.concatenate([sources, targets[with_others]])
        relations = np.concatenate([is_there, is_there[with_others]]).astype(np.int32)
        order = np.argsort(ends, kind="stable")
        starts = group_starts(ends[order], len(self._names))
        self._at_names = Grouped(starts, relations[order])
        self._degrees = array("q", np.diff(starts).astype(np.int64).tobytes())
        self._replaced = {}

    def forget(self, change: tuple[Any, ...]) -> None:
        """Know no more of a key, given with its kind: see `ChangedKeys`. `renew` must follow."""
        if change[0] == ENTITY:
            self._changed_names.add(change[1])
        elif change[0] == RELATION:
            self._changed_pairs.add(change[1])

    def changes(self) -> Changes:
        """Return what was forgotten."""
        return Changes(frozenset(self._changed_names), frozenset(self._changed_pairs))

    def renew(self, nodes: Mapping[str, Node], relations: Mapping[Pair, Relation]) -> None:
        """Know all again that was forgotten: these are those of it that exist."""
        for name in self._changed_names:
            if name in nodes or name in self._numbers:
                self._put_entity(nodes.get(name, Node(name)), exists=name in nodes)
        for pair in self._changed_pairs:
            number = self._relation_at(pair)
            relation = relations.get(pair)
            if number is None and relation is not None:
                self._connect(self._put_relation(relation))
            elif number is not None and relation is not None:
                self._weights[number] = relation.weight
                self._chunks_of_relations[number] = self._shared(relation.source_ids)
            elif number is not None:
                self._disconnect(number)
        self._changed_names = set()
        self._changed_pairs = set()
        if len(self._replaced) > MAX_REPLACED_SHARE * len(self._names):
            self.sort()

    def types(self) -> dict[str, str]:
        """Return the types of all entities by name."""
        return {
            name: type
            for name, type, exists in zip(self._names, self._types, self._exists, strict=True)
            if exists
        }

    def existing(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that are entities."""
        return [name for name in names if self._is_entity(name)]

    def nodes(self, names: Iterable[str]) -> dict[str, Node]:
        """Return the entities that exist among these names."""
        number_of = self._numbers.get
        exists = self._exists
        numbers = [
            number for name in names if (number := number_of(name)) is not None and exists[number]
        ]
        columns = (self._names, self._types, self._chunks, self._supports)
        rows = zip(*(map(column.__getitem__, numbers) for column in columns), strict=True)
        return {node.name: node for node in map(Node._make, rows)}

    def supports(self, names: Sequence[str]) -> EntitySupports:
        """See `GraphReader.supports`."""
        numbers = np.fromiter(map(self._numbers.get, names, repeat(-1)), np.int64, len(names))
        counts = np.zeros(len(names), np.int64)
        places = np.flatnonzero(numbers >= 0)
        counts[places] = np.frombuffer(self._supports, np.int64)[numbers[places]]

        def chunks_of(place: int) -> Sequence[str]:
            number = int(numbers[place])
            return self._chunks[number] if number >= 0 else ()

        return EntitySupports(counts, chunks_of)

    def stars(self, names: Iterable[str], limit: int) -> dict[str, Star]:
        """Return the heaviest relations to other entities of those that exist among these names,
        without keywords, and how many each has with any name.
        """
        return {name: self._star(self._numbers[name], limit) for name in self.existing(names)}

    def ranked(
        self, names: Iterable[str], *, limit: int, besides: Collection[Pair]
    ) -> RankedRelations:
        """See `GraphReader.ranked_relations`."""
        numbers = [self._numbers[name] for name in names if name in self._numbers]
        relations = np.unique(_joined([self._at_name(number) for number in numbers]))
        numbers_besides = [self._relation_at(pair) for pair in set(besides)]
        existing = [number for number in numbers_besides if number is not None]
        unknown = len(numbers_besides) - len(existing)
        count = len(np.union1d(relations, existing)) + unknown
        return RankedRelations(self._first(relations, limit), count)

    def _first(self, relations: Integers, limit: int) -> list[Pair]:
        """Return the ends of the first `limit` of these by degrees and weights: see
        `rank_relations`.
        """
        exists = np.frombuffer(self._exists, np.bool_)
        degrees = np.frombuffer(self._degrees, np.int64) * exists
        sources, targets = self._ends(relations)
        sums = degrees[sources] + degrees[targets]
        weights = np.frombuffer(self._weights)[relations]
        if 0 < limit < len(relations):
            # At hubs there are thousands more, which are not worth sorting.
            cut_off = len(relations) - limit
            chosen = np.flatnonzero(sums >= np.partition(sums, cut_off)[cut_off])
            sources, targets = sources[chosen], targets[chosen]
            sums, weights = sums[chosen], weights[chosen]
        name = self._names.__getitem__
        ranks = sorted(
            zip(
                (-sums).tolist(),
                (-weights).tolist(),
                map(name, sources.tolist()),
                map(name, targets.tolist()),
                strict=True,
            )
        )
        return [(source, target) for _, _, source, target in ranks[: max(limit, 0)]]

    def _star(self, number: int, limit: int) -> Star:
        relations = self._at_name(number)
        degree = len(relations)
        exists = np.frombuffer(self._exists, np.bool_)
        sources, targets = self._ends(relations)
        relations = relations[exists[sources] & exists[targets]]
        if 0 < limit < len(relations):
            weights = np.frombuffer(self._weights)[relations]
            cut_off = len(relations) - limit
            relations = relations[weights >= np.partition(weights, cut_off)[cut_off]]
        summaries = sorted(
            map(self._summary, relations.tolist()),
            key=lambda relation: (-relation.weight, relation.key),
        )
        return Star(degree, tuple(summaries[: max(limit, 0)]))

    def _summary(self, number: int) -> RelationSummary:
        return RelationSummary(
            self._names[self._sources[number]],
            self._names[self._targets[number]],
            self._weights[number],
            source_ids=self._chunks_of_relations[number],
        )

    def _is_entity(self, name: str) -> bool:
        number = self._numbers.get(name, -1)
        return number >= 0 and bool(self._exists[number])

    def _ends(self, relations: Integers) -> tuple[Integers, Integers]:
        """Return (relations,) and (relations,): the numbers of their two ends."""
        sources = np.frombuffer(self._sources, np.int32)[relations]
        return sources, np.frombuffer(self._targets, np.int32)[relations]

    def _at_name(self, number: int) -> Integers:
        """Return the relations at a name."""
        relations = self._replaced.get(number)
        if relations is not None:
            return relations
        is_new = number + 1 >= len(self._at_names.starts)
        return self._at_names.values[:0] if is_new else self._at_names.of(number)

    def _relation_at(self, pair: Pair) -> int | None:
        """Return the number of the relation of these two ends."""
        numbers = [self._numbers.get(end) for end in pair]
        source, target = numbers
        if source is None or target is None:
            return None
        at_end = min(self._at_name(source), self._at_name(target), key=len)
        sources, targets = self._ends(at_end)
        places = np.flatnonzero((sources == source) & (targets == target))
        return int(at_end[places[0]]) if len(places) else None

    def _put_entity(self, node: Node, *, exists: bool = True) -> None:
        number = self._number(node.name)
        self._exists[number] = exists
        self._types[number] = node.type
        self._chunks[number] = self._shared(node.source_ids)
        self._supports[number] = node.support

    def _put_relation(self, relation: Relation) -> int:
        """Add a relation, and return its number; the lists of its ends lack it."""
        source, target = relation.key
        self._sources.append(self._number(source))
        self._targets.append(self._number(target))
        self._weights.append(relation.weight)
        self._chunks_of_relations.append(self._shared(relation.source_ids))
        self.size += RELATION_SIZE
        return len(self._weights) - 1

    def _number(self, name: str) -> int:
        """Return the number of a name, a new one where it has none."""
        number = self._numbers.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
            self._types.append(UNKNOWN_TYPE)
            self._chunks.append(())
            self._supports.append(0)
            self._exists.append(0)
            self._degrees.append(0)
            self.size += ENTITY_SIZE
        return number

    def _shared(self, chunks: Sequence[str]) -> tuple[str, ...]:
        """Return the first chunks; most rows have one, and that of many others."""
        first_chunks = tuple(chunks[:MOST_SOURCES])
        if len(first_chunks) < 2:
            return self._shared_chunks.setdefault(first_chunks, first_chunks)
        self.size += CHUNKS_SIZE + 8 * len(first_chunks)
        return first_chunks

    def _connect(self, number: int) -> None:
        """Have the ends of a relation list it."""
        for end in {self._sources[number], self._targets[number]}:
            self._replace(end, np.append(self._at_name(end), np.int32(number)))

    def _disconnect(self, number: int) -> None:
        """Have a relation no more."""
        self._weights[number] = np.nan
        self._chunks_of_relations[number] = ()
        for end in {self._sources[number], self._targets[number]}:
            relations = self._at_name(end)
            self._replace(end, relations[relations != number])

    def _replace(self, number: int, relations: Integers) -> None:
        self._replaced[number] = relations
        self._degrees[number] = len(relations)


def _joined(arrays: Sequence[Integers]) -> Integers:
    return np.concatenate([np.empty(0, np.int32), *arrays])
