"""What is written to the graph inside of a transaction: rows by their revisions, and what is
dropped.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from contracts.graph import Entity, Partition, Relation
from runtime.stores.graph.sqlite.reading import joined_pairs, json_pairs, number_of
from runtime.stores.graph.sqlite.tables import ENTITIES, PARTITIONS, RELATIONS
from runtime.stores.graph.table_records import (
    ENTITY_COLUMNS,
    RELATION_COLUMNS,
    Record,
    entity_values,
    relation_values,
)
from runtime.stores.graph.write_batches import ends_beside
from runtime.stores.packed_texts import Packed, packed_list, packed_text
from runtime.stores.sqlite.lists import among, json_list
from runtime.stores.texts import stored_text

DROPPED_AT_ONCE = 2000
"""Entities, or relations, that one transaction drops: what others wait for."""

# The only names in SQL text are those of tables and columns; every value is a parameter.
# ruff: noqa: S608

_ENTITY_COLUMNS = ("partition_id", "gone", *ENTITY_COLUMNS)
_OF_RELATION = RELATION_COLUMNS[2:]
_WEIGHT = _OF_RELATION.index("weight")
_UNWEIGHED = tuple(column for column in _OF_RELATION if column != "weight")


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _update(columns: Sequence[str]) -> str:
    return f"UPDATE {RELATIONS} SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?"


_ADD_END = f"{_insert(ENTITIES, _ENTITY_COLUMNS)} ON CONFLICT (partition_id, name) DO NOTHING"
_PUT_ENTITY = (
    f"{_insert(ENTITIES, _ENTITY_COLUMNS)} ON CONFLICT (partition_id, name) DO UPDATE SET "
    + ", ".join(f"{column} = excluded.{column}" for column in ("gone", *ENTITY_COLUMNS[1:]))
    + " WHERE revision < excluded.revision"
)
_ADD_RELATION = _insert(RELATIONS, ("source_id", "target_id", *_OF_RELATION))
_CHANGE_RELATION = _update(_OF_RELATION)
# SQLite writes each index of a column that is set, even to the value it had.
_CHANGE_UNWEIGHED = _update(_UNWEIGHED)


def put(
    connection: sqlite3.Connection,
    partition: Partition,
    entities: Sequence[Entity],
    relations: Sequence[Relation],
) -> None:
    """Write the entities and the relations, each key once, where their revision is greater than the
    stored one.
    """
    partition_id = _numbered(connection, partition)
    connection.executemany(_PUT_ENTITY, _entity_values(partition_id, entities))
    ends = ends_beside(entities, relations)
    connection.executemany(_ADD_END, _entity_values(partition_id, ends))
    if relations:
        _put_relations(connection, partition_id, relations)


def drop_some(connection: sqlite3.Connection, partition: Partition) -> bool:
    """Delete some thousands of rows of a partition; return whether there may be more."""
    partition_id = number_of(connection, partition)
    if partition_id is None:
        return False
    sql = f"SELECT id FROM {ENTITIES} WHERE partition_id = ? LIMIT ?"
    ids = json_list([id for (id,) in connection.execute(sql, (partition_id, DROPPED_AT_ONCE))])
    ends = " UNION ALL ".join(
        f"SELECT id FROM {RELATIONS} WHERE {among(end)}" for end in ("source_id", "target_id")
    )
    dropped = connection.execute(
        f"DELETE FROM {RELATIONS} WHERE id IN (SELECT id FROM ({ends}) LIMIT ?)",
        (ids, ids, DROPPED_AT_ONCE),
    )
    # An entity goes when no relation has it as an end.
    if not dropped.rowcount:
        dropped = connection.execute(f"DELETE FROM {ENTITIES} WHERE {among('id')}", (ids,))
    if not dropped.rowcount:
        connection.execute(f"DELETE FROM {PARTITIONS} WHERE id = ?", (partition_id,))
    return dropped.rowcount > 0


def _numbered(connection: sqlite3.Connection, partition: Partition) -> int:
    """Return the number of the partition, which gets one when it has none."""
    here = (partition.workspace, partition.generation)
    connection.execute(
        f"INSERT INTO {PARTITIONS} (workspace, generation) VALUES (?, ?) ON CONFLICT DO NOTHING",
        here,
    )
    sql = f"SELECT id FROM {PARTITIONS} WHERE workspace = ? AND generation = ?"
    return connection.execute(sql, here).fetchone()[0]


def _entity_values(partition_id: int, entities: Iterable[Entity]) -> list[tuple[Any, ...]]:
    return [
        (partition_id, entity.is_gone, *entity_values(entity, _packed_text, packed_list))
        for entity in entities
    ]


def _packed_text(text: str) -> Packed:
    return packed_text(stored_text(text))


def _put_relations(
    connection: sqlite3.Connection, partition_id: int, relations: Sequence[Relation]
) -> None:
    """Write relations whose ends are there."""
    sql = (
        "SELECT wanted.key, source.id, target.id, stored.id, stored.revision, stored.weight "
        f"FROM {joined_pairs('LEFT')}"
    )
    pairs = json_pairs([relation.key for relation in relations])
    stored_relations = connection.execute(sql, (pairs, partition_id)).fetchall()
    additions: list[Record] = []
    changes: list[Record] = []
    unweighed_changes: list[Record] = []
    for place, source_id, target_id, id, revision, weight in stored_relations:
        relation = relations[int(place)]
        values = list(relation_values(relation, _packed_text, packed_list)[2:])
        if relation.is_gone:
            values[_WEIGHT] = None
        if revision is None:
            additions.append((source_id, target_id, *values))
        elif revision < relation.revision and values[_WEIGHT] == weight:
            del values[_WEIGHT]
            unweighed_changes.append((*values, id))
        elif revision < relation.revision:
            changes.append((*values, id))
    connection.executemany(_ADD_RELATION, additions)
    connection.executemany(_CHANGE_RELATION, changes)
    connection.executemany(_CHANGE_UNWEIGHED, unweighed_changes)
