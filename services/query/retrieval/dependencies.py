"""Everything that retrieval needs, in one bundle that the wiring fills."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from runtime.models.port import Vector
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.question import Pick, Step
from services.query.retrieval.concurrency import Turns
from services.query.retrieval.port import Freshness, KeywordFinders, KnownGraph, Likenesses, Names, Rerankers, Supports
from services.query.spaces import Spaces as Spaces
from services.query.status.port import Documents, Passages


class Count(Protocol):
    """Counts tokens."""

    def __call__(self, text: str, /) -> int: ...


class Embed(Protocol):
    """Embeds texts for a search."""

    async def __call__(self, texts: Sequence[str], /) -> list[Vector]: ...


class Searching(Protocol):
    """How one generation of vectors is searched: by the model that made it."""

    @property
    def vectors(self) -> Vectors: ...
    @property
    def likenesses(self) -> Likenesses: ...
    @property
    def embed(self) -> Embed: ...
    @property
    def embed_words(self) -> Embed: ...


class Searches(Protocol):
    """How each generation of vectors is searched."""

    def of(self, generation: int, /) -> AbstractAsyncContextManager[Searching]:
        """Raises ModelChanged for a generation of a model that this process cannot embed with."""
        ...


class Tell(Protocol):
    """Is told of each step when it begins."""

    def __call__(self, step: Step, /) -> None: ...


def nobody(_: Step) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, kw_only=True)
class RetrievalDependencies:
    """Stores and models that retrieval reads, and its settings. LightRAG's names and defaults."""

    graph: Graph
    around: KnownGraph
    """The graph for questions."""
    vectors: Vectors
    likenesses: Likenesses
    freshness: Freshness
    documents: Documents
    passages: Passages
    supports: Supports
    keywords: KeywordFinders
    embed: Embed
    embed_words: Embed
    """For single words of passages: the same come again and again, so they may be remembered."""
    count: Count
    names: Names
    reranker: Rerankers | None = None
    min_score: float = 0.2
    min_rerank_score: float = 0.0
    related_chunks: int = 5
    pick: Pick = "VECTOR"
    tell: Tell = nobody
    turns: Turns = field(default_factory=Turns)
    searches: Searches | None = None
    """None: every generation is searched by `vectors`, `likenesses`, `embed` and `embed_words`."""

    @asynccontextmanager
    async def searching(self, generation: int) -> AsyncGenerator[Self]:
        """The same, with the parts that search this generation of vectors. Raises ModelChanged, Unavailable."""
        if self.searches is None:
            yield self
            return
        async with self.searches.of(generation) as by:
            yield replace(
                self, vectors=by.vectors, likenesses=by.likenesses, embed=by.embed, embed_words=by.embed_words
            )
