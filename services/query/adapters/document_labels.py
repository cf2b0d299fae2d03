"""Labels of documents, by which scopes look up tags and metadata, in the rows of these."""

from collections.abc import Callable, Mapping

from runtime.batching import batched
from runtime.stores.documents.port import Row, Rows, Table
from services.query.adapters.document_lists import read_values
from services.query.status.document_status import DocumentStatus
from services.query.status.scope import labels_of

LABELS_FIELD = "labels"
"""Of a document's row: its labels. They follow from the other fields, so no digest has them."""

LABELLED_AT_ONCE = 200
"""Rows that get labels in one write: other writers wait for it."""


def label_text(status: DocumentStatus) -> str:
    """Return the labels of a document as its row has them."""
    return " ".join(sorted(labels_of(status)))


async def read_label_texts(
    rows: Rows, table: Table, keys: frozenset[str], status_of: Callable[[Row], DocumentStatus]
) -> dict[str, str]:
    """Return the labels of the documents under these keys, out of an index. Rows of older programs
    get theirs now, once for all.
    """
    texts = await read_values(rows, table, LABELS_FIELD, keys)
    unlabelled_keys = sorted(key for key, text in texts.items() if text is None)

    def with_labels(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
        return {
            key: {**row, LABELS_FIELD: label_text(status_of(row))}
            for key, row in stored_rows.items()
        }

    for batch in batched(unlabelled_keys, LABELLED_AT_ONCE):
        written_rows = await rows.update(table, batch, with_labels)
        texts |= {key: row[LABELS_FIELD] for key, row in written_rows.items()}
    return {key: str(text) for key, text in texts.items() if text is not None}
