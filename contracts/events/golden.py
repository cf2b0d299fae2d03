"""Golden questions: what must be found for them, what was found, and what people think of answers.

They stand on subjects apart (`subjects.QUESTIONS`): no answer and no cache changes with them.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from contracts.events.base import Event
from contracts.values import Value

GOLDEN = "_golden"
"""Aggregate id of the golden questions of a workspace."""

FEEDBACK = "_feedback"
"""Aggregate id of what people think of the answers of a workspace."""

QuestionMode = Literal["auto", "mix", "hybrid", "local", "global", "naive", "walk"]
"""A mode that searches the documents."""

GOLDEN_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
"""What a golden question may be called: its id stands in addresses and file names."""

MAX_FACTS = 32
"""Facts of one golden question, and documents of it."""

MAX_QUESTION = 4_000
"""Characters of a golden question, and of a question that feedback is about."""

MAX_ANSWER = 50_000
"""Characters of an answer that feedback is about."""

Rating = Literal["up", "down"]
Fact = Annotated[str, Field(min_length=1, max_length=1000)]
DocumentName = Annotated[str, Field(min_length=1, max_length=1024)]


def expectation_fault(*, has_evidence: bool, unanswerable: bool) -> str:
    """Return why such an expectation cannot be met or missed; empty where it can."""
    if unanswerable and has_evidence:
        return "an unanswerable question has neither facts nor documents"
    if not unanswerable and not has_evidence:
        return "say what must be found: facts, documents, or unanswerable"
    return ""


class GoldenExpectation(Value):
    """What must be found for a question: facts, documents, or that the documents do not answer."""

    facts: tuple[Fact, ...] = Field(
        default=(), max_length=MAX_FACTS, description="each stands in the answer or in a passage"
    )
    documents: tuple[DocumentName, ...] = Field(
        default=(), max_length=MAX_FACTS, description="ids or file names; the answer rests on each"
    )
    unanswerable: bool = Field(
        default=False, description="it is not in the documents, and the answer says so"
    )

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if fault := expectation_fault(
            has_evidence=bool(self.facts or self.documents), unanswerable=self.unanswerable
        ):
            raise ValueError(fault)
        return self


class GoldenQuestionSet(Event):
    """Somebody said what must be found for a question; what was set under its id before no longer
    counts.
    """

    id: str = Field(pattern=GOLDEN_ID_PATTERN)
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    mode: QuestionMode | None = Field(default=None, description="absent: that of the service")
    expected: GoldenExpectation
    note: str = Field(default="", max_length=1000, description="why, in words of who set it")
    feedback: str = Field(
        default="", max_length=256, description="id of the FeedbackGiven that it was made of"
    )

    @property
    def aggregate_id(self) -> str:
        return GOLDEN


class GoldenQuestionRemoved(Event):
    """A golden question is not asked any more."""

    id: str = Field(pattern=GOLDEN_ID_PATTERN)
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return GOLDEN


class CitedDocument(Value):
    """A document that an answer rests on."""

    id: str = Field(default="", max_length=512)
    file_path: str = Field(default="", max_length=4096)


class FeedbackGiven(Event):
    """Somebody said whether an answer helped."""

    rating: Rating
    reason: str = Field(default="", max_length=1000, description="why, in words of who gave it")
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    answer: str = Field(default="", max_length=MAX_ANSWER)
    mode: QuestionMode | None = None
    documents: tuple[CitedDocument, ...] = Field(default=(), max_length=200)
    position: int | None = Field(
        default=None, ge=0, description="X-Log-Position of the answer, in microseconds since 1970"
    )

    @property
    def aggregate_id(self) -> str:
        return FEEDBACK


class GoldenResult(Value):
    """How one golden question fared. Facts and documents are numbers from 0 in its lists: no text
    of a document stands here.
    """

    id: str = Field(pattern=GOLDEN_ID_PATTERN)
    passed: bool
    missing_facts: tuple[int, ...] = ()
    missing_documents: tuple[int, ...] = ()
    invented: bool = Field(
        default=False, description="answered although the documents do not answer it"
    )
    error: str = Field(default="", max_length=200, description="why it could not be asked")


class GoldenRunEnded(Event):
    """All golden questions, or some, were asked."""

    results: tuple[GoldenResult, ...]
    position: int = Field(
        ge=0, description="up to when all documents were in the answers, in microseconds since 1970"
    )
    as_of: bool = Field(default=False, description="asked of the past, as it was at `position`")
    before_promotion: bool = Field(
        default=False, description="asked of generations that did not go live"
    )
    branch: str = Field(
        default="", max_length=32, description="the branch that was asked; empty: what is live"
    )
    by_model: bool = Field(default=False, description="a language model wrote answers")
    reason: str = Field(default="", max_length=1000)

    @property
    def aggregate_id(self) -> str:
        return GOLDEN

    @property
    def is_of_live(self) -> bool:
        """Return whether what is live was asked, as it was then."""
        return not (self.as_of or self.before_promotion or self.branch)

    @property
    def passed_count(self) -> int:
        """Return how many questions passed."""
        return sum(result.passed for result in self.results)

    @property
    def share(self) -> float:
        """Return the share of questions that passed; 1 of none."""
        return self.passed_count / len(self.results) if self.results else 1.0
