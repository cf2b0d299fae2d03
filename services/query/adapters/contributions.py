"""Reads all contributions of a workspace from the merger's rows."""

from collections.abc import AsyncGenerator

from contracts.graph import Partition
from knowledge.contribution_rows import CONTRIBUTIONS_TABLE, contributions_of
from runtime.stores.documents.port import Rows, Table
from services.query.retrieval.port import StoredChunk

PAGE = 500
"""Rows that are read at once."""


class RowContributions:
    """`StoredContributions` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def chunks(self, partition: Partition) -> AsyncGenerator[StoredChunk]:
        """See `StoredContributions.chunks`."""
        table = Table(CONTRIBUTIONS_TABLE, partition)
        after = ""
        while page := await self._rows.scan(table, after, PAGE):
            for _, row in page:
                yield StoredChunk(row["chunk_id"], row["version"], tuple(contributions_of(row)))
            after = page[-1][0]
