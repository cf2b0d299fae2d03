"""How many relations each entity has, kept in a SQLite file by triggers, so that whoever writes
relations keeps it, an older program, too.

A degree's class is the power of two below it: class 3 are 8 to 15 relations. It changes seldom, and
only it is indexed: an index of degrees would be written for both ends of each new relation.
"""

import sqlite3

from runtime.stores.graph.sqlite.tables import ENTITIES, RELATIONS
from runtime.stores.graph.table_records import Record

DEGREES = "graph_degrees"
CLASSES = f"{DEGREES}_class"

LEAST_CLASS = 2
"""Entities with fewer relations, most of all, stand in no index."""

_ENDS = "(new.source_id, new.target_id)"
_OLD_ENDS = "(old.source_id, old.target_id)"

# The only names in SQL text are those of tables and columns; every value is a parameter.
# ruff: noqa: S608

# A relation of an entity with itself counts once: it is named twice in the list, and is one row.
_ADD = (
    f"INSERT INTO {DEGREES} (entity_id, partition_id, degree, class) "
    f"SELECT id, partition_id, 0, 0 FROM {ENTITIES} WHERE id IN {_ENDS} "
    "ON CONFLICT (entity_id) DO NOTHING; "
    f"UPDATE {DEGREES} SET degree = degree + 1 WHERE entity_id IN {_ENDS}; "
    f"UPDATE {DEGREES} SET class = class + 1 WHERE entity_id IN {_ENDS} "
    "AND degree >= 1 << (class + 1);"
)
_TAKE = (
    f"UPDATE {DEGREES} SET degree = degree - 1 WHERE entity_id IN {_OLD_ENDS}; "
    f"UPDATE {DEGREES} SET class = class - 1 WHERE entity_id IN {_OLD_ENDS} "
    "AND class > 0 AND degree < 1 << class;"
)


def schema_statements() -> dict[str, str]:
    """Return, by the name of a table, an index or a trigger, the statement that makes it where it
    is missing.
    """
    triggers = {
        "added": (f"INSERT ON {RELATIONS} WHEN new.weight IS NOT NULL", _ADD),
        "back": (
            f"UPDATE OF weight ON {RELATIONS} WHEN old.weight IS NULL AND new.weight IS NOT NULL",
            _ADD,
        ),
        "gone": (
            f"UPDATE OF weight ON {RELATIONS} WHEN old.weight IS NOT NULL AND new.weight IS NULL",
            _TAKE,
        ),
        "deleted": (f"DELETE ON {RELATIONS} WHEN old.weight IS NOT NULL", _TAKE),
        "without_entity": (
            f"DELETE ON {ENTITIES}",
            f"DELETE FROM {DEGREES} WHERE entity_id = old.id;",
        ),
    }
    return {
        DEGREES: (
            f"CREATE TABLE IF NOT EXISTS {DEGREES} (entity_id INTEGER PRIMARY KEY, "
            "partition_id INTEGER NOT NULL, degree INTEGER NOT NULL, class INTEGER NOT NULL)"
        ),
        CLASSES: (
            f"CREATE INDEX IF NOT EXISTS {CLASSES} ON {DEGREES} (partition_id, class) "
            f"WHERE class >= {LEAST_CLASS}"
        ),
        **{
            f"{DEGREES}_{name}": (
                f"CREATE TRIGGER IF NOT EXISTS {DEGREES}_{name} AFTER {when} BEGIN {body} END"
            )
            for name, (when, body) in triggers.items()
        },
    }


def count_all(connection: sqlite3.Connection) -> None:
    """Fill the table from the relations of a file that had none."""
    ends = (
        f"SELECT source_id AS id FROM {RELATIONS} WHERE weight IS NOT NULL UNION ALL "
        f"SELECT target_id FROM {RELATIONS} WHERE weight IS NOT NULL AND target_id <> source_id"
    )
    connection.execute(
        f"INSERT INTO {DEGREES} SELECT entity.id, entity.partition_id, count(*), 0 "
        f"FROM ({ends}) ends JOIN {ENTITIES} entity ON entity.id = ends.id GROUP BY entity.id"
    )
    raise_classes = f"UPDATE {DEGREES} SET class = class + 1 WHERE degree >= 1 << (class + 1)"
    while connection.execute(raise_classes).rowcount:
        pass


def hubs(connection: sqlite3.Connection, partition_id: int, limit: int) -> list[Record]:
    """Return the names of the entities with the most relations: of the classes that have enough of
    them, else, where few entities have several relations, of all.
    """
    nth = (
        f"SELECT class FROM {DEGREES} WHERE partition_id = ? AND class >= {LEAST_CLASS} "
        "ORDER BY class DESC LIMIT 1 OFFSET ?"
    )
    of_classes = (
        f"SELECT entity.name FROM {DEGREES} CROSS JOIN {ENTITIES} entity ON entity.id = entity_id "
        f"WHERE {DEGREES}.partition_id = ? AND class >= {LEAST_CLASS} AND class >= ? "
        "AND NOT entity.gone ORDER BY degree DESC, entity.name LIMIT ?"
    )
    record = connection.execute(nth, (partition_id, max(limit - 1, 0))).fetchone()
    for least_class in range(record[0], LEAST_CLASS - 1, -1) if record else ():
        names = connection.execute(of_classes, (partition_id, least_class, limit)).fetchall()
        if len(names) == limit:
            return names
    of_all = (
        f"SELECT entity.name FROM {ENTITIES} entity LEFT JOIN {DEGREES} ON entity_id = entity.id "
        "WHERE entity.partition_id = ? AND NOT gone "
        "ORDER BY coalesce(degree, 0) DESC, entity.name LIMIT ?"
    )
    return connection.execute(of_all, (partition_id, limit)).fetchall()
