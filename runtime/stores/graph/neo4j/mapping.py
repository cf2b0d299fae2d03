"""Entities and relations as the rows that the statements of `cypher.py` take and give."""

from sys import intern
from typing import Any

import orjson

from contracts.graph import Entity, Relation
from contracts.ids import pair
from runtime.stores.graph.neo4j.cypher import page_of
from runtime.stores.graph.port import MOST_SOURCES, Node, RelationSummary


def end_row(name: str) -> dict[str, Any]:
    """Return a name as a row of PUT_MISSING_ENDS."""
    return {"name": name, "page": page_of(name)}


def entity_row(entity: Entity) -> dict[str, Any]:
    """Return an entity as a row of PUT_ENTITIES."""
    values = {
        "gone": entity.is_gone,
        "type": entity.type,
        "description": entity.description,
        "source_ids": _joined(entity.source_ids),
        "file_paths": _joined(entity.file_paths),
        "head": _joined((entity.source_ids[:MOST_SOURCES], entity.file_paths[:MOST_SOURCES])),
        "support": entity.support,
        "created_at": entity.created_at,
    }
    return {
        "name": entity.name,
        "page": page_of(entity.name),
        "revision": entity.revision,
        "values": values,
    }


def relation_row(relation: Relation) -> dict[str, Any]:
    """Return a relation as a row in a group of the PUT_RELATIONS statements."""
    values = {
        "gone": relation.is_gone,
        "source": relation.source,
        "target": relation.target,
        "weight": float(relation.weight),
        "keywords": list(relation.keywords),
        "description": relation.description,
        "source_ids": _joined(relation.source_ids),
        "file_paths": _joined(relation.file_paths),
        "head": _joined(relation.source_ids[:MOST_SOURCES]),
        "support": relation.support,
        "created_at": relation.created_at,
    }
    return {
        "source": relation.source,
        "target": relation.target,
        "revision": relation.revision,
        "values": values,
    }


def read_entity(values: dict[str, Any]) -> Entity:
    """Return the entity with these properties."""
    return Entity(
        values["name"],
        values["revision"],
        type=values["type"],
        description=values["description"],
        source_ids=_parted(values["source_ids"]),
        file_paths=_parted(values["file_paths"]),
        support=values["support"],
        created_at=values["created_at"],
    )


def read_relation(values: dict[str, Any]) -> Relation:
    """Return the relation with these properties."""
    return Relation(
        *pair(values["source"], values["target"]),
        values["revision"],
        weight=values["weight"],
        keywords=tuple(values["keywords"]),
        description=values["description"],
        source_ids=_parted(values["source_ids"]),
        file_paths=_parted(values["file_paths"]),
        support=values["support"],
        created_at=values["created_at"],
    )


def _joined(texts: tuple[str, ...] | tuple[tuple[str, ...], ...]) -> str:
    return orjson.dumps(texts).decode()


def _parted(texts: str) -> tuple[str, ...]:
    # Interned: a chunk and its file are named by some fifty entities and relations, which questions
    # keep in memory (decision 25).
    return tuple(map(intern, orjson.loads(texts)))


def read_node(name: str, row: dict[str, Any]) -> Node:
    """Return the node in a row of NODES, or at one end of a row of TIED."""
    sources, paths = orjson.loads(row["head"])
    return Node(
        name, row["type"], tuple(map(intern, sources)), tuple(map(intern, paths)), row["support"]
    )


def read_tie(row: dict[str, Any]) -> RelationSummary:
    """Return the relation summary of a row of TIED."""
    ends = pair(row["name"], row["other"])
    return RelationSummary(*ends, row["weight"], tuple(row["keywords"]), _parted(row["tied_in"]))
