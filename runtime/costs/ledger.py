"""The ledger in the document store: the table `costs`, a row for each event that names what a model
was paid.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import fields

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.costs.port import CostEntry
from runtime.stores.documents.port import Row, Rows, Table

PAGE = 5000
"""Rows per read of a scan."""

FIRST = "order"
"""Field by which the entry with the lowest sequence wins, whichever is written last."""

_FIELDS = tuple(field.name for field in fields(CostEntry))


class RowLedger:
    """`Ledger` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def put(self, partition: Partition, entries: Mapping[str, CostEntry]) -> None:
        """See `Ledger.put`."""
        rows = {
            sha256(id)[:32]: {**vars(entry), FIRST: -entry.sequence}
            for id, entry in entries.items()
        }
        await self._rows.put_newer(_table(partition), rows, FIRST)

    async def entries(self, partition: Partition, document: str = "") -> AsyncIterator[CostEntry]:
        """See `Ledger.entries`."""
        if document:
            for _, row in await self._rows.find(_table(partition), {"document": document}):
                yield _entry(row)
            return
        after = ""
        while page := await self._rows.scan(_table(partition), after, PAGE):
            for _, row in page:
                yield _entry(row)
            after = page[-1][0]


def _table(partition: Partition) -> Table:
    return Table("costs", partition)


def _entry(row: Row) -> CostEntry:
    # Other versions of this code write more fields, or fewer.
    return CostEntry(**{name: row[name] for name in _FIELDS if name in row})
