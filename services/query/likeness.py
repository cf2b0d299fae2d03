"""How like passages are to a question."""

from collections.abc import Collection

from contracts.ids import chunk_place, chunk_vector_id
from runtime.models.ports import Vector
from runtime.stores.vectors.port import Vectors
from services.query.domain.spaces import Spaces


async def likeness(chunks: Collection[str], asked: Vector, spaces: Spaces, vectors: Vectors) -> dict[str, float]:
    """The cosine similarity of those of these chunks that have a vector; no call where there are none."""
    ids = {chunk_vector_id(*place): chunk for chunk in sorted(chunks) if (place := chunk_place(chunk))}
    scores = await vectors.likeness(spaces.vectors, "chunks", asked, list(ids)) if ids else {}
    return {ids[id]: score for id, score in scores.items()}
