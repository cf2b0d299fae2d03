"""Entities and relations as the values that the statements take and give."""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

import orjson

from contracts.graph import Entity, Relation
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary
from runtime.stores.graph.postgres.statements import id_of
from runtime.stores.postgres.texts import read_text, stored_text


def entity_columns(entities: Sequence[Entity]) -> list[list[Any]]:
    """Return the values of the entities by column, in the order of the statements."""
    return _by_column([_entity_values(entity) for entity in entities])


def relation_columns(relations: Sequence[Relation]) -> list[list[Any]]:
    """Return the values of the relations by column, in the order of the statements."""
    return _by_column([_relation_values(relation) for relation in relations])


def read_entity(record: Mapping[str, Any]) -> Entity:
    """Return the entity in a record."""
    return Entity(
        read_text(record["name"]),
        record["revision"],
        type=read_text(record["type"]),
        description=read_text(record["description"]),
        source_ids=parted(record["source_ids"]),
        file_paths=parted(record["file_paths"]),
        support=record["support"],
        created_at=record["created_at"],
    )


def read_relation(record: Mapping[str, Any]) -> Relation:
    """Return the relation in a record."""
    return Relation(
        read_text(record["source"]),
        read_text(record["target"]),
        record["revision"],
        weight=record["weight"],
        keywords=parted(record["keywords"]),
        description=read_text(record["description"]),
        source_ids=parted(record["source_ids"]),
        file_paths=parted(record["file_paths"]),
        support=record["support"],
        created_at=record["created_at"],
    )


def read_node(record: Mapping[str, Any]) -> Node:
    """Return the node in a record."""
    return Node(
        read_text(record["name"]),
        read_text(record["type"]),
        parted(record["source_ids"])[:MOST_SOURCES],
        parted(record["file_paths"])[:MOST_SOURCES],
        record["support"],
    )


def read_tie(record: Mapping[str, Any]) -> RelationSummary:
    """Return the relation summary in a record of neighbours."""
    return RelationSummary(
        read_text(record["source"]),
        read_text(record["target"]),
        record["weight"],
        parted(record["keywords"]),
        parted(record["tied_in"])[:MOST_SOURCES],
    )


def _entity_values(entity: Entity) -> tuple[Any, ...]:
    return (
        id_of(entity.name),
        stored_text(entity.name),
        entity.revision,
        entity.is_gone,
        stored_text(entity.type),
        stored_text(entity.description),
        _joined(entity.source_ids),
        _joined(entity.file_paths),
        entity.support,
        entity.created_at,
    )


def _relation_values(relation: Relation) -> tuple[Any, ...]:
    return (
        id_of(relation.source),
        id_of(relation.target),
        stored_text(relation.source),
        stored_text(relation.target),
        relation.revision,
        relation.is_gone,
        float(relation.weight),
        _joined(relation.keywords),
        stored_text(relation.description),
        _joined(relation.source_ids),
        _joined(relation.file_paths),
        relation.support,
        relation.created_at,
    )


def _by_column(values: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*values, strict=True)]


def _joined(texts: tuple[str, ...]) -> str:
    return orjson.dumps(texts).decode()


def parted(texts: str) -> tuple[str, ...]:
    """Return the texts of a list that is stored as JSON."""
    # Interned: a chunk and its file are named by some fifty entities and relations, which questions
    # keep in memory (decision 25).
    return tuple(map(intern, orjson.loads(texts)))
