"""What is asked, and within which limits. LightRAG's names and defaults."""

from dataclasses import dataclass
from typing import Literal

from services.query.status.scope import EVERYTHING, Scope

Mode = Literal["local", "global", "hybrid", "mix", "naive", "walk", "auto", "bypass"]
"""`auto`: `walk` or `mix`, by the question."""
ChunkPickMethod = Literal["VECTOR", "WEIGHT"]
"""How passages behind entities and relations are chosen: by likeness to the question, or by rank and count."""

Output = Literal["answer", "context", "prompt"]
"""What `ask` returns: the answer, the context, or the whole prompt."""

ProgressStep = Literal[
    "extracting_keywords",
    "retrieving_entities",
    "retrieving_relations",
    "retrieving_chunks",
    "reranking",
    "generating_response",
]
"""What is being done for a question, in this order; a mode leaves out what it does not do."""

RESPONSE_TYPE = "Multiple Paragraphs"

SHORT_QUESTION = 50
"""Characters. A shorter question without keywords is itself the keyword."""


@dataclass(frozen=True)
class Turn:
    """What was said before, by whom. Only the answering model reads it; retrieval never does."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Keywords:
    """What a question is about: `high` are themes, `low` names and terms. False when it is about nothing."""

    high: tuple[str, ...] = ()
    low: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.high or self.low)


NO_KEYWORDS = Keywords()


@dataclass(frozen=True)
class Question:
    """A question. Budgets in tokens."""

    query: str
    mode: Mode = "mix"
    top_k: int = 40
    chunk_top_k: int = 20
    max_entity_tokens: int = 6000
    max_relation_tokens: int = 8000
    max_total_tokens: int = 30000
    keywords: Keywords = NO_KEYWORDS
    """Given by the caller: then nobody is asked for them."""
    rerank: bool = True
    scope: Scope = EVERYTHING
    """Which documents it is about."""
    response_type: str = RESPONSE_TYPE
    user_prompt: str = ""
    history: tuple[Turn, ...] = ()


def search_keywords(question: str, found: Keywords) -> Keywords | None:
    """Return the keywords to search by: those found, else the question itself if it is short, else None."""
    if found:
        return found
    return Keywords(low=(question,)) if len(question) < SHORT_QUESTION else None
