"""Documents of all workspaces by status, for `/metrics`."""

from collections import Counter

from contracts.graph import Partition
from runtime.bus.port import LiveGenerations
from runtime.metrics import instruments
from runtime.semantic_conventions import STATUS
from runtime.stores.documents.port import Rows
from services.query.adapters.documents import RowDocuments
from services.query.status.document_status import STATUSES


async def read_document_counts(rows: Rows, pointers: LiveGenerations) -> None:
    """Set the gauge of documents. Raises `Unavailable`."""
    live = (await pointers.live("status")).status
    documents = RowDocuments(rows)
    counts = Counter[str]()
    for partition in await rows.partitions("documents"):
        if partition.generation == live:
            counts.update(await documents.counts(Partition(partition.workspace, live)))
    for status in STATUSES:
        instruments.documents.set(counts[status], {STATUS: status})
