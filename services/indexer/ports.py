"""What the indexer needs of the outside, beside the graph and the vectors."""

from collections.abc import Sequence
from typing import Protocol


class Embeddings(Protocol):
    """Texts to vectors, each text paid for once per workspace."""

    model: str
    dimension: int

    async def embed(self, workspace: str, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One vector per text, in order."""
        ...
