"""Searches in the collections of Milvus. Those that come at the same time go together in one
call.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from contracts.graph import Partition, VectorKind
from runtime.concurrency.shared_calls import SharedCalls
from runtime.stores.vectors.milvus.collections import Collections
from runtime.workarounds.pymilvus import Nearest, nearest_columns

SEARCHES = 16
"""Searches of one call."""


class _Alike(NamedTuple):
    """What searches have in common that go together."""

    generation: int
    kind: VectorKind
    limit: int
    condition: str
    output_fields: tuple[str, ...]


class Searches:
    """Searches over one connection. `timeout` is in seconds and bounds each call."""

    def __init__(self, collections: Collections, timeout: float) -> None:
        self._collections = collections
        self._timeout = timeout
        self._calls = SharedCalls(self._nearest_of_each, SEARCHES)

    async def nearest(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: list[float],
        limit: int,
        condition: str,
        output_fields: Sequence[str],
    ) -> Nearest:
        """Return the `limit` nearest rows."""
        return await self._calls.ask(
            _Alike(partition.generation, kind, limit, condition, tuple(output_fields)), vector
        )

    async def _nearest_of_each(self, of: _Alike, vectors: list[list[float]]) -> list[Nearest]:
        """Return the nearest rows of each vector, by one call: four together cost half of what four
        calls do.
        """
        breadth = {"ef": max(128, of.limit)} if self._collections.index_type == "HNSW" else {}

        async def search(client: Any, name: str) -> list[Nearest]:
            return await nearest_columns(
                client,
                name,
                vectors,
                expression=of.condition,
                limit=of.limit,
                output_fields=[*of.output_fields],
                param={"params": breadth},
                consistency_level="Bounded",
                timeout=self._timeout,
            )

        answer = await self._collections.use(of.generation, of.kind, search)
        return answer or [Nearest((), (), {}) for _ in vectors]
