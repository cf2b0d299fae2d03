"""The passages nearest to a vector, where passages may have several rows: their windows."""

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Hit, Partition, VectorKind
from offline.language.windows import has_windows

ROWS_PER_PASSAGE = 4
"""How many times as many rows as passages are asked for, where passages have windows; and how much
more again where these were too few.
"""


class _Searches(Protocol):
    def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Sequence[float],
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> Awaitable[list[Hit]]: ...


@dataclass(frozen=True)
class PassageSearch:
    """What is searched for: at most `top_k` passages; see `Vectors.search`."""

    partition: Partition
    vector: Sequence[float]
    top_k: int
    min_score: float = -1.0
    documents: Collection[str] | None = None


async def nearest_passages(vectors: _Searches, model: str, search: PassageSearch) -> list[Hit]:
    """Return of each passage the nearest of its rows, best first.

    `model`: the name of the embedder that made the vectors.
    """
    rows = search.top_k * ROWS_PER_PASSAGE if has_windows(model) else search.top_k
    while True:
        hits = await vectors.search(
            search.partition,
            "chunks",
            search.vector,
            top_k=rows,
            min_score=search.min_score,
            documents=search.documents,
        )
        nearest: dict[str, Hit] = {}
        for hit in hits:
            nearest.setdefault(hit.names[0], hit)
        if len(nearest) >= search.top_k or len(hits) < rows:
            return list(nearest.values())[: search.top_k]
        rows *= ROWS_PER_PASSAGE
