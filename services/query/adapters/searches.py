"""Searches each generation of vectors with the embedding model that created it, whatever the
settings name.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from contracts.graph import EmbeddingModel
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.stores.vectors.port import Vectors
from services.query.adapters.named_models import NamedEmbedder
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.dependencies import EmbedTexts


@dataclass(frozen=True)
class ModelVectorSearch:
    """`VectorSearch` by one embedding model."""

    vectors: Vectors
    reader: CachedVectors
    embed: EmbedTexts
    embed_documents: EmbedTexts


class ModelVectorSearches:
    """`VectorSearches` over the embedding models."""

    def __init__(self, embeddings: GenerationEmbedders, cache: ProjectionCache) -> None:
        self._embeddings = embeddings
        self._cache = cache
        self._by_model: dict[EmbeddingModel, ModelVectorSearch] = {}
        self.configured = self._by(embeddings.configured)

    @asynccontextmanager
    async def of(self, generation: int) -> AsyncGenerator[ModelVectorSearch]:
        """See `VectorSearches.of`."""
        async with self._embeddings.of(generation) as embedding:
            yield self._by(embedding)

    async def close(self) -> None:
        """End what is being read of vectors."""
        for search in tuple(self._by_model.values()):
            await search.reader.close()

    def _by(self, embedding: EmbeddedVectors) -> ModelVectorSearch:
        if embedding.model not in self._by_model:
            vectors = embedding.vectors
            self._by_model[embedding.model] = ModelVectorSearch(
                vectors,
                CachedVectors(vectors, self._cache),
                embed=NamedEmbedder(embedding.questions).embed,
                embed_documents=NamedEmbedder(embedding.embedder).embed,
            )
        return self._by_model[embedding.model]
