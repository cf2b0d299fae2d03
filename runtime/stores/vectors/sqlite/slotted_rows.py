"""The rows of a collection, each with its slot: where its vector stands among the blocks.

The slots of a workspace are the numbers from 0 to its count of rows. A new row takes the next one;
where one is deleted the last rows move to the slots that are free.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from contracts.graph import VectorRow
from runtime.stores.sqlite.lists import among, json_list
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.sqlite import blocks
from runtime.stores.vectors.sqlite.tables import VectorTable

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
"""The columns of a row, beside its workspace and its slot."""

Record = tuple[Any, ...]

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
    slot_of_id: dict[str, int] = dict(
        select(connection, table, workspace, [row.id for row in new_rows], "id, slot")
    )
    next_slot = count(connection, table, workspace)
    for row in new_rows:
        if row.id not in slot_of_id:
            slot_of_id[row.id] = next_slot
            next_slot += 1
    names = ", ".join(("workspace", "slot", *COLUMNS))
    changes = ", ".join(f"{column} = excluded.{column}" for column in COLUMNS[1:])
    connection.executemany(
        f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * (len(COLUMNS) + 2))}) "
        f"ON CONFLICT (workspace, id) DO UPDATE SET {changes}",
        [(workspace, slot_of_id[row.id], *_values(row)) for row in new_rows],
    )
    slots = [slot_of_id[row.id] for row in new_rows]
    vectors = np.array([row.vector for row in new_rows], np.float32)
    blocks.write(connection, table, workspace, slots, vectors)


def delete(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    ids: Collection[str],
    before: int | None,
) -> None:
    """Delete rows, and let the last ones take their slots."""
    count_before = count(connection, table, workspace)
    sql = (
        f"DELETE FROM {table.name} WHERE workspace = ? "
        f"AND {among('id')} AND version < coalesce(?, version + 1) "
        "RETURNING slot"
    )
    records = connection.execute(sql, (workspace, json_list(list(ids)), before)).fetchall()
    if not records:
        return
    count_after = count_before - len(records)
    free_slots = sorted(slot for (slot,) in records if slot < count_after)
    last_rows = connection.execute(
        f"SELECT slot FROM {table.name} WHERE workspace = ? AND slot >= ? ORDER BY slot",
        (workspace, count_after),
    )
    slots = [slot for (slot,) in last_rows]
    # Read before the first is written: nothing changes under the cursor.
    for slots_here, entries in list(blocks.read_some(connection, table, workspace, slots)):
        targets = [free_slots[slots.index(slot)] for slot in slots_here.tolist()]
        blocks.write(connection, table, workspace, targets, entries.vectors())
    connection.executemany(
        f"UPDATE {table.name} SET slot = ? WHERE workspace = ? AND slot = ?",
        [(free_slot, workspace, slot) for free_slot, slot in zip(free_slots, slots, strict=True)],
    )
    blocks.cut(connection, table, workspace, count_after)


def count(connection: sqlite3.Connection, table: VectorTable, workspace: str) -> int:
    """Return the number of rows, which is the next slot."""
    sql = f"SELECT max(slot) FROM {table.name} WHERE workspace = ?"
    (last_slot,) = connection.execute(sql, (workspace,)).fetchone()
    return 0 if last_slot is None else last_slot + 1


def select(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    ids: Iterable[str],
    columns: str = _SLOT_AND_COLUMNS,
) -> list[Record]:
    """Return these columns of the rows that exist among `ids`."""
    sql = f"SELECT {columns} FROM {table.name} WHERE workspace = ? AND {among('id')}"
    return connection.execute(sql, (workspace, json_list(list(ids)))).fetchall()


def page(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    after: str,
    limit: int,
    columns: str = _SLOT_AND_COLUMNS,
) -> list[Record]:
    """Return these columns of up to `limit` rows with greater ids, by id."""
    sql = f"SELECT {columns} FROM {table.name} WHERE workspace = ? AND id > ? ORDER BY id LIMIT ?"
    return connection.execute(sql, (workspace, after, max(0, limit))).fetchall()


def at_slots(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, slots: Collection[int]
) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return slot, id and names of the rows with these slots."""
    sql = (
        f"SELECT slot, id, names FROM {table.name} INDEXED BY {table.slots} "
        f"WHERE workspace = ? AND {among('slot')}"
    )
    records = connection.execute(sql, (workspace, json_list(list(slots))))
    return [(slot, id, tuple(orjson.loads(names))) for slot, id, names in records]


def from_record(record: Record, vector: tuple[float, ...] = ()) -> VectorRow:
    """Return the row in a record of all columns."""
    fields: Mapping[str, Any] = dict(zip(COLUMNS, record[1:], strict=True))
    return stored.from_fields({**fields, "vector": vector})


def _values(row: VectorRow) -> Record:
    """Return the values of a normalized row, in the order of the columns."""
    return (
        row.id,
        row.text,
        row.text_hash,
        orjson.dumps(row.names).decode(),
        row.document_id,
        row.file_path,
        row.version,
        row.order,
    )
