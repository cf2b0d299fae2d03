"""The indexer's ports, beside the graph and the vectors: embeddings, and the bounds of
documents.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from contracts.graph import DocumentBounds, Partition


class Embeddings(Protocol):
    """Turns texts into vectors; no text is paid for twice in one workspace."""

    model: str
    dimension: int

    async def embed(self, workspace: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order."""
        ...


class Extents(Protocol):
    """Stores the bounds of each document: its newest version, and how many chunks that has."""

    async def put(
        self, partition: Partition, extents: Mapping[str, DocumentBounds]
    ) -> dict[str, DocumentBounds]:
        """Store each unless bounds of a newer version are stored. Returns those that were stored
        before, if any.
        """
        ...

    async def get(
        self, partition: Partition, documents: Collection[str]
    ) -> dict[str, DocumentBounds]:
        """Return the bounds of those documents that have any stored."""
        ...
