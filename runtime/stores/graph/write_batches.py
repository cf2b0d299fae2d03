"""Prepare rows for writing, for every adapter: check, strip tombstones, keep the newest, sort,
batch.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from contracts.graph import Entity, Relation
from runtime.batching import batched_by_bytes
from runtime.errors import Poison
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary

T = TypeVar("T")
Groups = list[dict[str, Any]]

LONGEST_NAME = 6000
"""Bytes of UTF-8. Neo4j's index holds keys of about 8 KB, of which workspace and generation take
some.
"""

MAX_ROWS = 500
"""Names or pairs that one statement reads."""

MAX_WRITTEN = 1000
"""Entities, and as many relations, that one transaction writes. Relations change the rows of both
their ends: in a transaction of its own each further part of a call would write nearly all pages of
the others again.
"""

MAX_BYTES = 4 * 1024 * 1024
"""Of one message. ArcadeDB never answers a message of over 16 MiB."""

SCANNED_TIES = 2000
"""Relations of one entity that are looked at for its heaviest."""

_ROW_OVERHEAD = 400
_TEXT_OVERHEAD = 5


def newest_entities(entities: Iterable[Entity]) -> list[Entity]:
    """Return the highest revision of each name, sorted by name; tombstones without their texts.

    The database's own revision guard does not see two rows of one batch. Sorted keys are locked in
    one order, so that writers rarely wait for each other in a circle. Raises `Poison` when a row
    cannot be stored.
    """
    best: dict[str, Entity] = {}
    for entity in entities:
        size_of_entity(entity)
        best_entity = best.get(entity.name)
        if best_entity is None or best_entity.revision < entity.revision:
            best[entity.name] = entity
    return [_stripped_entity(best[name]) for name in sorted(best)]


def newest_relations(relations: Iterable[Relation]) -> list[Relation]:
    """Return the highest revision of each relation, sorted by its pair, with `source` ≤
    `target`.
    """
    best: dict[tuple[str, str], Relation] = {}
    for relation in relations:
        size_of_relation(relation)
        best_relation = best.get(relation.key)
        if best_relation is None or best_relation.revision < relation.revision:
            best[relation.key] = relation
    return [_stripped_relation(best[key]) for key in sorted(best)]


def sorted_ties(ties: Iterable[RelationSummary]) -> list[RelationSummary]:
    """Return each relation summary once, heaviest first, then by names."""
    return sorted(set(ties), key=lambda tie: (-tie.weight, tie.key))


def size_of_entity(entity: Entity) -> int:
    """Return about how many bytes it takes in a message. Raises `Poison` when it cannot be
    stored.
    """
    _check_name(entity.name)
    return _size(
        (entity.name, entity.type, entity.description, *entity.source_ids, *entity.file_paths)
    )


def size_of_relation(relation: Relation) -> int:
    """Return about how many bytes it takes in a message. Raises `Poison` when it cannot be
    stored.
    """
    _check_name(relation.source)
    _check_name(relation.target)
    if not math.isfinite(relation.weight):
        raise Poison(f"a relation's weight must be a finite number, not {relation.weight}")
    texts = (relation.source, relation.target, relation.description)
    return _size((*texts, *relation.keywords, *relation.source_ids, *relation.file_paths))


def node_of(entity: Entity) -> Node:
    """Return the entity as a neighbourhood shows it."""
    return Node(entity.name, entity.type, entity.source_ids[:MOST_SOURCES], entity.support)


def tie_of(relation: Relation) -> RelationSummary:
    """Return the relation as a neighbourhood shows it."""
    return RelationSummary(
        *relation.key, relation.weight, relation.keywords, relation.source_ids[:MOST_SOURCES]
    )


def can_be_stored(name: str) -> bool:
    """Return whether an entity of this name can be stored."""
    try:
        _check_name(name)
    except Poison:
        return False
    return True


def batches(items: Iterable[T], bytes_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the items to read in order, in lists that one message can carry."""
    return batched_by_bytes(items, bytes_of, max_items=MAX_ROWS, max_bytes=MAX_BYTES)


def written_batches(items: Iterable[T], bytes_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the items to write in order, in lists that one transaction takes."""
    return batched_by_bytes(items, bytes_of, max_items=MAX_WRITTEN, max_bytes=MAX_BYTES)


def transactions(
    entities: Sequence[Entity], relations: Sequence[Relation]
) -> Iterator[tuple[Sequence[Entity], Sequence[Relation]]]:
    """Yield what one transaction after the other writes: the entities, then the relations.

    The last entities and the first relations share a transaction: for most calls the only one.
    """
    if not entities and not relations:
        return
    *first_entities, last_entities = list(written_batches(entities, size_of_entity)) or [[]]
    first_relations, *other_relations = list(written_batches(relations, size_of_relation)) or [[]]
    for entity_batch in first_entities:
        yield entity_batch, []
    yield last_entities, first_relations
    for relation_batch in other_relations:
        yield [], relation_batch


def ends_beside(entities: Iterable[Entity], relations: Iterable[Relation]) -> list[Entity]:
    """Return a tombstone of revision 0 for each end of the relations that is not among the
    entities, by name. Every stored entity takes its place.
    """
    names = {name for relation in relations for name in relation.key}
    names -= {entity.name for entity in entities}
    return [Entity(name, 0, is_gone=True) for name in sorted(names)]


def storable(names: Iterable[str]) -> list[str]:
    """Return each name once that an entity can have."""
    return list(filter(can_be_stored, dict.fromkeys(names)))


def storable_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return each pair once that a relation can have."""
    return [pair for pair in dict.fromkeys(pairs) if all(map(can_be_stored, pair))]


def _check_name(name: str) -> None:
    if not 0 < _bytes(name) <= LONGEST_NAME:
        raise Poison(
            f"an entity's name must have 1 to {LONGEST_NAME} bytes, {name[:40]!r} has "
            f"{_bytes(name)}"
        )


def _size(texts: Sequence[str]) -> int:
    total = _ROW_OVERHEAD + _bytes("".join(texts)) + _TEXT_OVERHEAD * len(texts)
    if total > MAX_BYTES:
        raise Poison(f"a row of {total} bytes is larger than a message may be ({MAX_BYTES})")
    return total


def _bytes(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Poison(
            "a text of the graph contains half a surrogate pair, which UTF-8 cannot say"
        ) from error


def _stripped_entity(entity: Entity) -> Entity:
    """Strip a tombstone to its key and revision: what was erased must not stay in a hidden row."""
    return Entity(entity.name, entity.revision, is_gone=True) if entity.is_gone else entity


def _stripped_relation(relation: Relation) -> Relation:
    source, target = relation.key
    if relation.is_gone:
        return Relation(source, target, relation.revision, is_gone=True)
    return (
        relation if relation.source == source else replace(relation, source=source, target=target)
    )


def by_smaller_end(
    rows: Iterable[dict[str, Any]], sizes: Mapping[str, int]
) -> tuple[Groups, Groups]:
    """Group rows with `source` and `target` by that of the two with fewer relations, the source if
    they have as many.

    The groups by a source, and those by a target, each a `name` with its `rows`, sorted by name.
    """
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    by_target: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        source = row["source"]
        target = row["target"]
        if sizes.get(source, 0) <= sizes.get(target, 0):
            by_source[source].append(row)
        else:
            by_target[target].append(row)
    return _groups(by_source), _groups(by_target)


def _groups(rows: Mapping[str, list[dict[str, Any]]]) -> Groups:
    return [{"name": name, "rows": rows[name]} for name in sorted(rows)]
