"""Entities and relations as the rows that the statements of `cypher.py` take and give."""

from collections.abc import Iterable, Sequence
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
        # Older programs read a second list, of files.
        "head": _joined((entity.source_ids[:MOST_SOURCES], ())),
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


def pair_rows(pairs: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return sorted pairs as rows in groups of the statements that read relations."""
    return [{"source": source, "target": target} for source, target in pairs]


def read_entity(values: Sequence[Any]) -> Entity:
    """Return the entity with these values, in the order of `cypher.ENTITY`."""
    name, revision, type, description, source_ids, file_paths, support, created_at = values
    return Entity(
        name,
        revision,
        type,
        description,
        _parted(source_ids),
        _parted(file_paths),
        support,
        created_at,
    )


def read_relation(values: Sequence[Any]) -> Relation:
    """Return the relation with these values, in the order of `cypher.RELATION`."""
    source, target, revision, weight, keywords, *texts, support, created_at = values
    description, source_ids, file_paths = texts
    return Relation(
        *pair(source, target),
        revision,
        weight,
        tuple(keywords),
        description,
        _parted(source_ids),
        _parted(file_paths),
        support,
        created_at,
    )


def _joined(texts: tuple[str, ...] | tuple[tuple[str, ...], ...]) -> str:
    return orjson.dumps(texts).decode()


def _parted(texts: str) -> tuple[str, ...]:
    # Interned: a chunk and its file are named by some fifty entities and relations, which questions
    # keep in memory (decision 25).
    return tuple(map(intern, orjson.loads(texts)))


def read_node(name: str, type: str, head: str, support: int) -> Node:
    """Return the node with these values, as a row of NODES has them."""
    sources, _ = orjson.loads(head)
    return Node(name, type, tuple(map(intern, sources)), support)


def read_end(name: str, row: dict[str, Any]) -> Node:
    """Return the node in a row of CENTRES, or at one end of a row of TIED."""
    return read_node(name, row["type"], row["head"], row["support"])


def read_tie(row: dict[str, Any]) -> RelationSummary:
    """Return the relation summary of a row of TIED."""
    ends = pair(row["name"], row["other"])
    return RelationSummary(*ends, row["weight"], tuple(row["keywords"]), _parted(row["tied_in"]))
