"""Pick the embedding model of each generation: writers and searches use the model that made its
vectors.

So a rebuild may switch to vectors of another model while services run, and nobody has to be started
again for it; and a workspace may have a model of its own, in a generation of its own.
"""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from contracts.graph import EmbeddingModel
from runtime.bus.port import LiveGenerations
from runtime.errors import ConfigurationError, ModelChanged, Retryable
from runtime.models.open import (
    UNSHARED_LIMITERS,
    can_embed,
    open_embedder,
    open_embedder_of,
    open_question_embedder,
)
from runtime.models.port import Embedder
from runtime.models.rate_limiters import RateLimiters
from runtime.settings import Settings
from runtime.stores.open import open_vectors
from runtime.stores.port import Checkpoint
from runtime.stores.vectors.port import Vectors

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class EmbeddedVectors:
    """An embedder, and the vector store as a client that has this model's vectors."""

    embedder: Embedder
    """Of documents."""
    questions: Embedder
    """Of what is compared with documents; often the same one."""
    vectors: Vectors

    @property
    def model(self) -> EmbeddingModel:
        """Return the model that it embeds with."""
        return EmbeddingModel(self.embedder.model, self.embedder.dimension)


class GenerationEmbedders:
    """`configured`: by the model of the settings, which makes what is not there yet. Others are
    opened on need.

    It also serves as the `CheckpointStore` of the vectors.
    """

    def __init__(
        self,
        settings: Settings,
        limiters: RateLimiters = UNSHARED_LIMITERS,
        *,
        max_wait: float = math.inf,
    ) -> None:
        self._settings = settings
        self._limiters = limiters
        self._max_wait = max_wait
        self.configured = self._opened(open_embedder(settings, limiters, max_wait=max_wait))
        self._opened_so_far = {self.configured.model: self.configured}
        self._of: dict[int, EmbeddedVectors] = {}
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def of(self, generation: int) -> AsyncGenerator[EmbeddedVectors]:
        """Yield the model that made the generation's vectors, and the configured one where there
        are none yet.

        Raises ModelChanged where the settings do not allow that model, Unavailable.
        """
        embedding = self._of.get(generation) or await self._find(generation)
        try:
            yield embedding
        except ModelChanged:
            # The store was made anew under the same number, by another model: the next call looks.
            self._of.pop(generation, None)
            raise

    async def by(self, model: str, dimension: int) -> EmbeddedVectors:
        """Return what embeds by a model, as EMBEDDING_MODEL names it. Raises ConfigurationError
        where the settings do not allow it.
        """
        if not can_embed(self._settings, model):
            raise ConfigurationError(f"{model} needs an embedding endpoint, and none is named")
        fields = {"embedding_model": model, "embedding_dim": dimension}
        settings = self._settings.model_copy(update=fields)
        async with self._opening:
            embedder = await asyncio.to_thread(
                open_embedder, settings, self._limiters, max_wait=self._max_wait
            )
            made_by = EmbeddingModel(embedder.model, embedder.dimension)
            if made_by in self._opened_so_far:
                await embedder.close()
            else:
                self._opened_so_far[made_by] = self._opened(embedder)
        return self._opened_so_far[made_by]

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `CheckpointStore`: in the collections of the model that made the generation. Raises
        ModelChanged.
        """
        async with self.of(generation) as embedding:
            return await embedding.vectors.checkpoint(generation)

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `CheckpointStore`. Raises ModelChanged."""
        async with self.of(generation) as embedding:
            await embedding.vectors.put_checkpoint(generation, checkpoint)

    async def note(self, pointers: LiveGenerations) -> str | None:
        """Why nothing can be added to the live vectors; None where it can, or where nobody answers
        within a second.
        """
        with suppress(Retryable, TimeoutError):
            async with asyncio.timeout(1.0):
                generation = (await pointers.live()).vectors
                async with self.of(generation) as embedding:
                    return await embedding.vectors.outdated(generation)
        return None

    async def close(self) -> None:
        """Close connections and threads."""
        for embedding in tuple(self._opened_so_far.values()):
            await embedding.vectors.close()
            await embedding.embedder.close()

    async def _find(self, generation: int) -> EmbeddedVectors:
        model = await self.configured.vectors.model_of(generation)
        if model is None:
            return self.configured
        async with self._opening:
            if model not in self._opened_so_far:
                self._opened_so_far[model] = await self._open(model, generation)
        self._of[generation] = self._opened_so_far[model]
        return self._of[generation]

    async def _open(self, model: EmbeddingModel, generation: int) -> EmbeddedVectors:
        try:
            # In a thread: one of our own takes half a second to load.
            embedder = await asyncio.to_thread(
                open_embedder_of, self._settings, model, self._limiters, max_wait=self._max_wait
            )
        except ConfigurationError as error:
            raise ModelChanged(
                f"the vectors of generation {generation} were made by {model}, "
                f"the settings name {self.configured.model}, and this process cannot embed with "
                f"the former ({error}): run `lightstream rebuild vectors --embedding-model …` with "
                "the latter, or go back to the former"
            ) from None
        logger.info(
            "vectors of another model than the settings name; that one is used",
            generation=generation,
            made_by=str(model),
            settings=str(self.configured.model),
        )
        return self._opened(embedder)

    def _opened(self, embedder: Embedder) -> EmbeddedVectors:
        vectors = open_vectors(self._settings, model=embedder.model, dimension=embedder.dimension)
        return EmbeddedVectors(embedder, open_question_embedder(self._settings, embedder), vectors)
