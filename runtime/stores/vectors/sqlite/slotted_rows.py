"""The rows of a collection, each with its slot: where its vector stands among the blocks.

The slots of a workspace are the numbers from 0 to its count of rows. A new row takes the next one,
so that rows stand in the order in which they came; where one is deleted the last rows move to the
slots that are free. An index of ids in sorted runs (`runtime/stores/sqlite/sorted_runs.py`) tells
the slot of each: in a tree in their order, which is by chance, each would have a page for itself.
"""

import itertools
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from contracts.graph import VectorRow
from runtime.stores.packed_texts import (
    Packed,
    packed_digest,
    packed_id,
    packed_text,
    unpacked_digest,
    unpacked_id,
    unpacked_text,
)
from runtime.stores.sqlite import sorted_runs
from runtime.stores.sqlite.lists import among, json_list
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.sqlite import blocks, changes
from runtime.stores.vectors.sqlite.schema import VectorTable, space_of

COLUMNS = (
    "id",
    "text",
    "text_hash",
    "names",
    "document_id",
    "file_path",
    "version",
    "position",
)
"""The columns of a row, beside the number of its workspace and its slot."""

Record = tuple[Any, ...]

_READERS: Mapping[str, Callable[[Packed], str]] = {
    "id": unpacked_id,
    "text": unpacked_text,
    "text_hash": unpacked_digest,
}
"""What reads the columns that are packed."""

_SLOT_AND_COLUMNS = ", ".join(("slot", *COLUMNS))

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


def put(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    new_rows: Sequence[VectorRow],
) -> None:
    """Store normalized rows, each id once."""
    space = space_of(connection, workspace, make=True)
    slot_of_id = sorted_runs.find(connection, table.ids, space, [row.id for row in new_rows])
    new_ids = [row.id for row in new_rows if row.id not in slot_of_id]
    new_slots = dict(zip(new_ids, itertools.count(_count(connection, table, space))))
    sorted_runs.add(connection, table.ids, space, new_slots)
    slot_of_id |= new_slots
    names = ", ".join(("space", "slot", *COLUMNS))
    updates = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS[1:])
    connection.executemany(
        f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * (len(COLUMNS) + 2))}) "
        f"ON CONFLICT (space, slot) DO UPDATE SET {updates}",
        [(space, slot_of_id[row.id], *_values(row)) for row in new_rows],
    )
    slots = [slot_of_id[row.id] for row in new_rows]
    vectors = np.array([row.vector for row in new_rows], np.float32)
    blocks.write(connection, table, workspace, slots, vectors)
    changes.record(connection, table, space, slots)


def delete(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    ids: Collection[str],
    before: int | None,
) -> None:
    """Delete rows, and let the last ones take their slots."""
    space = space_of(connection, workspace)
    slots_of_ids = sorted_runs.find(connection, table.ids, space, ids).values()
    sql = (
        f"DELETE FROM {table.name} WHERE space = ? AND {among('slot')} "
        "AND version < coalesce(?, version + 1) RETURNING slot, id"
    )
    count_before = _count(connection, table, space)
    records = connection.execute(sql, (space, json_list(list(slots_of_ids)), before)).fetchall()
    if not records:
        return
    deleted_ids = [unpacked_id(id) for _, id in records]
    sorted_runs.remove(connection, table.ids, space, deleted_ids)
    count_after = count_before - len(records)
    free_slots = sorted(slot for slot, _ in records if slot < count_after)
    last_rows = connection.execute(
        f"SELECT slot, id FROM {table.name} WHERE space = ? AND slot >= ? ORDER BY slot",
        (space, count_after),
    ).fetchall()
    slots = [slot for slot, _ in last_rows]
    # Read before the first is written: nothing changes under the cursor.
    for slots_here, entries in list(blocks.read_some(connection, table, workspace, slots)):
        targets = [free_slots[slots.index(slot)] for slot in slots_here.tolist()]
        blocks.write(connection, table, workspace, targets, entries.vectors())
    connection.executemany(
        f"UPDATE {table.name} SET slot = ? WHERE space = ? AND slot = ?",
        [(free_slot, space, slot) for free_slot, slot in zip(free_slots, slots, strict=True)],
    )
    moved_ids = [unpacked_id(id) for _, id in last_rows]
    sorted_runs.renumber(
        connection, table.ids, space, dict(zip(moved_ids, free_slots, strict=True))
    )
    blocks.cut(connection, table, workspace, count_after)
    changes.record(connection, table, space, free_slots)


def count(connection: sqlite3.Connection, table: VectorTable, workspace: str) -> int:
    """Return the number of rows, which is the next slot."""
    return _count(connection, table, space_of(connection, workspace))


def select(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    ids: Collection[str],
    columns: str = _SLOT_AND_COLUMNS,
) -> list[Record]:
    """Return these columns of the rows that exist among `ids`."""
    space = space_of(connection, workspace)
    slots = sorted_runs.find(connection, table.ids, space, ids).values()
    return _at(connection, table, space, slots, columns)


def page(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    after: str,
    limit: int,
    columns: str = _SLOT_AND_COLUMNS,
) -> list[Record]:
    """Return these columns of up to `limit` rows with greater ids, by id."""
    space = space_of(connection, workspace)
    keys = sorted_runs.page(connection, table.ids, space, after, max(0, limit))
    slots = [slot for _, slot in keys]
    records = {
        slot: record for slot, *record in _at(connection, table, space, slots, f"slot, {columns}")
    }
    return [tuple(records[slot]) for slot in slots]


def slots(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, ids: Collection[str]
) -> dict[str, int]:
    """Return the slots of the rows that exist among `ids`."""
    space = space_of(connection, workspace)
    return sorted_runs.find(connection, table.ids, space, ids)


def slots_by_id(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, prefixes: Collection[str]
) -> dict[str, int]:
    """Return the slots of the rows whose ids begin with one of `prefixes` and are longer."""
    space = space_of(connection, workspace)
    return sorted_runs.under(connection, table.ids, space, prefixes)


def at_slots(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Collection[int]
) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return slot, id and names of the rows with these slots."""
    space = space_of(connection, workspace)
    records = _at(connection, table, space, slots, "slot, id, names")
    return [(slot, id, tuple(orjson.loads(names))) for slot, id, names in records]


def ids_at(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Sequence[int]
) -> list[str]:
    """Return the ids of the rows with these slots, which exist, in the order of the slots."""
    space = space_of(connection, workspace)
    return [id for _, id in sorted(_at(connection, table, space, slots, "slot, id"))]


def from_record(record: Record, vector: tuple[float, ...] = ()) -> VectorRow:
    """Return the row in a record of all columns."""
    fields: Mapping[str, Any] = dict(zip(COLUMNS, record[1:], strict=True))
    return stored.from_fields({**fields, "vector": vector})


def _count(connection: sqlite3.Connection, table: VectorTable, space: int) -> int:
    sql = f"SELECT max(slot) FROM {table.name} WHERE space = ?"
    (last_slot,) = connection.execute(sql, (space,)).fetchone()
    return 0 if last_slot is None else last_slot + 1


def _at(
    connection: sqlite3.Connection,
    table: VectorTable,
    space: int,
    slots: Collection[int],
    columns: str,
) -> list[Record]:
    """Return these columns of the rows with these slots."""
    sql = (
        f"SELECT {columns} FROM {table.name} INDEXED BY {table.slots} "
        f"WHERE space = ? AND {among('slot')}"
    )
    records = connection.execute(sql, (space, json_list(list(slots)))).fetchall()
    readers = {
        place: _READERS[column]
        for place, column in enumerate(columns.split(", "))
        if column in _READERS
    }
    return [
        tuple(
            readers[place](value) if place in readers else value
            for place, value in enumerate(record)
        )
        for record in records
    ]


def _values(row: VectorRow) -> Record:
    """Return the values of a normalized row, in the order of the columns."""
    return (
        packed_id(row.id),
        packed_text(row.text),
        packed_digest(row.text_hash),
        orjson.dumps(row.names).decode(),
        row.document_id,
        row.file_path,
        row.version,
        row.order,
    )
