"""The routes about golden questions, their runs, and feedback."""

from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from contracts.events.golden import GOLDEN_ID_PATTERN, Rating
from runtime.branches import read_branch
from runtime.errors import NotFound
from runtime.golden.questions import (
    GoldenQuestion,
    newest_feedback,
    newest_runs,
    publish,
    read_questions,
    remove_question,
    set_questions,
)
from services.gateway.auth.audit import note_details
from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import shows_no_documents
from services.gateway.golden.dependencies import GoldenDeps
from services.gateway.golden.models import (
    FeedbackEntry,
    FeedbackId,
    FeedbackRequest,
    GoldenQuestionEntry,
    GoldenQuestionRemoval,
    GoldenQuestionsRequest,
    GoldenQuestionsSet,
    GoldenRunEntry,
    GoldenRunRequest,
)
from services.gateway.golden.runs import PATH, GoldenOrder, run_lines, runs_of
from services.gateway.questions.dependencies import QuestionDeps
from services.gateway.questions.models import QueryRequest
from services.gateway.questions.routes import POSITION_HEADER, QUERY_RESPONSES, place_of
from services.gateway.questions.streaming import NdjsonResponse, error_line, with_error_line
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest
from services.query.event_source import SOURCE

router = APIRouter(tags=["golden questions"])

GoldenId = Annotated[
    str, Path(pattern=GOLDEN_ID_PATTERN, max_length=64, examples=["harbour-office"])
]
Limit = Annotated[int, Query(ge=1, le=500)]
RUN_EXAMPLE = {
    "application/x-ndjson": {
        "example": (
            '{"result": {"id": "gq-1f2e3d4c5b6a", "passed": true, "why": [], "answer": "Ada …"}, '
            '"question": "Who leads the Harbour Office?", "of": 1}\n{"run": {"passed": 1, …}}\n'
        )
    }
}


@router.get("/golden-questions")
async def golden_questions(deps: GoldenDeps, workspace: Workspace) -> list[GoldenQuestionEntry]:
    """Return the golden questions, each with how it fared last."""
    questions = await read_questions(deps.log, workspace)
    runs = await runs_of(deps.feed, workspace, questions)
    return [GoldenQuestionEntry.of(question, runs) for question in questions]


@router.post("/golden-questions")
async def set_golden_questions(
    request: Request, body: GoldenQuestionsRequest, deps: GoldenDeps, workspace: Workspace
) -> GoldenQuestionsSet:
    """Set golden questions. What was set under the same id before no longer counts."""
    events = [question.event() for question in body.questions]
    ids = [event.id for event in events]
    if repeated_ids := sorted({id for id in ids if ids.count(id) > 1}):
        raise BadRequest(f"given more than once: {', '.join(repeated_ids[:20])}")
    note_details(request, ids=ids)
    changed_ids = await set_questions(deps.log, workspace, events, SOURCE)
    unchanged_ids = [id for id in ids if id not in changed_ids]
    return GoldenQuestionsSet(ids=changed_ids, unchanged=unchanged_ids)


@router.delete("/golden-questions/{id}", responses=error_responses(404))
async def remove_golden_question(
    request: Request,
    id: GoldenId,
    deps: GoldenDeps,
    workspace: Workspace,
    reason: Annotated[str, Query(max_length=1000)] = "",
) -> GoldenQuestionRemoval:
    """Remove a golden question. What runs found of it stays in their history."""
    note_details(request, id=id, reason=reason)
    if not await remove_question(deps.log, workspace, id, reason, SOURCE):
        raise NotFound(f"no golden question is called {id}: GET /golden-questions lists them")
    return GoldenQuestionRemoval(id=id)


@router.post(
    PATH,
    status_code=200,
    response_class=NdjsonResponse,
    responses={
        **QUERY_RESPONSES,
        **error_responses(404),
        200: {**QUERY_RESPONSES[200], "content": RUN_EXAMPLE},
    },
)
async def run_golden_questions(
    request: Request,
    body: GoldenRunRequest,
    deps: GoldenDeps,
    answering: QuestionDeps,
    workspace: Workspace,
    response: Response,
) -> NdjsonResponse:
    """Ask golden questions, of now or of the past: a line of JSON for each, and one for the run,
    which is recorded.
    """
    asked_workspace = workspace
    if body.branch:
        asked_workspace = (await read_branch(deps.log, workspace, body.branch)).workspace
    questions = _chosen(await read_questions(deps.log, workspace), body.ids)
    note_details(request, questions=len(questions), as_of=body.as_of or "", reason=body.reason)
    # Golden questions are asked as people ask them: in the same place, by the same rules.
    probe = QueryRequest(query="golden questions", as_of=body.as_of)
    place = await place_of(probe, answering, asked_workspace, response, request)
    position = int(response.headers[POSITION_HEADER])
    order = GoldenOrder(workspace, questions, place, position, body.reason, body.branch)
    lines = run_lines(order, answering.questions, deps)
    stream = NdjsonResponse(with_error_line(lines, PATH, error_line))
    stream.headers[POSITION_HEADER] = response.headers[POSITION_HEADER]
    return stream


def _chosen(questions: list[GoldenQuestion], ids: list[str]) -> list[GoldenQuestion]:
    """Return these questions, all without ids. Raises NotFound where there is none of them."""
    if not ids:
        if not questions:
            raise NotFound("the workspace has no golden questions: set some first")
        return questions
    chosen_questions = [question for question in questions if question.id in ids]
    if missing_ids := sorted({*ids} - {question.id for question in chosen_questions}):
        raise NotFound(
            f"no golden question is called {', '.join(missing_ids[:20])}: GET /golden-questions "
            "lists them"
        )
    return chosen_questions


@router.get("/golden-runs")
async def golden_runs(
    deps: GoldenDeps, workspace: Workspace, limit: Limit = 100
) -> list[GoldenRunEntry]:
    """Return the newest runs of golden questions, the newest first."""
    questions = await read_questions(deps.log, workspace)
    entries: list[GoldenRunEntry] = []
    async with aclosing(newest_runs(deps.feed, workspace)) as runs:
        async for run in runs:
            entries.append(GoldenRunEntry.of(run, questions))
            if len(entries) == limit:
                break
    return entries


@router.post("/feedback")
@shows_no_documents
async def give_feedback(
    body: FeedbackRequest, deps: GoldenDeps, workspace: Workspace
) -> FeedbackId:
    """Say whether an answer helped, and why. Who may read may say so."""
    return FeedbackId(id=await publish(deps.log, workspace, body.event(), SOURCE))


@router.get("/feedback")
async def feedback(
    request: Request,
    deps: GoldenDeps,
    workspace: Workspace,
    rating: Rating | None = None,
    limit: Limit = 100,
) -> list[FeedbackEntry]:
    """Return what was said of answers, the newest first: who may only read gets its own alone."""
    principal: Principal = request.state.principal
    sees_all = principal.permissions.allows("write")
    entries: list[FeedbackEntry] = []
    async with aclosing(newest_feedback(deps.feed, workspace)) as newest_entries:
        async for entry in newest_entries:
            is_shown = sees_all or entry.actor == principal.name
            if is_shown and rating in (None, entry.event.rating):
                entries.append(FeedbackEntry.of(entry))
            if len(entries) == limit:
                break
    return entries
