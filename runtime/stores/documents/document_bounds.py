"""How far documents reach, for a projection that keeps what their chunks say: one row per document."""

from collections.abc import Collection, Mapping

from contracts.graph import DocumentBounds, Partition
from contracts.ids import sha256
from runtime.stores.documents.port import Rows, Table


class RowDocumentBounds:
    """Extents in a table of their own; the newest version stands."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows, self._table = rows, table

    async def put(self, partition: Partition, extents: Mapping[str, DocumentBounds]) -> dict[str, DocumentBounds]:
        """Write each unless a newer version's stands. Returns what stood there before, where anything did."""
        before = await self.get(partition, list(extents))
        rows = {_key(id): {"document_id": id, "version": e.version, "count": e.count} for id, e in extents.items()}
        await self._rows.put_newer(Table(self._table, partition), rows, "version")
        return before

    async def get(self, partition: Partition, documents: Collection[str]) -> dict[str, DocumentBounds]:
        """Those that are known among `documents`."""
        found = await self._rows.get(Table(self._table, partition), [_key(id) for id in documents])
        return {row["document_id"]: DocumentBounds(row["version"], row["count"]) for row in found.values()}


def _key(document: str) -> str:
    return sha256(document)[:40]
