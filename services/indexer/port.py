"""What the indexer needs of the outside, beside the graph and the vectors."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from contracts.graph import DocumentBounds, Partition


class Embeddings(Protocol):
    """Texts to vectors, each text paid for once per workspace."""

    model: str
    dimension: int

    async def embed(self, workspace: str, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One vector per text, in order."""
        ...


class Extents(Protocol):
    """How far each document reaches in its newest version."""

    async def put(self, partition: Partition, extents: Mapping[str, DocumentBounds]) -> dict[str, DocumentBounds]:
        """Write each unless a newer version's stands. Returns what stood there before, where anything did."""
        ...

    async def get(self, partition: Partition, documents: Collection[str]) -> dict[str, DocumentBounds]:
        """Those that are known among `documents`."""
        ...
