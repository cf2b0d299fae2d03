"""Everything that answering a question needs, in one bundle that the wiring fills."""

from dataclasses import dataclass

from services.query.answering.port import Answers, Caches, Memories
from services.query.retrieval.dependencies import RetrievalDependencies


@dataclass(frozen=True, kw_only=True)
class Library(RetrievalDependencies):
    """What retrieval needs, and what answers from its result."""

    answers: Answers
    memories: Memories | None = None
    caches: Caches
