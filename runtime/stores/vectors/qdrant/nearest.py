"""How the nearest rows are found: by comparing with every row of a small workspace, by the server's
index in a large one.
"""

import time
from collections.abc import Sequence

from qdrant_client import AsyncQdrantClient, models

from contracts.graph import Hit, Partition, VectorKind
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.qdrant import points
from runtime.stores.vectors.qdrant.collections import Collections

EXACT_BELOW = 20_000
"""Rows of a workspace from which on the index is asked."""

LOOKED_AGAIN = 60.0
"""Seconds for which the size of a workspace is taken as given."""

MOST_HITS = 16_384
"""Rows that are asked for at most to put equal ones in order."""

BREADTH = 128
"""Rows that the index keeps in view at least."""


class Nearest:
    """Finds the nearest rows over one connection."""

    def __init__(self, collections: Collections, exact_below: int = EXACT_BELOW) -> None:
        self._collections = collections
        self._exact_below = exact_below
        self._large: dict[tuple[Partition, VectorKind], tuple[float, bool]] = {}

    async def best(
        self,
        partition: Partition,
        kind: VectorKind,
        direction: list[float],
        top_k: int,
        documents: Sequence[str] | None,
    ) -> list[Hit]:
        """Return the `top_k` nearest rows, equal ones by id; of documents, exactly those."""
        condition = points.of_workspace(partition.workspace, documents)
        exact = documents is not None or not await self._is_large(partition, kind)
        # The server orders equal rows as it likes: ask for more until the last one wanted beats the
        # last one given.
        limit = top_k + 1
        while True:
            hits = await self.nearest(partition, kind, direction, condition, limit, exact=exact)
            certain = len(hits) > top_k and hits[top_k - 1].score != hits[-1].score
            if certain or len(hits) < limit or limit >= MOST_HITS:
                return hits[:top_k]
            limit = min(4 * limit, MOST_HITS)

    async def nearest(
        self,
        partition: Partition,
        kind: VectorKind,
        direction: list[float],
        condition: models.Filter,
        limit: int,
        *,
        exact: bool = True,
    ) -> list[Hit]:
        """Return the nearest rows that match the condition, equal ones by id."""
        parameters = models.SearchParams(
            exact=exact, hnsw_ef=None if exact else max(BREADTH, limit)
        )

        async def search(client: AsyncQdrantClient, name: str) -> list[models.ScoredPoint]:
            answer = await client.query_points(
                name,
                query=direction,
                query_filter=condition,
                limit=limit,
                search_params=parameters,
                with_payload=["id", "names"],
            )
            return answer.points

        best_points = await self._collections.use(partition.generation, kind, search) or []
        return stored.ranked(_hit(point) for point in best_points)

    async def _is_large(self, partition: Partition, kind: VectorKind) -> bool:
        checked_at, answer = self._large.get((partition, kind), (0.0, False))
        if checked_at and time.monotonic() - checked_at < LOOKED_AGAIN:
            return answer

        async def count(client: AsyncQdrantClient, name: str) -> int:
            condition = points.of_workspace(partition.workspace)
            return (await client.count(name, count_filter=condition, exact=False)).count

        rows = await self._collections.use(partition.generation, kind, count) or 0
        self._large[partition, kind] = (time.monotonic(), rows >= self._exact_below)
        return rows >= self._exact_below


def _hit(point: models.ScoredPoint) -> Hit:
    payload = point.payload or {}
    return Hit(payload["id"], tuple(payload["names"]), stored.rounded_score(point.score))
