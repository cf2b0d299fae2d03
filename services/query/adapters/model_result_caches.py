"""Cached results of a language model in the document store, which a person may clear."""

from contracts.graph import Partition
from runtime.stores.documents.port import Rows, Table

CLEARED = ("extractions", "figure_descriptions", "keywords", "answers")
"""Tables of cached results of a language model, in generation 0."""


class RowModelResultCaches:
    """`ModelResultCaches` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def clear(self, workspace: str) -> None:
        """See `ModelResultCaches.clear`."""
        for name in CLEARED:
            await self._rows.drop(Table(name, Partition(workspace, 0)))
