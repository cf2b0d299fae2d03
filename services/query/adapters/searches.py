"""How each generation of vectors is searched: by the embedding model that made it, whatever the settings name."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from contracts.graph import EmbeddingModel
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.stores.vectors.port import Vectors
from services.query.adapters.named_models import NamedEmbedder
from services.query.adapters.word_embeddings import CachedWordEmbedder
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.dependencies import EmbedTexts


@dataclass(frozen=True)
class ModelVectorSearch:
    """`VectorSearch` by one embedding model."""

    vectors: Vectors
    similarities: CachedVectors
    embed: EmbedTexts
    embed_words: EmbedTexts


class ModelVectorSearches:
    """`VectorSearches` over the embedding models."""

    def __init__(self, embeddings: GenerationEmbedders, kept: ProjectionCache) -> None:
        self._embeddings, self._cache = embeddings, kept
        self._by_model: dict[EmbeddingModel, ModelVectorSearch] = {}
        self.configured = self._by(embeddings.configured)

    @asynccontextmanager
    async def of(self, generation: int) -> AsyncGenerator[ModelVectorSearch]:
        """See `Searches.of`."""
        async with self._embeddings.of(generation) as found:
            yield self._by(found)

    def _by(self, found: EmbeddedVectors) -> ModelVectorSearch:
        if found.model not in self._by_model:
            embedder, vectors = NamedEmbedder(found.embedder), found.vectors
            self._by_model[found.model] = ModelVectorSearch(
                vectors, CachedVectors(vectors, self._cache), embedder.embed, CachedWordEmbedder(embedder).embed
            )
        return self._by_model[found.model]
