"""Keep the bounds of documents (version and number of chunks) for a projection: one row per
document.
"""

from collections.abc import Collection, Mapping

from contracts.graph import DocumentBounds, Partition
from contracts.ids import sha256
from runtime.stores.documents.port import Row, Rows, Table


class RowDocumentBounds:
    """`DocumentBounds` in a table of their own; the newest version wins, and of one version all
    that is known of it.
    """

    def __init__(self, rows: Rows, table: str) -> None:
        self._rows = rows
        self._table = table

    async def put(
        self, partition: Partition, extents: Mapping[str, DocumentBounds]
    ) -> dict[str, DocumentBounds]:
        """Write each unless a newer version is stored. Returns the previous bounds of the documents
        that had any.
        """
        rows = {_key(id): _row(id, extent) for id, extent in extents.items()}
        before: dict[str, Row] = {}

        def newest(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
            # Exactly what is replaced: of two who put bounds at once one must find those of the
            # other (decision 17).
            before.update(stored_rows)
            return {
                key: _row(
                    row["document_id"], _bounds(row).joined(_bounds(stored_rows.get(key, row)))
                )
                for key, row in rows.items()
            }

        await self._rows.update(Table(self._table, partition), rows, newest)
        return {row["document_id"]: _bounds(row) for row in before.values()}

    async def get(
        self, partition: Partition, documents: Collection[str]
    ) -> dict[str, DocumentBounds]:
        """Return the bounds of those of `documents` that have any."""
        rows = await self._rows.get(Table(self._table, partition), [_key(id) for id in documents])
        return {row["document_id"]: _bounds(row) for row in rows.values()}


def _row(document: str, bounds: DocumentBounds) -> Row:
    row: Row = {"document_id": document, "version": bounds.version, "count": bounds.count}
    # Most documents have no described figures, and are written as before.
    return row if bounds.text_count is None else {**row, "text_count": bounds.text_count}


def _bounds(row: Row) -> DocumentBounds:
    return DocumentBounds(row["version"], row["count"], row.get("text_count"))


def _key(document: str) -> str:
    return sha256(document)[:40]
