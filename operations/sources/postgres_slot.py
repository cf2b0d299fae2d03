"""A replication slot of PostgreSQL: since when it tells what changed in a table, and what that is.

The slot is moved on only to where the log of the workspace says that all was read.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from operations.sources.postgres_changes import ChangedRows
from runtime.errors import Unavailable

MAX_CHANGES = 100_000
"""Changes that one run takes; the next one goes on there."""

VISIBLE_SECONDS = 10.0
"""Seconds until rows of a transaction that has ended must be visible to others."""

PLUGIN = "pgoutput"


@dataclass(frozen=True)
class Changes:
    """Rows that changed, and the place in the server's log up to which these are all."""

    rows: ChangedRows
    cursor: str
    has_more: bool


@dataclass(frozen=True)
class Slot:
    """The slot and the publication of one name."""

    connection: Any
    name: str

    async def why_not_usable(self, table: str, is_primary_key: bool) -> str:
        """Return why changes of the table cannot be read; empty where they can."""
        level = await self.connection.fetchval("SHOW wal_level")
        if level != "logical":
            return f"wal_level is {level}, not logical"
        rights = await self.connection.fetchrow(
            "SELECT (rolsuper OR rolreplication) AS may_replicate, "
            "(SELECT relkind = 'r' AND relreplident = 'd' FROM pg_class "
            "WHERE oid = $1::text::regclass) AS names_rows "
            "FROM pg_roles WHERE rolname = current_user",
            table,
        )
        if not rights["may_replicate"]:
            return "the user lacks the attribute REPLICATION"
        if not (rights["names_rows"] and is_primary_key):
            return "changes name rows by the primary key of a table, which is not what names them"
        return await self._why_unpublished(table)

    async def _why_unpublished(self, table: str) -> str:
        """Publish the changes of the table, where they are not; return why that is refused."""
        import asyncpg  # noqa: PLC0415

        is_published = await self.connection.fetchval(
            "SELECT EXISTS (SELECT FROM pg_publication_tables WHERE pubname = $1::text "
            "AND format('%I.%I', schemaname, tablename)::regclass = $2::text::regclass)",
            self.name,
            table,
        )
        if is_published:
            return ""
        name = await self.connection.fetchval("SELECT $1::text::regclass::text", table)
        statement = f'CREATE PUBLICATION "{self.name}" FOR TABLE {name}'
        try:
            await self.connection.execute(statement)
        except (asyncpg.InsufficientPrivilegeError, asyncpg.DuplicateObjectError) as error:
            return f"{error.args[0]}: have somebody run {statement}"
        return ""

    async def start(self) -> str:
        """Make the slot where it is not, and return from where on it tells changes."""
        position = await self._position()
        if position is None:
            await self.connection.execute(
                "SELECT pg_create_logical_replication_slot($1::text, $2::text)", self.name, PLUGIN
            )
            position = await self._position()
        return position or ""

    async def changes_since(self, cursor: str, table: str, key: Sequence[str]) -> Changes | None:
        """Return what changed since the cursor; None where the slot does not know that. Raises
        Unavailable.
        """
        position = await self._position()
        if not cursor or position is None or not await self._is_before(position, cursor):
            return None
        if position != cursor:
            await self.connection.execute(
                "SELECT pg_replication_slot_advance($1::text, $2::text::pg_lsn)", self.name, cursor
            )
        end = await self.connection.fetchval("SELECT pg_current_wal_flush_lsn()::text")
        messages = await self.connection.fetch(
            "SELECT xid::text AS transaction, data FROM pg_logical_slot_peek_binary_changes("
            "$1::text, $2::text::pg_lsn, $3, 'proto_version', '1', 'publication_names', $1::text)",
            self.name,
            end,
            MAX_CHANGES,
        )
        schema, name = await self.connection.fetchrow(
            "SELECT nspname, relname FROM pg_class "
            "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE pg_class.oid = $1::text::regclass",
            table,
        )
        rows = ChangedRows(schema, name, key)
        for message in messages:
            rows.apply(message["data"])
        has_more = len(messages) >= MAX_CHANGES
        await self._wait_until_visible({message["transaction"] for message in messages})
        return Changes(rows, lsn_text(rows.end) if has_more else end, has_more)

    async def _position(self) -> str | None:
        """Return up to where the slot was read; None where there is none that can be used."""
        return await self.connection.fetchval(
            "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = $1::text "
            "AND plugin = $2::text AND database = current_database() "
            "AND wal_status IS DISTINCT FROM 'lost'",
            self.name,
            PLUGIN,
        )

    async def _is_before(self, position: str, cursor: str) -> bool:
        return await self.connection.fetchval(
            "SELECT $1::text::pg_lsn <= $2::text::pg_lsn", position, cursor
        )

    async def _wait_until_visible(self, transactions: set[str]) -> None:
        """Wait until transactions that stand in the server's log have ended for others, too."""
        try:
            async with asyncio.timeout(VISIBLE_SECONDS):
                while await self.connection.fetchval(  # noqa: ASYNC110 # the server tells nobody
                    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'transactionid' "
                    "AND transactionid::text = ANY($1::text[]))",
                    list(transactions),
                ):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise Unavailable("PostgreSQL does not end a transaction: try again") from None


def lsn_text(position: int) -> str:
    """Return a place in the server's log as PostgreSQL writes it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"
