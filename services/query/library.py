"""Everything a question is answered from, in one bundle that the wiring fills."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from runtime.models.port import Vector
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.domain.question import Pick, Step
from services.query.domain.spaces import Spaces as Spaces
from services.query.ports import (
    Answers,
    Caches,
    Documents,
    Freshness,
    KeywordFinders,
    KnownGraph,
    Likenesses,
    Memories,
    Names,
    Passages,
    Rerankers,
    Supports,
)
from services.query.turns import Turns


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


@dataclass(frozen=True)
class Library:
    """Stores, models, and how they are used. LightRAG's names and defaults."""

    graph: Graph
    around: KnownGraph
    """The graph for questions."""
    vectors: Vectors
    likenesses: Likenesses
    freshness: Freshness
    documents: Documents
    passages: Passages
    supports: Supports
    caches: Caches
    keywords: KeywordFinders
    answers: Answers
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
    memories: Memories | None = None
    tell: Tell = nobody
    turns: Turns = field(default_factory=Turns)
    searches: Searches | None = None
    """None: every generation is searched by `vectors`, `likenesses`, `embed` and `embed_words`."""

    @asynccontextmanager
    async def searching(self, generation: int) -> AsyncGenerator["Library"]:
        """The same, with the parts that search this generation of vectors. Raises ModelChanged, Unavailable."""
        if self.searches is None:
            yield self
            return
        async with self.searches.of(generation) as by:
            yield replace(
                self, vectors=by.vectors, likenesses=by.likenesses, embed=by.embed, embed_words=by.embed_words
            )
