"""Connects handlers to the vectors and the embedding model of the generation that is written."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from contracts.graph import EmbeddingModel, Generations
from runtime.bus.port import Delivery, Events, Handler
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.stores.documents.port import Rows
from services.indexer.own_generations import handle_by_generation

CALLS_PER_GROUP = 8
"""Calls to the embedding model whose vectors are stored together."""


class GenerationHandlers:
    """Makes handlers of the bus. `rows` keep the embeddings of each model; `batch` is how many
    texts a call embeds.
    """

    def __init__(self, embedders: GenerationEmbedders, rows: Rows, batch: int) -> None:
        self._embedders = embedders
        self._rows = rows
        self._group = CALLS_PER_GROUP * batch
        self._caches: dict[EmbeddingModel, CachedEmbeddings] = {}

    def handler(
        self, handle: Callable[..., Awaitable[Sequence[Events]]], **dependencies: Any
    ) -> Handler:
        """Return `handle` with these dependencies, and with `vectors` and `embeddings` of the
        generation at each call; workspaces that have a generation of their own are handled by
        themselves.

        The handler raises what `GenerationEmbedders.of` and `handle` raise.
        """

        async def handle_one_generation(
            batch: Sequence[Delivery[Any]], generations: Generations, /
        ) -> Sequence[Events]:
            async with self._embedders.of(generations.vectors) as target:
                embeddings = self._cached(target)
                return await handle(
                    batch,
                    generations,
                    vectors=target.vectors,
                    embeddings=embeddings,
                    **dependencies,
                )

        async def handle_batch(
            batch: Sequence[Delivery[Any]], generations: Generations, /
        ) -> Sequence[Events]:
            return await handle_by_generation(batch, generations, handle_one_generation)

        return handle_batch

    def _cached(self, target: EmbeddedVectors) -> CachedEmbeddings:
        if target.model not in self._caches:
            self._caches[target.model] = CachedEmbeddings(self._rows, target.embedder, self._group)
        return self._caches[target.model]
