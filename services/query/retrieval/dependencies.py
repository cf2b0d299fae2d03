"""The dependencies of retrieval; `wiring.py` fills them in."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from runtime.models.port import Vector
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.partitions import Partitions as Partitions
from services.query.question import (
    AnswerStage,
    ChunkPickMethod,
    Mode,
    ProgressCallback,
    ignore_progress,
)
from services.query.retrieval.concurrency import ConcurrencyLimit
from services.query.retrieval.port import (
    CacheInvalidation,
    EntityAliases,
    EntityNames,
    GraphReader,
    KeywordExtractor,
    PassageReader,
    PassageReranker,
    ProvenanceReader,
    VectorReader,
    WarmCaches,
)
from services.query.status.port import Documents, Passages
from services.query.visibility.port import NoVisibility, Visibility
from services.query.visibility.restricted_items import RestrictedItems


class TokenCounter(Protocol):
    """Counts tokens."""

    def __call__(self, text: str, /) -> int: ...


class EmbedTexts(Protocol):
    """Embeds texts for a search."""

    async def __call__(self, texts: Sequence[str], /) -> list[Vector]: ...


class VectorSearch(Protocol):
    """How one generation of vectors is searched: by the model that made it."""

    @property
    def vectors(self) -> Vectors: ...
    @property
    def reader(self) -> VectorReader: ...
    @property
    def embed(self) -> EmbedTexts: ...
    @property
    def embed_documents(self) -> EmbedTexts: ...


class VectorSearches(Protocol):
    """How each generation of vectors is searched."""

    def of(self, generation: int, /) -> AbstractAsyncContextManager[VectorSearch]:
        """Raises ModelChanged for a generation of a model that this process cannot embed with."""
        ...


class MeasureStage(Protocol):
    """Measures one stage of answering a question, the block inside.

    `is_nested`: what is called inside belongs to the stage; False where the block ends in another
    task than it began in.
    """

    def __call__(
        self, stage: AnswerStage, mode: Mode, /, *, is_nested: bool = True
    ) -> AbstractContextManager[None]: ...


def unmeasured(
    stage: AnswerStage, mode: Mode, /, *, is_nested: bool = True
) -> AbstractContextManager[None]:
    """Measure nothing."""
    return nullcontext()


@dataclass(frozen=True, kw_only=True)
class RetrievalDependencies:
    """Stores and models that retrieval reads, and its settings. LightRAG's names and defaults."""

    graph: Graph
    graph_reader: GraphReader
    """The graph as questions read it, possibly cached."""
    vectors: Vectors
    vector_reader: VectorReader
    """The vectors as questions compare themselves with them, possibly cached."""
    cache_invalidation: CacheInvalidation
    warm_caches: WarmCaches | None = None
    """None where nothing is kept between questions."""
    documents: Documents
    passages: Passages
    provenance: ProvenanceReader
    aliases: EntityAliases
    keyword_extractor: KeywordExtractor
    embed: EmbedTexts
    count_tokens: TokenCounter
    entity_names: EntityNames
    visibility: Visibility = field(default_factory=NoVisibility)
    """Which documents a viewer sees; the default answers no viewers."""
    restricted_items: RestrictedItems = field(default_factory=RestrictedItems)
    passage_reader: PassageReader
    reranker: PassageReranker | None = None
    min_score: float = 0.2
    min_rerank_score: float = 0.0
    related_chunks: int = 5
    chunk_pick_method: ChunkPickMethod = "VECTOR"
    on_progress: ProgressCallback = ignore_progress
    measure: MeasureStage = unmeasured
    concurrency: ConcurrencyLimit = field(default_factory=ConcurrencyLimit)
    embed_documents: EmbedTexts | None = None
    """How texts of documents are embedded; None: as those of questions."""
    vector_searches: VectorSearches | None = None
    """None: every generation is searched by `vectors`, `vector_reader` and `embed`."""

    @asynccontextmanager
    async def for_generation(self, generation: int) -> AsyncGenerator[Self]:
        """Yield a copy that searches this generation of vectors. Raises ModelChanged,
        Unavailable.
        """
        if self.vector_searches is None:
            yield self
            return
        async with self.vector_searches.of(generation) as by:
            yield replace(
                self,
                vectors=by.vectors,
                vector_reader=by.reader,
                embed=by.embed,
                embed_documents=by.embed_documents,
            )
