"""Reads aliases from the merger's rows: the edits that decide them, and the names that entities go
by.
"""

from collections.abc import Mapping
from typing import Any

from contracts.graph import Partition
from contracts.graph_edits import ALIAS_OPERATIONS
from knowledge.contribution_rows import (
    EDITS_COUNTER,
    EDITS_TABLE,
    FOLDED_TABLE,
    MENTIONS_TABLE,
    aliases_in,
)
from runtime.stores.documents.port import Rows, Table
from services.query.retrieval.port import AliasEdit

PAGE = 1000
_ENTITIES = "e"
_BEHIND_ENTITIES = "f"
"""Row keys of folded entities lie between these two; those of relations behind them."""


class RowAliases:
    """`EntityAliases` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def edits(self, partition: Partition) -> list[AliasEdit]:
        """See `EntityAliases.edits`."""
        edits: list[AliasEdit] = []
        after = ""
        while page := await self._rows.scan(Table(EDITS_TABLE, partition), after, PAGE):
            edits += [
                _edit(row)
                for _, row in page
                if row["operation"] in (*ALIAS_OPERATIONS, "merge_entities")
            ]
            after = page[-1][0]
        return edits

    async def of(self, partition: Partition) -> list[tuple[str, str]]:
        """See `EntityAliases.of`."""
        aliases: list[tuple[str, str]] = []
        after = _ENTITIES
        while after < _BEHIND_ENTITIES and (
            page := await self._rows.scan(Table(FOLDED_TABLE, partition), after, PAGE)
        ):
            aliases += [
                pair for key, row in page if key < _BEHIND_ENTITIES for pair in aliases_in(row)
            ]
            after = page[-1][0]
        return sorted(aliases)

    async def changes(self, partition: Partition) -> int:
        """See `EntityAliases.changes`."""
        rows = await self._rows.get(Table(MENTIONS_TABLE, partition), [EDITS_COUNTER])
        return rows[EDITS_COUNTER]["n"] if rows else 0


def _edit(row: Mapping[str, Any]) -> AliasEdit:
    # Rows of older releases lack what came with aliases.
    details = (row.get("editor", ""), row.get("proposed_by", ""), row.get("evidence", ""))
    return AliasEdit(
        row["operation"], tuple(row["names"]), row["target"], row.get("at", 0), *details
    )
