"""The dependencies of answering a question; `wiring.py` fills them in."""

from dataclasses import dataclass, field

from runtime.costs.port import Ledger
from services.query.answering.port import (
    AnswerCache,
    AnswerGenerator,
    EffortLimits,
    FollowUps,
    ModelResultCaches,
    ToolChoices,
)
from services.query.retrieval.dependencies import RetrievalDependencies


@dataclass(frozen=True, kw_only=True)
class QueryDependencies(RetrievalDependencies):
    """The dependencies of retrieval, and those that generate and cache answers."""

    answer_generator: AnswerGenerator
    answer_cache: AnswerCache | None = None
    caches: ModelResultCaches
    ledger: Ledger
    follow_ups: FollowUps | None = None
    """Of medium effort."""
    tool_choices: ToolChoices | None = None
    """Of high effort. Without a model both are None, and more effort is a wider search."""
    effort_limits: EffortLimits = field(default_factory=EffortLimits)
