"""A table or view of PostgreSQL as a source: a row is a document, by a template of its columns.

Rows are compared by hashes that the server makes. With a replication slot (`slot=`) only rows that
changed are looked at.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self, cast
from urllib.parse import SplitResult, parse_qsl

from contracts.access import Access, access_of
from operations.sources.port import Listing, SourceFile, SourceItem
from operations.sources.postgres_slot import MAX_CHANGES, Slot
from operations.sources.secrets import PASSWORD, credentials
from publishing.draft import validated
from runtime.errors import InvalidInput, Unavailable

TIMEOUT = 30
"""Seconds until a connection is open, or closed."""

REQUEST_TIMEOUT = 600.0
"""Seconds that the server may take for one request: it compares all rows in one."""

MAX_ADDRESS = 1024
"""Characters of an address, which events carry."""

SESSION = {
    "application_name": "lightstream-sync",
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "iso_8601",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
"""What the texts of values depend on: another session must give the same hash of a row."""

_PLACE = re.compile(r"\{(\w+)\}")
_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod) AS type, indkey IS NOT NULL AS is_key
FROM pg_attribute
LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary AND attnum = ANY(indkey)
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


@dataclass(frozen=True)
class TableAddress:
    """What the address of a table says: `postgresql://USER@HOST/DB?table=…&title=…&text=…`."""

    table: str
    id: tuple[str, ...] = ()
    """Columns that name a row; empty: its primary key."""
    title: str = ""
    """The column whose value a document is named by; empty: its key."""
    text: str = ""
    """The template, `{column}` for a value; empty: every column in a line of its own."""
    allow: str = ""
    """The column that says who may see a row: an array, or names with commas between."""
    deny: str = ""
    slot: str = ""
    """The replication slot and publication that tell what changed; empty: none."""
    sslmode: str = ""

    @classmethod
    def of(cls, query: str) -> Self:
        """Return what the parameters say. Raises InvalidInput for others."""
        fields = dict(parse_qsl(query, keep_blank_values=True))
        names = ("table", "id", "title", "text", "allow", "deny", "slot", "sslmode")
        if unknown_names := set(fields).difference(names):
            raise InvalidInput(
                f"a source of PostgreSQL has no parameter {min(unknown_names)!r}: "
                f"it has {', '.join(names)}"
            )
        if not fields.get("table"):
            raise InvalidInput("name the table or view: postgresql://USER@HOST/DB?table=notes")
        if not re.fullmatch(r"[a-z0-9_]{0,63}", fields.get("slot", "")):
            raise InvalidInput("the name of a slot has letters a to z, digits and _ alone")
        id = tuple(column.strip() for column in fields.pop("id", "").split(",") if column.strip())
        text = fields.pop("text", "").replace("\\n", "\n")
        return cls(id=id, text=text, **fields)


@dataclass(frozen=True)
class Table:
    """A table as the server has it."""

    name: str
    """Quoted, with its schema."""
    key: tuple[str, ...]
    """Columns that name a row."""
    types: tuple[str, ...]
    """Their types."""
    is_primary: bool
    """Whether these are the primary key, which changes name a row by."""

    @property
    def key_text(self) -> str:
        """Return SQL for the key of a row, as a list of texts in JSON."""
        # As changes have the values: a cast has others, of `char` for one.
        texts = ", ".join(f"format('%s', source_row.{quoted(column)})" for column in self.key)
        return f"jsonb_build_array({texts})::text"

    @property
    def has_key(self) -> str:
        """Return SQL for whether a row has a key."""
        return " AND ".join(f"source_row.{quoted(column)} IS NOT NULL" for column in self.key)

    @property
    def joined_keys(self) -> str:
        """Return SQL for the rows of keys that are given as one list a column."""
        numbers = range(1, len(self.key) + 1)
        lists = ", ".join(f"${number}::text[]" for number in numbers)
        names = ", ".join(f"value_{number}" for number in numbers)
        parts = zip(self.key, self.types, numbers, strict=True)
        conditions = " AND ".join(
            f"source_row.{quoted(column)} = CAST(value_{number} AS {type})"
            for column, type, number in parts
        )
        return f"{self.name} source_row JOIN unnest({lists}) AS given({names}) ON {conditions}"


class PostgresSource:
    """The rows of a table or view."""

    lists_all = True
    versions_tell_content = False

    def __init__(self, address: SplitResult) -> None:
        self.name = address.geturl()
        self.address = address
        self.wanted = TableAddress.of(address.query)
        self._connection: Any = None
        self._table: Table | None = None
        self._lock = asyncio.Lock()
        """A connection answers one request at a time."""
        if len(self.name) > MAX_ADDRESS:
            raise InvalidInput(f"the address is longer than {MAX_ADDRESS} characters")

    async def list_items(self, cursor: str) -> Listing | None:
        """Return all rows, or with a slot those that changed since the cursor; see the port."""
        async with self._asked():
            table = await self._describe()
            if not self.wanted.slot:
                return Listing(await self._items(table))
            slot = Slot(self._connection, self.wanted.slot)
            if why_not := await slot.why_not_usable(self.wanted.table, table.is_primary):
                note = f"all rows were compared, for changes cannot be read: {why_not}"
                return Listing(await self._items(table), note=note)
            changes = await slot.changes_since(cursor, self.wanted.table, table.key)
            if changes is None or changes.rows.is_emptied:
                start = changes.cursor if changes else await slot.start()
                return Listing(await self._items(table), cursor=start)
            items = await self._items(table, list(changes.rows.keys))
            present_keys = {item.key for item in items}
            changed_keys = map(key_text, changes.rows.keys)
            gone_keys = [key for key in changed_keys if key not in present_keys]
            more = f"more than {MAX_CHANGES:,} changes: run it again" if changes.has_more else ""
            return Listing(items, cursor=changes.cursor, gone_keys=gone_keys, note=more)

    async def _describe(self) -> Table:
        """Return the table. Raises InvalidInput for one that is not there or lacks a column."""
        wanted = self.wanted
        rows = await self._connection.fetch(_COLUMNS, wanted.table)
        name = await self._connection.fetchval("SELECT $1::text::regclass::text", wanted.table)
        columns = tuple(row["attname"] for row in rows)
        primary_key = tuple(row["attname"] for row in rows if row["is_key"])
        named_columns = (wanted.title, wanted.allow, wanted.deny, *wanted.id)
        for column in (*filter(None, named_columns), *_PLACE.findall(wanted.text)):
            if column not in columns:
                raise InvalidInput(
                    f"{wanted.table} has no column {column}: it has {', '.join(columns)}"
                )
        key = wanted.id or primary_key
        if not key:
            raise InvalidInput(f"{wanted.table} has no primary key: add &id=COLUMN,COLUMN")
        types = {row["attname"]: row["type"] for row in rows}
        key_types = tuple(types[column] for column in key)
        self._table = Table(name, key, key_types, set(key) == set(primary_key))
        return self._table

    async def _items(
        self, table: Table, keys: Sequence[Sequence[str]] | None = None
    ) -> list[SourceItem]:
        """Return the rows, or those of these keys."""
        title = f"source_row.{quoted(self.wanted.title)}::text" if self.wanted.title else "NULL"
        place = f"{table.name} source_row" if keys is None else table.joined_keys
        # Names are the server's own, quoted.
        sql = (
            f"SELECT {table.key_text} AS key, {title} AS title, "  # noqa: S608
            "encode(sha256(convert_to(source_row::text, 'UTF8')), 'hex') AS version "
            f"FROM {place} WHERE {table.has_key}"
        )
        given_keys = [] if keys is None else columns_of(keys, len(table.key))
        rows = await self._connection.fetch(sql, *given_keys)
        items: dict[str, SourceItem] = {}
        for row in rows:
            values: list[str] = json.loads(row["key"])
            key = key_text(values)
            items[key] = SourceItem(
                key, self._shown(row["title"] or "-".join(values)), row["version"]
            )
        if len(items) < len(rows):
            raise InvalidInput(f"{', '.join(table.key)} names several rows: add others to id=")
        return list(items.values())

    def _shown(self, title: str) -> str:
        """Return the name of a document: the table and its title, as a path may be written."""
        plain_title = re.sub(r"[\x00-\x1f/\\]+", " ", title).strip(" .")[:200]
        return f"{self.wanted.table}/{plain_title or 'row'}"

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a row as Markdown; see the port."""
        table = self._table
        assert table is not None
        sql = f"SELECT row_to_json(source_row)::text FROM {table.joined_keys}"  # noqa: S608
        values_of_key: list[str] = json.loads(item.key)
        async with self._lock, self._asked():
            row = await self._connection.fetchval(sql, *([value] for value in values_of_key))
        if row is None:
            raise InvalidInput("was deleted meanwhile: the next run sees that")
        values: dict[str, Any] = json.loads(row)
        text = self._text(values)
        if not text.strip():
            raise InvalidInput("has no text")
        return SourceFile(text.encode(), "row.md", "utf-8", self._access(values))

    def _text(self, values: dict[str, Any]) -> str:
        wanted = self.wanted
        if wanted.text:
            return _PLACE.sub(lambda place: shown(values[place[1]]), wanted.text)
        heading = f"# {shown(values[wanted.title])}\n\n" if wanted.title else ""
        left_out = {wanted.title, wanted.allow, wanted.deny}
        lines = [
            f"{column}: {shown(value)}"
            for column, value in values.items()
            if column not in left_out and value is not None
        ]
        return heading + "\n\n".join(lines)

    def _access(self, values: dict[str, Any]) -> Access | None:
        """Return who may see a row. Nobody may where the column is empty."""
        wanted = self.wanted
        if not (wanted.allow or wanted.deny):
            return None
        deny = principals(values.get(wanted.deny))
        if not wanted.allow:
            return validated(lambda: access_of([], deny))
        allow = principals(values.get(wanted.allow))
        return validated(lambda: Access(allow=tuple(allow), deny=tuple(deny)))

    @asynccontextmanager
    async def _asked(self) -> AsyncGenerator[None]:
        """Connect where that is not done, and say in words of ours what the server refuses."""
        import asyncpg  # noqa: PLC0415

        place = f"PostgreSQL at {self.address.hostname or 'this machine'}"
        try:
            if self._connection is None:
                self._connection = await self._connect()
            yield
        except asyncpg.InvalidAuthorizationSpecificationError:
            raise InvalidInput(
                f"{place} refuses the user: set SOURCE_USER and {PASSWORD}"
            ) from None
        except asyncpg.InsufficientPrivilegeError as error:
            raise InvalidInput(f"{place}: {error}: grant SELECT to the user") from None
        except (asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
            raise Unavailable(f"{place} does not answer: {type(error).__name__}") from None
        except asyncpg.PostgresError as error:
            # Its message names tables and columns; a detail, which names values, is left out.
            raise InvalidInput(f"{place} refuses: {error.args[0]}") from None
        except (OSError, TimeoutError, asyncpg.InterfaceError) as error:
            raise Unavailable(f"{place} does not answer: {type(error).__name__}") from None

    async def _connect(self) -> Any:
        import asyncpg  # noqa: PLC0415

        user, password = credentials(self.address.username or "")
        client: Any = asyncpg  # which has no types
        return await client.connect(
            host=self.address.hostname,
            port=self.address.port or 5432,
            database=self.address.path.strip("/") or None,
            user=user or None,
            password=password or None,
            ssl=self.wanted.sslmode or None,
            timeout=TIMEOUT,
            command_timeout=REQUEST_TIMEOUT,
            server_settings=SESSION,
        )

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            async with asyncio.timeout(TIMEOUT):
                await self._connection.close()


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def key_text(values: Sequence[str]) -> str:
    """Return a key as the server has it: a list in JSON."""
    return json.dumps(list(values), ensure_ascii=False)


def columns_of(keys: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    """Return the values of keys, a list for each of their columns."""
    return [[key[number] for key in keys] for number in range(count)]


def shown(value: Any) -> str:
    """Return a value as a document has it; empty for none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def principals(value: Any) -> list[str]:
    """Return the principals that a column names: an array, or a text with commas between."""
    if isinstance(value, list):
        return [str(name) for name in cast("list[object]", value)]
    return [name.strip() for name in str(value or "").split(",") if name.strip()]
