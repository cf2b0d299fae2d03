"""Keep the bounds of documents (version and number of chunks) for a projection: one row per
document.
"""

from collections.abc import Collection, Mapping

from contracts.graph import DocumentBounds, Partition
from contracts.ids import sha256
from runtime.stores.documents.port import Row, Rows, Table


class RowDocumentBounds:
    """`DocumentBounds` in a table of their own; the newest version wins."""

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows = rows
        self._table = table

    async def put(
        self, partition: Partition, extents: Mapping[str, DocumentBounds]
    ) -> dict[str, DocumentBounds]:
        """Write each unless a newer version is stored. Returns the previous bounds of the documents
        that had any.
        """
        rows = {
            _key(id): {"document_id": id, "version": e.version, "count": e.count}
            for id, e in extents.items()
        }
        before: dict[str, Row] = {}

        def newest(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
            # Exactly what is replaced: of two who put bounds at once one must find those of the
            # other (decision 17).
            before.update(stored_rows)
            return {
                key: max(stored_rows.get(key, row), row, key=lambda candidate: candidate["version"])
                for key, row in rows.items()
            }

        await self._rows.update(Table(self._table, partition), rows, newest)
        return {
            row["document_id"]: DocumentBounds(row["version"], row["count"])
            for row in before.values()
        }

    async def get(
        self, partition: Partition, documents: Collection[str]
    ) -> dict[str, DocumentBounds]:
        """Return the bounds of those of `documents` that have any."""
        rows = await self._rows.get(Table(self._table, partition), [_key(id) for id in documents])
        return {
            row["document_id"]: DocumentBounds(row["version"], row["count"])
            for row in rows.values()
        }


def _key(document: str) -> str:
    return sha256(document)[:40]
