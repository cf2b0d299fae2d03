"""Entities and relations as records of tables, for the databases that speak SQL: lists in JSON,
texts as `runtime/stores/texts.py` stores them; descriptions and lists may be packed
(`runtime/stores/packed_texts.py`).

What reads a record takes its columns in the order that stands here, whatever follows them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.packed_texts import Packed, unpacked_list, unpacked_text
from runtime.stores.texts import read_text, stored_text

Record = Sequence[Any]
"""The values of a row, in the order of the columns that were asked for."""

ENTITY_COLUMNS = (
    *("name", "revision", "type", "description", "source_ids", "file_paths"),
    *("support", "created_at"),
)
RELATION_COLUMNS = (
    *("source", "target", "revision", "weight", "keywords", "description", "source_ids"),
    *("file_paths", "support", "created_at"),
)
NODE_COLUMNS = ("name", "type", "source_ids", "support")


def joined(texts: Sequence[str]) -> str:
    """Return a list of texts as JSON."""
    return orjson.dumps(texts).decode()


def entity_values(
    entity: Entity,
    of_text: Callable[[str], Packed] = stored_text,
    of_list: Callable[[Sequence[str]], Packed] = joined,
) -> tuple[Any, ...]:
    """Return the values of ENTITY_COLUMNS. `of_text`, `of_list`: what stores the description and
    the lists.
    """
    return (
        stored_text(entity.name),
        entity.revision,
        stored_text(entity.type),
        of_text(entity.description),
        of_list(entity.source_ids),
        of_list(entity.file_paths),
        entity.support,
        entity.created_at,
    )


def relation_values(
    relation: Relation,
    of_text: Callable[[str], Packed] = stored_text,
    of_list: Callable[[Sequence[str]], Packed] = joined,
) -> tuple[Any, ...]:
    """Return the values of RELATION_COLUMNS, as `entity_values` does."""
    return (
        stored_text(relation.source),
        stored_text(relation.target),
        relation.revision,
        float(relation.weight),
        of_list(relation.keywords),
        of_text(relation.description),
        of_list(relation.source_ids),
        of_list(relation.file_paths),
        relation.support,
        relation.created_at,
    )


def read_entity(record: Record) -> Entity:
    """Return the entity in a record of ENTITY_COLUMNS."""
    name, revision, type, description, source_ids, file_paths, support, created_at, *_ = record
    return Entity(
        read_text(name),
        revision,
        type=read_text(type),
        description=_description(description),
        source_ids=unpacked_list(source_ids),
        file_paths=unpacked_list(file_paths),
        support=support,
        created_at=created_at,
    )


def read_relation(record: Record) -> Relation:
    """Return the relation in a record of RELATION_COLUMNS."""
    source, target, revision, weight, keywords, description, source_ids, file_paths, *rest = record
    return Relation(
        read_text(source),
        read_text(target),
        revision,
        weight=weight,
        keywords=unpacked_list(keywords),
        description=_description(description),
        source_ids=unpacked_list(source_ids),
        file_paths=unpacked_list(file_paths),
        support=rest[0],
        created_at=rest[1],
    )


def read_entity_excerpt(record: Record, longest: int) -> Entity:
    """Return the excerpt in a record of name, revision, support and the beginning of the
    description.
    """
    name, revision, support, description = record
    return Entity(
        read_text(name), revision, support=support, description=_description(description)[:longest]
    )


def read_relation_excerpt(record: Record, longest: int) -> Relation:
    """Return the excerpt in a record of source, target, revision, keywords and the beginning of the
    description.
    """
    source, target, revision, keywords, description = record
    return Relation(
        read_text(source),
        read_text(target),
        revision,
        keywords=unpacked_list(keywords),
        description=_description(description)[:longest],
    )


def stored_excerpt(longest: int) -> int:
    """Return how many characters to read for the first `longest`: some are stored as two."""
    return 2 * longest


def read_node(record: Record) -> Node:
    """Return the node in a record of NODE_COLUMNS."""
    name, type, source_ids, support, *_ = record
    return Node(read_text(name), read_text(type), unpacked_list(source_ids)[:MOST_SOURCES], support)


def read_tie(record: Record) -> RelationSummary:
    """Return the relation summary in a record of source, target, weight, keywords and chunks."""
    source, target, weight, keywords, source_ids, *_ = record
    return RelationSummary(
        read_text(source),
        read_text(target),
        weight,
        unpacked_list(keywords),
        unpacked_list(source_ids)[:MOST_SOURCES],
    )


def _description(stored_description: Packed) -> str:
    return read_text(unpacked_text(stored_description))
