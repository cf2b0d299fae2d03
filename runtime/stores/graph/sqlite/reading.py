"""What is read of the graph inside of a transaction: records of one partition, by its number."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from contracts.graph import Partition
from runtime.stores.graph.name_filters import like_pattern
from runtime.stores.graph.sqlite.tables import ENTITIES, PARTITIONS, RELATIONS
from runtime.stores.graph.table_records import (
    ENTITY_COLUMNS,
    NODE_COLUMNS,
    RELATION_COLUMNS,
    Record,
)
from runtime.stores.graph.write_batches import SCANNED_TIES
from runtime.stores.sqlite.lists import json_list
from runtime.stores.texts import stored_text

Pair = tuple[str, str]

# The only names in SQL text are those of tables and columns; every value is a parameter.
# ruff: noqa: S608

_ENTITY_FIELDS = ", ".join(f"entity.{column}" for column in ENTITY_COLUMNS)
_NODE_FIELDS = ", ".join(f"entity.{column}" for column in NODE_COLUMNS)
_RELATION_FIELDS = ", ".join(
    ("source.name", "target.name", *(f"stored.{column}" for column in RELATION_COLUMNS[2:]))
)

# One with itself counts once.
_DEGREE = (
    f"((SELECT count(*) FROM {RELATIONS} WHERE source_id = entity.id AND weight IS NOT NULL) + "
    f"(SELECT count(*) FROM {RELATIONS} WHERE target_id = entity.id AND source_id <> entity.id "
    "AND weight IS NOT NULL))"
)

# What `stored_text` changes has a character below 2.
_NOT_ASCII = "name GLOB '*[^' || char(2) || '-~' || char(127) || ']*'"

# All relations at an entity, whichever end it is.
_AT_ENTITY = (
    f"SELECT id, target_id AS other_id, weight FROM {RELATIONS} "
    "WHERE source_id = :entity AND weight IS NOT NULL "
    f"UNION ALL SELECT id, source_id, weight FROM {RELATIONS} "
    "WHERE target_id = :entity AND source_id <> :entity AND weight IS NOT NULL"
)

# Of relations at one entity the lesser is that with the lesser other end.
_HEAVIEST_FIRST = "ORDER BY near.weight DESC, other.name LIMIT :limit"

_TIES = (
    "SELECT source.name, target.name, nearest.weight FROM ("
    "SELECT near.id, near.weight FROM "
    f"(SELECT * FROM ({_AT_ENTITY}) LIMIT {SCANNED_TIES}) near "
    f"CROSS JOIN {ENTITIES} other ON other.id = near.other_id {_HEAVIEST_FIRST}) nearest "
    f"CROSS JOIN {RELATIONS} stored ON stored.id = nearest.id "
    f"CROSS JOIN {ENTITIES} source ON source.id = stored.source_id "
    f"CROSS JOIN {ENTITIES} target ON target.id = stored.target_id"
)
_NEIGHBOURS = (
    "SELECT source.name, target.name, stored.weight, stored.keywords, stored.source_ids, "
    f"{_NODE_FIELDS} FROM (SELECT near.id, near.other_id FROM ({_AT_ENTITY}) near "
    f"CROSS JOIN {ENTITIES} other ON other.id = near.other_id WHERE NOT other.gone "
    f"{_HEAVIEST_FIRST}) nearest "
    f"CROSS JOIN {RELATIONS} stored ON stored.id = nearest.id "
    f"CROSS JOIN {ENTITIES} entity ON entity.id = nearest.other_id "
    f"CROSS JOIN {ENTITIES} source ON source.id = stored.source_id "
    f"CROSS JOIN {ENTITIES} target ON target.id = stored.target_id"
)


def number_of(connection: sqlite3.Connection, partition: Partition) -> int | None:
    """Return the number of a partition, None when it holds nothing."""
    record = connection.execute(
        f"SELECT id FROM {PARTITIONS} WHERE workspace = ? AND generation = ?",
        (partition.workspace, partition.generation),
    ).fetchone()
    return record[0] if record else None


def entities(
    connection: sqlite3.Connection, partition_id: int, names: Sequence[str]
) -> list[Record]:
    """Return the records of ENTITY_COLUMNS of the entities that exist among `names`."""
    return _of_names(connection, partition_id, names, _ENTITY_FIELDS)


def entity_excerpts(
    connection: sqlite3.Connection, partition_id: int, names: Sequence[str], longest: int
) -> list[Record]:
    """Return name, revision, support and `longest` characters of descriptions, or all of them."""
    fields = f"entity.name, entity.revision, entity.support, {_beginning('entity', longest)}"
    return _of_names(connection, partition_id, names, fields)


def nodes(connection: sqlite3.Connection, partition_id: int, names: Sequence[str]) -> list[Record]:
    """Return the records of NODE_COLUMNS of the entities that exist among `names`."""
    return _of_names(connection, partition_id, names, _NODE_FIELDS)


def centres(
    connection: sqlite3.Connection, partition_id: int, names: Sequence[str]
) -> list[Record]:
    """Return the records of NODE_COLUMNS, and then the number of relations and of the entity."""
    return _of_names(connection, partition_id, names, f"{_NODE_FIELDS}, {_DEGREE}, entity.id")


def relations(
    connection: sqlite3.Connection, partition_id: int, pairs: Sequence[Pair]
) -> list[Record]:
    """Return the records of RELATION_COLUMNS of the relations that exist among the `pairs`."""
    return _of_pairs(connection, partition_id, pairs, _RELATION_FIELDS)


def relation_excerpts(
    connection: sqlite3.Connection, partition_id: int, pairs: Sequence[Pair], longest: int
) -> list[Record]:
    """Return source, target, revision, keywords and `longest` characters of descriptions."""
    fields = "source.name, target.name, stored.revision, stored.keywords, "
    return _of_pairs(connection, partition_id, pairs, fields + _beginning("stored", longest))


def degrees(
    connection: sqlite3.Connection, partition_id: int, names: Sequence[str]
) -> list[Record]:
    """Return the name and the number of relations of the entities that exist among `names`."""
    return _of_names(connection, partition_id, names, f"entity.name, {_DEGREE}")


def ties(
    connection: sqlite3.Connection, partition_id: int, names: Sequence[str], limit: int
) -> list[Record]:
    """Return the name of an entity, gone or not, and source, target and weight of a relation: for
    each the heaviest, of the first 2,000 that there are.
    """
    ids = _of_names(connection, partition_id, names, "entity.name, entity.id", condition="true")
    return [(name, *record) for name, id in ids for record in _at(connection, _TIES, id, limit)]


def neighbours(connection: sqlite3.Connection, entity_id: int, limit: int) -> list[Record]:
    """Return the heaviest relations of an entity to others that exist: source, target, weight,
    keywords and chunks, and then NODE_COLUMNS of the other end.
    """
    return _at(connection, _NEIGHBOURS, entity_id, limit)


def entities_after(
    connection: sqlite3.Connection, partition_id: int, name: str, limit: int
) -> list[Record]:
    """Return the records of up to `limit` entities that exist after a name, by name."""
    return _after(connection, partition_id, name, limit, _ENTITY_FIELDS)


def names_after(
    connection: sqlite3.Connection, partition_id: int, name: str, limit: int, containing: str
) -> list[Record]:
    """Return names and types as `entities_after` returns records, of those that may have a text;
    the index of names says which.
    """
    fields = "entity.name, entity.type"
    if not containing:
        return _after(connection, partition_id, name, limit, fields)
    pattern = like_pattern(containing)
    has_text = "false" if pattern is None else "name LIKE :pattern ESCAPE '\\'"
    sql = (
        f"SELECT {fields} FROM {ENTITIES} entity WHERE partition_id = :partition AND name > :name "
        f"AND ({has_text} OR {_NOT_ASCII}) AND NOT gone ORDER BY name LIMIT :limit"
    )
    parameters = {
        "partition": partition_id,
        "name": stored_text(name),
        "pattern": pattern,
        "limit": limit,
    }
    return connection.execute(sql, parameters).fetchall()


def relations_after(
    connection: sqlite3.Connection, partition_id: int, pair: Pair, limit: int
) -> list[Record]:
    """Return the records of up to `limit` relations that exist after a pair, by the source's name
    and the target's number.
    """
    source, target = map(stored_text, pair)
    ids: dict[str, int] = {}
    for name, id in _of_names(
        connection, partition_id, pair, "entity.name, entity.id", condition="true"
    ):
        ids[name] = id
    records = _relations_where(
        connection,
        "source.id = ? AND stored.target_id > ?",
        (ids.get(source, 0), ids.get(target, 0), limit),
    )
    return records + _relations_where(
        connection,
        "source.partition_id = ? AND source.name > ?",
        (partition_id, source, limit - len(records)),
    )


def partitions(connection: sqlite3.Connection) -> list[Record]:
    """Return workspace and generation of all that hold anything."""
    sql = (
        f"SELECT workspace, generation FROM {PARTITIONS} partition "
        f"WHERE EXISTS (SELECT 1 FROM {ENTITIES} WHERE partition_id = partition.id)"
    )
    return connection.execute(sql).fetchall()


def joined_pairs(relations_join: str) -> str:
    """Return the tables of a query over a list of pairs: `wanted`, `source`, `target`, and `stored`
    for their relations.
    """
    return (
        f"json_each(?) AS wanted "
        f"CROSS JOIN {ENTITIES} source ON source.partition_id = ? "
        "AND source.name = json_extract(wanted.value, '$[0]') "
        f"CROSS JOIN {ENTITIES} target ON target.partition_id = source.partition_id "
        "AND target.name = json_extract(wanted.value, '$[1]') "
        f"{relations_join} JOIN {RELATIONS} stored "
        "ON stored.source_id = source.id AND stored.target_id = target.id"
    )


def json_pairs(pairs: Sequence[Pair]) -> str:
    """Return pairs of names as the parameter of `joined_pairs`."""
    return json_list([tuple(map(stored_text, pair)) for pair in pairs])


def _of_names(
    connection: sqlite3.Connection,
    partition_id: int,
    names: Sequence[str],
    fields: str,
    *,
    condition: str = "NOT entity.gone",
) -> list[Record]:
    sql = (
        f"SELECT {fields} FROM json_each(?) AS wanted CROSS JOIN {ENTITIES} entity "
        f"ON entity.partition_id = ? AND entity.name = wanted.value WHERE {condition}"
    )
    stored_names = json_list(list(map(stored_text, names)))
    return connection.execute(sql, (stored_names, partition_id)).fetchall()


def _of_pairs(
    connection: sqlite3.Connection, partition_id: int, pairs: Sequence[Pair], fields: str
) -> list[Record]:
    sql = f"SELECT {fields} FROM {joined_pairs('CROSS')} WHERE stored.weight IS NOT NULL"
    return connection.execute(sql, (json_pairs(pairs), partition_id)).fetchall()


def _after(
    connection: sqlite3.Connection, partition_id: int, name: str, limit: int, fields: str
) -> list[Record]:
    sql = (
        f"SELECT {fields} FROM {ENTITIES} entity "
        "WHERE partition_id = ? AND name > ? AND NOT gone ORDER BY name LIMIT ?"
    )
    return connection.execute(sql, (partition_id, stored_text(name), limit)).fetchall()


def _relations_where(
    connection: sqlite3.Connection, condition: str, parameters: tuple[Any, ...]
) -> list[Record]:
    sql = (
        f"SELECT {_RELATION_FIELDS} FROM {ENTITIES} source "
        f"CROSS JOIN {RELATIONS} stored ON stored.source_id = source.id "
        f"CROSS JOIN {ENTITIES} target ON target.id = stored.target_id "
        f"WHERE {condition} AND stored.weight IS NOT NULL "
        "ORDER BY source.name, stored.target_id LIMIT ?"
    )
    return connection.execute(sql, parameters).fetchall()


def _at(connection: sqlite3.Connection, sql: str, entity_id: int, limit: int) -> list[Record]:
    return connection.execute(sql, {"entity": entity_id, "limit": limit}).fetchall()


def _beginning(table: str, longest: int) -> str:
    """Return the column with the beginning of the description, or with all of one that is packed;
    of none nothing is read.
    """
    if longest <= 0:
        return "''"
    column = f"{table}.description"
    return (
        f"CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, {int(longest)}) "
        f"ELSE {column} END"
    )
