"""What questions cost. What was asked and answered stands in `answers.py`, where it is recorded."""

from typing import Literal

from contracts.events.base import Event
from contracts.values import TokenUsage, Value

QUESTIONS = "_questions"
"""Aggregate id of the questions of a workspace, and of their answers."""

QuestionStep = Literal["keywords", "assessment", "embedding", "rerank", "answer"]


class QuestionCost(Value):
    """What one model was paid for one step of questions."""

    step: QuestionStep
    model: str
    usage: TokenUsage
    duration_ms: int = 0


class QuestionsCharged(Event):
    """Models were paid for questions: the sums of a second. It is on a subject apart
    (`subjects.QUESTIONS`).
    """

    costs: tuple[QuestionCost, ...]

    @property
    def aggregate_id(self) -> str:
        return QUESTIONS
