"""Everything that answering a question needs, in one bundle that the wiring fills."""

from dataclasses import dataclass

from services.query.answering.port import AnswerCache, AnswerGenerator, ModelResultCaches
from services.query.retrieval.dependencies import RetrievalDependencies


@dataclass(frozen=True, kw_only=True)
class QueryDependencies(RetrievalDependencies):
    """What retrieval needs, and what answers from its result."""

    answer_generator: AnswerGenerator
    answer_cache: AnswerCache | None = None
    caches: ModelResultCaches
