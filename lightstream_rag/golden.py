"""Methods about golden questions: what must be found for a question, runs of them, and feedback."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict, Unpack
from urllib.parse import quote

from pydantic import TypeAdapter

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import ResponseModel
from lightstream_rag.questions import Mode

PATH = "/golden-questions"
RUNS = "/golden-runs"


class GoldenQuestionFields(TypedDict, total=False):
    """A golden question to set: `question`, and `facts`, `documents` or `unanswerable`."""

    id: str
    question: str
    mode: Mode
    facts: Sequence[str]
    documents: Sequence[str]
    unanswerable: bool
    note: str
    feedback: str


class LatestResult(ResponseModel):
    """How a question fared when it was asked last; `why` is empty where it passed."""

    at: datetime
    passed: bool
    why: list[str]


class GoldenQuestion(ResponseModel):
    """A golden question, who set it, and how it fared last; None: not asked since."""

    id: str
    question: str
    mode: Mode | None = None
    facts: list[str]
    documents: list[str]
    unanswerable: bool = False
    note: str = ""
    feedback: str = ""
    set_at: datetime
    set_by: str = ""
    latest: LatestResult | None = None


class GoldenQuestionsSet(ResponseModel):
    """The ids that were set, and those that were set so before."""

    ids: list[str]
    unchanged: list[str]


class GoldenQuestionRemoval(ResponseModel):
    """The id of a question that is not asked any more."""

    id: str


class GoldenResult(ResponseModel):
    """How a question fared. `answer`: its beginning, while the run is made."""

    id: str
    passed: bool
    why: list[str]
    answer: str | None = None


class GoldenRun(ResponseModel):
    """A run of golden questions. `position`: microseconds since 1970."""

    id: str
    at: datetime
    actor: str
    position: int
    as_of: bool
    before_promotion: bool
    branch: str = ""
    llm_generated: bool
    reason: str
    total: int
    passed: int
    share: float
    failed: list[GoldenResult]


class GoldenRunLine(ResponseModel):
    """A line of a run: the `result` of a `question`, one `of` so many, or at last the `run`."""

    result: GoldenResult | None = None
    question: str = ""
    of: int = 0
    run: GoldenRun | None = None


class ComparedAnswer(ResponseModel):
    """What one side answered, from which files, and whether that passes."""

    passed: bool
    why: list[str]
    answer: str
    sources: list[str]


class ComparedAnswers(ResponseModel):
    """A golden question, one `of` so many, with the answers of a branch and its origin."""

    id: str
    question: str
    of: int
    origin: ComparedAnswer
    branch: ComparedAnswer


class CitedDocumentFields(TypedDict, total=False):
    """A document that an answer rests on: its id, its file name, or both."""

    id: str
    file_path: str


class CitedDocument(ResponseModel):
    """A document that an answer rests on."""

    id: str = ""
    file_path: str = ""


class FeedbackOptions(TypedDict, total=False):
    """What else is said of an answer. `position`: its X-Log-Position."""

    answer: str
    reason: str
    mode: Mode
    documents: Sequence[CitedDocumentFields]
    position: int


class Feedback(ResponseModel):
    """What somebody thinks of an answer."""

    id: str
    at: datetime
    actor: str
    rating: Literal["up", "down"]
    reason: str
    question: str
    answer: str
    mode: Mode | None = None
    documents: list[CitedDocument]
    position: int | None = None


class FeedbackId(ResponseModel):
    """The id by which feedback is named."""

    id: str


def golden_questions() -> Flow[list[GoldenQuestion]]:
    """Return the golden questions of the workspace, each with how it fared last."""
    return get(PATH, TypeAdapter(list[GoldenQuestion]).validate_json)


def set_golden_questions(questions: Sequence[GoldenQuestionFields]) -> Flow[GoldenQuestionsSet]:
    """Set golden questions; what was set under the same id before no longer counts."""
    body = json_body(questions=[dict(question) for question in questions])
    return request(Call("POST", PATH, parse_as(GoldenQuestionsSet), body, idempotent=True))


def remove_golden_question(id: str, *, reason: str = "") -> Flow[GoldenQuestionRemoval]:
    """Remove a golden question."""
    params = {"reason": reason} if reason else {}
    return request(Call("DELETE", f"{PATH}/{id}", parse_as(GoldenQuestionRemoval), params=params))


def run_golden_questions(
    *, ids: Sequence[str] = (), as_of: str | None = None, reason: str = "", branch: str = ""
) -> Call[GoldenRunLine]:
    """Ask golden questions, all of them or these, of now or of the past, or of a branch: `with … as
    lines`, then iterate. The last line has the run, which is recorded then.
    """
    body = json_body(ids=list(ids), as_of=as_of, reason=reason, branch=branch or None)
    return Call("POST", RUNS, parse_as(GoldenRunLine), body)


def compare_answers(branch: str) -> Call[ComparedAnswers]:
    """Ask the golden questions of a branch and of its origin: `with … as answers`, then iterate.
    Nothing is recorded. Raises NotFound.
    """
    path = f"/branches/{quote(branch, safe='')}/answers"
    return Call("POST", path, parse_as(ComparedAnswers))


def golden_runs(limit: int = 100) -> Flow[list[GoldenRun]]:
    """Return the newest runs, the newest first; at most 500."""
    return get(RUNS, TypeAdapter(list[GoldenRun]).validate_json, limit=limit)


def give_feedback(
    rating: Literal["up", "down"], question: str, **options: Unpack[FeedbackOptions]
) -> Flow[FeedbackId]:
    """Say whether an answer helped, and why."""
    body = json_body(rating=rating, question=question, **options)
    return request(Call("POST", "/feedback", parse_as(FeedbackId), body))


def feedback(
    rating: Literal["up", "down"] | None = None, *, limit: int = 100
) -> Flow[list[Feedback]]:
    """Return what was said of answers, the newest first; at most 500."""
    rating_filter = {"rating": rating} if rating else {}
    return get("/feedback", TypeAdapter(list[Feedback]).validate_json, limit=limit, **rating_filter)
