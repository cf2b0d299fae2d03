"""Bodies and answers of the routes about golden questions, runs and feedback."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, model_validator

from contracts.events.golden import (
    GOLDEN_ID_PATTERN,
    MAX_ANSWER,
    MAX_FACTS,
    MAX_QUESTION,
    CitedDocument,
    DocumentName,
    Fact,
    FeedbackGiven,
    GoldenExpectation,
    GoldenQuestionSet,
    GoldenResult,
    QuestionMode,
    Rating,
    expectation_fault,
)
from contracts.spelling import one_spelling
from contracts.text import sanitize
from runtime.golden.judging import reasons
from runtime.golden.questions import (
    MAX_QUESTIONS,
    Feedback,
    GoldenQuestion,
    GoldenRun,
    question_id,
)
from services.gateway.strict_model import StrictModel

MAX_EXCERPT = 500
"""Characters of an answer that a result shows."""


_EXAMPLE: dict[str, JsonValue] = {
    "question": "Who leads the Harbour Office?",
    "facts": ["Ada Marlow"],
    "documents": ["port.md"],
}


class GoldenQuestionBody(StrictModel):
    """A question, and what must be found for it: facts, documents, or that the documents do not
    answer it.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    id: str | None = Field(
        default=None,
        pattern=GOLDEN_ID_PATTERN,
        description="absent: one that follows from the words of the question",
    )
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    mode: QuestionMode | None = None
    facts: list[Fact] = Field(
        default=[], max_length=MAX_FACTS, description="each stands in the answer or in a passage"
    )
    documents: list[DocumentName] = Field(
        default=[], max_length=MAX_FACTS, description="ids or file names; the answer rests on each"
    )
    unanswerable: bool = Field(default=False, description="the documents do not answer it")
    note: str = Field(default="", max_length=1000)
    feedback: str = Field(default="", max_length=256, description="id of what it was made of")

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if fault := expectation_fault(
            has_evidence=bool(self.facts or self.documents), unanswerable=self.unanswerable
        ):
            raise ValueError(fault)
        if not _cleaned(self.question):
            raise ValueError("the question is empty")
        return self

    def event(self) -> GoldenQuestionSet:
        """Return the event that sets it."""
        question = _cleaned(self.question)
        expectation = GoldenExpectation(
            facts=tuple(self.facts),
            documents=tuple(self.documents),
            unanswerable=self.unanswerable,
        )
        return GoldenQuestionSet(
            id=self.id or question_id(question),
            question=question,
            mode=self.mode,
            expected=expectation,
            note=self.note,
            feedback=self.feedback,
        )


def _cleaned(question: str) -> str:
    """Return the question as `POST /query` would take it."""
    return one_spelling(sanitize(question)).strip()


class GoldenQuestionsRequest(StrictModel):
    """Golden questions to set: all of them, or none where one cannot be used."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"questions": [_EXAMPLE]}]})

    questions: list[GoldenQuestionBody] = Field(min_length=1, max_length=MAX_QUESTIONS)


class GoldenQuestionsSet(BaseModel):
    """What was set. `unchanged` were set so before."""

    ids: list[str]
    unchanged: list[str]


class GoldenQuestionRemoval(BaseModel):
    """The id of a question that is not asked any more."""

    id: str


class GoldenResultEntry(BaseModel):
    """How a question fared in a run. `why` is empty where it passed."""

    id: str
    passed: bool
    why: list[str] = Field(description="missing facts and documents, an invented answer, a failure")
    answer: str | None = Field(
        default=None,
        description="the beginning of the answer; only while the run is made",
        exclude_if=lambda answer: answer is None,
    )

    @classmethod
    def of(
        cls, expectation: GoldenExpectation, result: GoldenResult, answer: str | None = None
    ) -> Self:
        """Return the result with its reasons in words."""
        excerpt = None if answer is None else answer[:MAX_EXCERPT]
        why = reasons(expectation, result)
        return cls(id=result.id, passed=result.passed, why=why, answer=excerpt)


class GoldenRunEntry(BaseModel):
    """A run of golden questions."""

    id: str
    at: AwareDatetime
    actor: str
    position: int = Field(
        description="up to when all documents were in the answers, in microseconds since 1970"
    )
    as_of: bool = Field(description="it asked the past, as it was at `position`")
    before_promotion: bool = Field(description="it asked generations that did not go live")
    branch: str = Field(description="the branch that it asked; empty: what is live")
    llm_generated: bool
    reason: str
    total: int
    passed: int
    share: float = Field(description="of the questions that passed, from 0 to 1")
    failed: list[GoldenResultEntry] = Field(
        description="of questions that were changed or removed since, without the words"
    )

    @classmethod
    def of(cls, run: GoldenRun, questions: Sequence[GoldenQuestion]) -> Self:
        """Return the run. What its numbers stand for is known while the question is the same."""
        expectations = {
            question.id: question.event.expected
            for question in questions
            if question.sequence < run.sequence
        }
        event = run.event
        return cls(
            id=run.id,
            at=run.at,
            actor=run.actor,
            position=event.position,
            as_of=event.as_of,
            before_promotion=event.before_promotion,
            branch=event.branch,
            llm_generated=event.by_model,
            reason=event.reason,
            total=len(event.results),
            passed=event.passed_count,
            share=round(event.share, 4),
            failed=[
                GoldenResultEntry.of(expectations.get(result.id, _NOTHING_KNOWN), result)
                for result in event.results
                if not result.passed
            ],
        )


_NOTHING_KNOWN = GoldenExpectation.model_construct()
"""Stands for what a question expected that has been changed since."""


class LatestResult(BaseModel):
    """How a question fared when it was asked last of what was live."""

    at: AwareDatetime
    passed: bool
    why: list[str]


class GoldenQuestionEntry(BaseModel):
    """A golden question, who set it, and how it fared last."""

    id: str
    question: str
    mode: QuestionMode | None
    facts: list[str]
    documents: list[str]
    unanswerable: bool
    note: str
    feedback: str
    set_at: AwareDatetime
    set_by: str
    latest: LatestResult | None = Field(description="null: not asked since it was set")

    @classmethod
    def of(cls, question: GoldenQuestion, runs: Sequence[GoldenRun]) -> Self:
        """Return the question with its result in the newest of these runs that asked it."""
        event = question.event
        return cls(
            id=event.id,
            question=event.question,
            mode=event.mode,
            facts=list(event.expected.facts),
            documents=list(event.expected.documents),
            unanswerable=event.expected.unanswerable,
            note=event.note,
            feedback=event.feedback,
            set_at=question.at,
            set_by=question.actor,
            latest=_latest(question, runs),
        )


def _latest(question: GoldenQuestion, runs: Sequence[GoldenRun]) -> LatestResult | None:
    for run in reversed(runs):
        if run.sequence < question.sequence:
            return None
        if not run.event.is_of_live:
            continue
        for result in run.event.results:
            if result.id == question.id:
                why = reasons(question.event.expected, result)
                return LatestResult(at=run.at, passed=result.passed, why=why)
    return None


class GoldenRunRequest(StrictModel):
    """Which golden questions are asked, and of when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "a new model"}]})

    ids: list[Annotated[str, Field(pattern=GOLDEN_ID_PATTERN)]] = Field(
        default=[], max_length=MAX_QUESTIONS, description="only these; absent: all"
    )
    as_of: str | None = Field(
        default=None, max_length=64, description="answer from what was there then"
    )
    branch: str = Field(
        default="",
        max_length=32,
        description="ask this branch of the workspace; empty: what is live",
    )
    reason: str = Field(default="", max_length=1000)


class CitedDocumentBody(StrictModel):
    """A document that the answer rests on: its id, its file name, or both."""

    id: str = Field(default="", max_length=512)
    file_path: str = Field(default="", max_length=4096)


class FeedbackRequest(StrictModel):
    """What somebody thinks of an answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "rating": "down",
                    "reason": "She left in March.",
                    "question": "Who leads the Harbour Office?",
                    "answer": "Ada Marlow leads the Harbour Office. [1]",
                    "documents": [{"file_path": "port.md"}],
                }
            ]
        }
    )

    rating: Rating
    reason: str = Field(default="", max_length=1000)
    question: str = Field(min_length=1, max_length=MAX_QUESTION)
    answer: str = Field(default="", max_length=MAX_ANSWER)
    mode: QuestionMode | None = None
    documents: list[CitedDocumentBody] = Field(default=[], max_length=200)
    position: int | None = Field(
        default=None, ge=0, le=2**53, description="X-Log-Position of the answer"
    )

    def event(self) -> FeedbackGiven:
        """Return the event that says so."""
        documents = tuple(
            CitedDocument(id=document.id, file_path=document.file_path)
            for document in self.documents
        )
        fields = self.model_dump(exclude={"documents"})
        return FeedbackGiven(**fields, documents=documents)


class FeedbackEntry(BaseModel):
    """What somebody thinks of an answer."""

    id: str
    at: AwareDatetime
    actor: str
    rating: Rating
    reason: str
    question: str
    answer: str
    mode: QuestionMode | None
    documents: list[CitedDocument]
    position: int | None

    @classmethod
    def of(cls, feedback: Feedback) -> Self:
        """Return it as answers have it."""
        fields = feedback.event.model_dump()
        return cls(id=feedback.id, at=feedback.at, actor=feedback.actor, **fields)


class FeedbackId(BaseModel):
    """The id by which feedback is named."""

    id: str
