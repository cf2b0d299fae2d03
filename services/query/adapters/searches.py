"""How each generation of vectors is searched: by the embedding model that made it, whatever the settings name."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from contracts.graph import EmbeddingModel
from runtime.projections.embedding import Embedding, Embeddings
from runtime.stores.vectors.port import Vectors
from services.query.adapters.named_models import NamedEmbedder
from services.query.adapters.word_embeddings import RememberedWords
from services.query.retrieval.caches.cached_vectors import KeptVectors
from services.query.retrieval.caches.invalidation import Kept
from services.query.retrieval.dependencies import Embed


@dataclass(frozen=True)
class ModelSearch:
    """`Searching` by one embedding model."""

    vectors: Vectors
    likenesses: KeptVectors
    embed: Embed
    embed_words: Embed


class ModelSearches:
    """`Searches` over the embedding models."""

    def __init__(self, embeddings: Embeddings, kept: Kept) -> None:
        self._embeddings, self._kept = embeddings, kept
        self._by_model: dict[EmbeddingModel, ModelSearch] = {}
        self.configured = self._by(embeddings.configured)

    @asynccontextmanager
    async def of(self, generation: int) -> AsyncGenerator[ModelSearch]:
        """See `Searches.of`."""
        async with self._embeddings.of(generation) as found:
            yield self._by(found)

    def _by(self, found: Embedding) -> ModelSearch:
        if found.model not in self._by_model:
            embedder, vectors = NamedEmbedder(found.embedder), found.vectors
            self._by_model[found.model] = ModelSearch(
                vectors, KeptVectors(vectors, self._kept), embedder.embed, RememberedWords(embedder).embed
            )
        return self._by_model[found.model]
