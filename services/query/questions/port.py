"""The port of questions: what is asked of the query service, in its process or over the wire.

All values can be encoded; what is left open stands for the default of the settings there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from services.query.answer import Answer
from services.query.partitions import Partitions
from services.query.question import (
    DEFAULT_MODE,
    NO_KEYWORDS,
    Effort,
    Keywords,
    Mode,
    Output,
    ProgressCallback,
    Turn,
    ignore_progress,
)
from services.query.retrieval.results import RetrievalResult
from services.query.status.scope import EVERYTHING, Scope
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True, kw_only=True)
class SearchPlace:
    """Where a question is answered from: a workspace as it is, or as it was at a `sequence`.

    `partitions` are those that are searched. Of the past they say by which embedding model.
    `complete_to`: up to when all documents are there, in microseconds since 1970; 0 for unknown.
    `asked_workspace`: the one for which a promoted branch answers; empty: that of the partitions.
    """

    partitions: Partitions
    sequence: int | None = None
    complete_to: int = 0
    asked_workspace: str = ""

    @property
    def workspace(self) -> str:
        """Return the workspace."""
        return self.partitions.status.workspace


@dataclass(frozen=True, kw_only=True)
class QuestionRequest:
    """A question as it is asked. None: the default of the settings of whoever answers."""

    query: str
    place: SearchPlace
    mode: Mode | None = None
    top_k: int | None = None
    chunk_top_k: int | None = None
    max_entity_tokens: int | None = None
    max_relation_tokens: int | None = None
    max_total_tokens: int | None = None
    keywords: Keywords = NO_KEYWORDS
    effort: Effort = "low"
    scope: Scope = EVERYTHING
    rerank: bool | None = None
    response_type: str | None = None
    user_prompt: str = ""
    has_prompt_prefix: bool = True
    """Whether USER_PROMPT_PREFIX goes before the `user_prompt`."""
    history: tuple[Turn, ...] = ()
    output: Output = "answer"
    valid_at: datetime | None = None
    """What was in force then is preferred; None: now."""
    is_streamed: bool = False
    """Whether the answer may come in pieces."""
    viewer: Viewer | None = None
    """Who asks, of whom documents may be hidden; None: someone who sees all."""


@dataclass(frozen=True)
class RetrievedData:
    """What a question retrieves, the tokens it takes of the budget, by part of the context, and the
    mode that it was asked in.
    """

    retrieval: RetrievalResult
    tokens: Mapping[str, Mapping[str, int]]
    mode: Mode = DEFAULT_MODE


class Questions(Protocol):
    """Answers questions. The caller has made sure that its asker may read the workspace.

    Whatever a method raises is the same in one process and over the wire: `InvalidInput` such as
    TooLarge, `Retryable` such as Unavailable, `Poison` of a model, each with its fields. Whoever
    answers stops when the caller is cancelled, or closes the pieces of an answer.
    """

    async def ask(
        self, request: QuestionRequest, on_progress: ProgressCallback = ignore_progress, /
    ) -> Answer:
        """Return the answer; with pieces where `is_streamed` is set and a model answers."""
        ...

    async def retrieve(self, request: QuestionRequest, /) -> RetrievedData:
        """Return what an answer would rest on."""
        ...

    async def configuration(self, generation: int, /) -> Mapping[str, Any]:
        """Return models and limits, under LightRAG's names in /health, without addresses and keys.

        `generation`: of vectors, whose embedding model is named.
        """
        ...
