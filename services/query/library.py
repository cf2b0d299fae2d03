"""Everything a question is answered from, in one bundle that the wiring fills."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from runtime.models.ports import Vector
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
