"""Asks the golden questions of a branch and of its origin, and streams both answers side by side.
Nothing is recorded: `POST /golden-runs` records how a branch fares.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from contracts.events import GoldenQuestionSet
from runtime.branches import read_branch
from runtime.golden.judging import GivenAnswer, reasons
from runtime.golden.questions import GoldenQuestion, read_questions
from runtime.golden.running import AskGolden, GoldenOutcome, ask_all
from runtime.models.call_scope import set_call_scope
from services.gateway.auth.audit import note_details
from services.gateway.branches.dependencies import BranchName
from services.gateway.errors import describe_error
from services.gateway.golden.dependencies import GoldenDeps
from services.gateway.questions.dependencies import QuestionDependencies, QuestionDeps
from services.gateway.questions.routes import QUERY_RESPONSES
from services.gateway.questions.streaming import NdjsonResponse, error_line, with_error_line
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.questions.judged_answer import given_answer
from services.query.questions.port import QuestionRequest, SearchPlace

router = APIRouter(tags=["golden questions"])

PATH = "/branches/{name}/answers"
EXAMPLE = {
    "application/x-ndjson": {
        "example": (
            '{"id": "gq-1f2e3d4c5b6a", "question": "Who leads the Harbour Office?", "of": 1, '
            '"origin": {"passed": true, "why": [], "answer": "Ada …", "sources": ["port.md"]}, '
            '"branch": {"passed": true, "why": [], "answer": "Ada …", "sources": ["port.md"]}}\n'
        )
    }
}


class ComparedAnswer(BaseModel):
    """What one side answered, and from which files; empty where it could not be asked."""

    passed: bool
    why: list[str] = Field(description="missing facts and documents, an invented answer, a failure")
    answer: str
    sources: list[str]

    @classmethod
    def of(cls, outcome: GoldenOutcome) -> Self:
        """Return the outcome as the route shows it."""
        answer = outcome.answer or GivenAnswer("")
        return cls(
            passed=outcome.result.passed,
            why=reasons(outcome.question.event.expected, outcome.result),
            answer=answer.text,
            sources=list(answer.files),
        )


class ComparedAnswers(BaseModel):
    """A golden question, one `of` so many, with the answers of both sides."""

    id: str
    question: str
    of: int
    origin: ComparedAnswer
    branch: ComparedAnswer


@router.post(
    PATH,
    status_code=200,
    response_class=NdjsonResponse,
    responses={
        **QUERY_RESPONSES,
        **error_responses(404),
        200: {"content": EXAMPLE},
    },
)
async def compare_answers(
    request: Request,
    name: BranchName,
    deps: GoldenDeps,
    answering: QuestionDeps,
    workspace: Workspace,
) -> NdjsonResponse:
    """Ask every golden question of a branch and of its origin: a line of JSON for each, with both
    answers. Models are paid as for any question; none is asked where there are no golden questions.
    """
    branch = await read_branch(deps.log, workspace, name)
    questions = await read_questions(deps.log, workspace)
    note_details(request, branch=name, questions=len(questions))
    # The origin itself, also while a branch answers for it.
    places = [await _place(answering, side) for side in (branch.origin, branch.workspace)]
    lines = compared_lines(questions, *(_asking(answering, place) for place in places))
    return NdjsonResponse(with_error_line(lines, PATH, error_line))


async def compared_lines(
    questions: Sequence[GoldenQuestion], ask_origin: AskGolden, ask_branch: AskGolden
) -> AsyncGenerator[str]:
    """Yield a line of JSON for each question, in their order, once both sides have answered it."""
    async with (
        aclosing(ask_all(questions, ask_origin, _describe)) as of_origin,
        aclosing(ask_all(questions, ask_branch, _describe)) as of_branch,
    ):
        for question in questions:
            origin, branch = await asyncio.gather(anext(of_origin), anext(of_branch))
            answers = ComparedAnswers(
                id=question.id,
                question=question.event.question,
                of=len(questions),
                origin=ComparedAnswer.of(origin),
                branch=ComparedAnswer.of(branch),
            )
            yield f"{answers.model_dump_json()}\n"


async def _place(answering: QuestionDependencies, workspace: str) -> SearchPlace:
    partitions, position = await answering.current_partitions.of(workspace)
    return SearchPlace(partitions=partitions, complete_to=position)


def _asking(answering: QuestionDependencies, place: SearchPlace) -> AskGolden:
    async def ask(question: GoldenQuestionSet) -> GivenAnswer:
        set_call_scope(place.workspace)
        request = QuestionRequest(query=question.question, place=place, mode=question.mode)
        return given_answer(await answering.questions.ask(request))

    return ask


def _describe(error: Exception) -> str:
    return describe_error(error, PATH)[1]
