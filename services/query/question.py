"""A question with its mode, scope and budgets, with LightRAG's names and defaults."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from services.query.status.scope import EVERYTHING, Scope
from services.query.visibility.port import VisibleDocuments
from services.query.visibility.viewer import Viewer

Mode = Literal["local", "global", "hybrid", "mix", "naive", "walk", "auto", "bypass"]
"""How a question is answered; `auto` chooses `walk` or `mix` for each question."""
SearchMode = Literal["local", "global", "hybrid", "mix", "naive", "walk", "auto"]
"""A mode that searches the documents."""
DEFAULT_MODE: SearchMode = "auto"
"""The mode of a question that names none, where the setting DEFAULT_MODE is not set."""
Effort = Literal["low", "medium", "high"]
"""How much is spent on finding what answers; `low` is one search."""
ChunkPickMethod = Literal["VECTOR", "WEIGHT"]
"""How the chunks of entities and relations are selected: by similarity to the question, or by rank
and count.
"""

Output = Literal["answer", "context", "prompt"]
"""What `ask` returns: the answer, the context, or the whole prompt."""

ProgressStep = Literal[
    "extracting_keywords",
    "retrieving_entities",
    "retrieving_relations",
    "retrieving_chunks",
    "reranking",
    "assessing_context",
    "using_tool",
    "generating_response",
]
"""Steps of answering a question, in this order; a mode leaves out the steps that it does not need.

`assessing_context` comes once a round of a question with more than low effort, `using_tool` once a
call of a tool.
"""


class ProgressCallback(Protocol):
    """Called with each step when it begins. `detail`: of `using_tool`, what with."""

    def __call__(self, step: ProgressStep, detail: str = "", /) -> None: ...


def ignore_progress(_: ProgressStep, __: str = "") -> None:
    """Do nothing."""


AnswerStage = Literal["keywords", "retrieve", "gather", "rerank", "generate", "total"]
"""Stages of answering a question that are measured; `total` is until the answer, or its stream,
begins.
"""

RESPONSE_TYPE = "Multiple Paragraphs"


@dataclass(frozen=True)
class Turn:
    """An earlier message of the conversation. A question that refers to it is searched with its
    names.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Keywords:
    """Keywords of a question: `high` are themes, `low` are names and terms. False if there are
    none.

    `note`: what readers of the answer should know about how they were found.
    """

    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.high or self.low)


NO_KEYWORDS = Keywords()


@dataclass(frozen=True)
class Question:
    """A question; its budgets are in tokens."""

    query: str
    mode: Mode = DEFAULT_MODE
    top_k: int = 40
    chunk_top_k: int = 20
    max_entity_tokens: int = 6000
    max_relation_tokens: int = 8000
    max_total_tokens: int = 30000
    keywords: Keywords = NO_KEYWORDS
    """Keywords of the caller; if there are any, none are extracted."""
    rerank: bool = True
    scope: Scope = EVERYTHING
    """The documents that the question is restricted to."""
    response_type: str = RESPONSE_TYPE
    user_prompt: str = ""
    history: tuple[Turn, ...] = ()
    effort: Effort = "low"
    viewer: Viewer | None = field(default=None, repr=False)
    """Who asks; None: someone who sees all documents."""
    visible: VisibleDocuments | None = field(default=None, repr=False, compare=False)
    """The documents that the viewer sees; retrieval sets it."""
    valid_at: datetime | None = field(default=None, repr=False)
    """What was in force then is preferred; None: nothing is. It is no part of what names a cached
    answer, whose prompt tells what was found.
    """


def search_keywords(question: Question, extracted_keywords: Keywords) -> Keywords:
    """Return the keywords to search by: those found, else the question itself, which LightRAG takes
    if it is short.
    """
    if extracted_keywords:
        return extracted_keywords
    return (
        Keywords(high=(question.query,))
        if question.mode == "global"
        else Keywords(low=(question.query,))
    )
