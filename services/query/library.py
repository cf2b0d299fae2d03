"""Everything a question is answered from, in one bundle that the wiring fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Generations, Space
from runtime.models.ports import Vector
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.domain.question import Pick, Step
from services.query.ports import Answers, Documents, KeywordFinders, Memories, Passages, Rerankers, Supports


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
class Spaces:
    """Where one workspace stands in each projection."""

    status: Space
    graph: Space
    vectors: Space

    @classmethod
    def of(cls, workspace: str, generations: Generations) -> "Spaces":
        """The spaces of a workspace in these generations."""
        return cls(
            Space(workspace, generations.status),
            Space(workspace, generations.graph),
            Space(workspace, generations.vectors),
        )

    @property
    def all(self) -> tuple[Space, ...]:
        """All three."""
        return self.status, self.graph, self.vectors


@dataclass(frozen=True)
class Library:
    """Stores, models, and how they are used. LightRAG's names and defaults."""

    graph: Graph
    vectors: Vectors
    documents: Documents
    passages: Passages
    supports: Supports
    keywords: KeywordFinders
    answers: Answers
    embed: Embed
    count: Count
    reranker: Rerankers | None = None
    min_score: float = 0.2
    min_rerank_score: float = 0.0
    related_chunks: int = 5
    pick: Pick = "VECTOR"
    memories: Memories | None = None
    tell: Tell = nobody
