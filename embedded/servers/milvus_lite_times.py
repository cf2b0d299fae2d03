"""Rows of Milvus Lite that were written before the machine's clock was set back.

Milvus Lite gives each row the time at which it was written, and hides rows of a time that has yet
to come; it deletes none of them either. The time of a row decides about nothing else, so rows "of
the future" are dated to now, while no server has them.
"""

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from embedded.servers.milvus_lite_indexes import collection_tables

CLOCK_SET_BACK = "clock-set-back"
"""A file beside the database, which tells the next server to look at every row."""

NEWEST_ROWS = 1000
"""Rows of a collection that are looked at in any case: the newest, for the clock may be wrong since
the last start.
"""

PAGE = 10_000
"""Rows read at once."""

TIME_BITS = 18
"""Bits below the milliseconds since 1970 in a time of Milvus."""

TAIL = 64
"""Bytes at the end of a row in which its time stands."""

TIME_FIELD = re.compile(
    rb"\x08\x05\x12\x09Timestamp\x1a\x0d\x1a\x0b\x0a\x09(.{9})\x28\x01", re.DOTALL
)
"""A row's field `Timestamp` as protobuf: type, name, one integer of nine bytes, the field's
number.
"""


def date_rows_to_now(file: Path) -> int:
    """Date rows of times that have yet to come to now, and return how many there were.

    All rows are looked at where the file CLOCK_SET_BACK is there, which is removed then. Raises
    `sqlite3.Error`.
    """
    if not file.exists() or not file.stat().st_size:
        return 0
    marker = file.parent / CLOCK_SET_BACK
    now = int(time.time() * 1000) << TIME_BITS
    with closing(sqlite3.connect(file)) as connection:
        tables = collection_tables(connection)
        if not marker.exists() and not any(
            _newest_in_future(connection, table, now) for table in tables
        ):
            return 0
        with connection:
            row_count = sum(_date_rows(connection, table, now) for table in tables)
    marker.unlink(missing_ok=True)
    return row_count


def _newest_in_future(connection: sqlite3.Connection, table: str, now: int) -> bool:
    query = f'SELECT CAST(data AS BLOB) FROM "{table}" ORDER BY id DESC LIMIT {NEWEST_ROWS}'  # noqa: S608
    return any(written_at(data) > now for (data,) in connection.execute(query))


def _date_rows(connection: sqlite3.Connection, table: str, now: int) -> int:
    page = f'SELECT id, CAST(data AS BLOB) FROM "{table}" WHERE id > ? ORDER BY id LIMIT {PAGE}'  # noqa: S608
    change = f'UPDATE "{table}" SET data = CAST(? AS TEXT) WHERE id = ?'  # noqa: S608
    row_count = 0
    after = -1
    while rows := connection.execute(page, (after,)).fetchall():
        late_rows = [(_dated(data, now), id) for id, data in rows if written_at(data) > now]
        connection.executemany(change, late_rows)
        row_count = row_count + len(late_rows)
        after = rows[-1][0]
    return row_count


def written_at(data: bytes) -> int:
    """Return the time at which a row was written; 0 where it has none."""
    field = TIME_FIELD.search(data, max(0, len(data) - TAIL))
    if field is None:
        return 0
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(field[1]))


def _dated(data: bytes, at: int) -> bytes:
    """Return the row with another time. Every time from 1979 on takes nine bytes."""
    field = TIME_FIELD.search(data, max(0, len(data) - TAIL))
    assert field is not None
    septets = [at >> 7 * place & 0x7F for place in range(9)]
    number = bytes([*(septet | 0x80 for septet in septets[:-1]), septets[-1]])
    return data[: field.start(1)] + number + data[field.end(1) :]
