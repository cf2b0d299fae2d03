"""The HTTP routes that answer questions. No logic: a request becomes a call, its result becomes an
answer.
"""

import time
from dataclasses import replace
from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException, Request, Response

from contracts.moments import from_microseconds
from runtime.models.call_scope import set_call_scope
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.caller_places import caller_places
from services.gateway.connection import while_connected
from services.gateway.past.points import sequence_of
from services.gateway.places import PLAIN
from services.gateway.questions.dependencies import QuestionDependencies, QuestionDeps
from services.gateway.questions.models import (
    QueryRequest,
    QueryResponse,
    mode_choice,
    references_of,
    rounds_of,
)
from services.gateway.questions.standings import outdated_sources, outweighed_statements
from services.gateway.questions.streaming import NdjsonResponse, answer_lines
from services.gateway.reference.responses import Responses, error_responses
from services.gateway.workspaces import Workspace
from services.query.answer import Answer
from services.query.partitions import Partitions
from services.query.question import Keywords, Output, ProgressCallback, Turn
from services.query.questions.port import QuestionRequest, SearchPlace
from services.query.visibility.viewer import Viewer

router = APIRouter()

POSITION_HEADER = "X-Log-Position"
"""The header with the time, in microseconds since 1970, up to which all documents are in the
answer.
"""


RECEIPT_HEADER = "X-Receipt"
"""The header with the id of the answer's receipt, where one is recorded."""

POSITION_SCHEMA = {
    "description": "up to when, in microseconds since 1970",
    "schema": {"type": "integer", "minimum": 0},
}
RECEIPT_SCHEMA = {"description": "id of the receipt", "schema": {"type": "string"}}
QUERY_RESPONSES: Responses = {
    **error_responses(502),
    200: {"headers": {POSITION_HEADER: POSITION_SCHEMA, RECEIPT_HEADER: RECEIPT_SCHEMA}},
}
STREAM_EXAMPLE = {
    "application/x-ndjson": {
        "example": '{"response": "Ada Marsh leads it. [1]", "llm_generated": false}\n'
    }
}


async def place_of(
    body: QueryRequest,
    deps: QuestionDependencies,
    workspace: str,
    response: Response,
    request: Request | None = None,
) -> SearchPlace:
    """Return where to search, after waiting for the requested position, and set the position
    header. A promoted branch answers for its origin, but for the past.

    Raises a 503 when the position is not reached in time.
    """
    set_call_scope(workspace)
    if body.as_of is None:
        answering_workspace = await deps.branches.answering(workspace)
        place = await _present_place(body, deps, answering_workspace, response)
        is_branch = answering_workspace != workspace
        return replace(place, asked_workspace=workspace) if is_branch else place
    places = await caller_places(request, workspace) if request else PLAIN
    sequence = await sequence_of(deps.past, workspace, body.as_of, places)
    response.headers[POSITION_HEADER] = str(await deps.past.time_of(workspace, sequence))
    partitions = Partitions.of(workspace, await deps.pointers.live("vectors"))
    complete_to = int(response.headers[POSITION_HEADER])
    return SearchPlace(partitions=partitions, sequence=sequence, complete_to=complete_to)


async def _present_place(
    body: QueryRequest, deps: QuestionDependencies, workspace: str, response: Response
) -> SearchPlace:
    if body.min_position is None:
        partitions, position = await deps.current_partitions.of(workspace)
    else:
        partitions = Partitions.of(workspace, await deps.pointers.live())
        position = await deps.positions.wait_for(
            partitions.status, body.min_position, deps.settings.min_position_timeout
        )
        if position < body.min_position:
            message = (
                f"position {position} is reached, {body.min_position} was asked for; try again"
            )
            raise HTTPException(503, message, {"Retry-After": "1", POSITION_HEADER: str(position)})
    response.headers[POSITION_HEADER] = str(position)
    return SearchPlace(partitions=partitions, complete_to=position)


@router.post("/query", tags=["query"], operation_id="query", responses=QUERY_RESPONSES)
async def query(
    body: QueryRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> QueryResponse:
    """Answer a question from the documents."""
    started_at = time.monotonic()
    place = await place_of(body, deps, workspace, response, request)
    asking = deps.questions.ask(question_request(body, place, viewer))
    answer = await while_connected(reader_of_past(body, request), asking)
    set_receipt(response, answer)
    fields = QueryResponse(
        response=answer.text,
        references=references_of(body, answer),
        response_time=round(time.monotonic() - started_at, 3),
        llm_generated=answer.by_model,
        truncated=answer.truncated,
        prompt_truncated=answer.prompt_truncated,
        reasoning=(answer.reasoning or None) if body.include_reasoning else None,
        rounds=rounds_of(answer),
        outdated_sources=outdated_sources(answer.retrieval),
        outweighed_statements=outweighed_statements(answer.retrieval),
        receipt=answer.receipt or None,
    )
    return fields.model_copy(update=mode_choice(answer.retrieval))


@router.post(
    "/query/stream",
    tags=["query"],
    status_code=200,
    response_class=NdjsonResponse,
    responses={**QUERY_RESPONSES, 200: {**QUERY_RESPONSES[200], "content": STREAM_EXAMPLE}},
)
async def query_stream(
    body: QueryRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> NdjsonResponse:
    """Answer a question from the documents, in lines of JSON while the answer is being written."""
    place = await place_of(body, deps, workspace, response, request)
    question = question_request(body, place, viewer, is_streamed=body.stream is not False)

    async def ask_question(on_progress: ProgressCallback) -> Answer:
        answer = await deps.questions.ask(question, on_progress)
        set_receipt(response, answer)
        return answer

    answering = answer_lines(body, ask_question, request.url.path)
    lines = NdjsonResponse(await while_connected(reader_of_past(body, request), answering))
    return with_answer_headers(lines, response)


def set_receipt(response: Response, answer: Answer) -> None:
    """Set the header with the id of the answer's receipt, if it has one."""
    if answer.receipt:
        response.headers[RECEIPT_HEADER] = answer.receipt


def with_answer_headers(stream: NdjsonResponse, response: Response) -> NdjsonResponse:
    """Return the stream with the position header of the response, and that of the receipt where it
    is known before the first line.
    """
    for name in (POSITION_HEADER, RECEIPT_HEADER):
        if name in response.headers:
            stream.headers[name] = response.headers[name]
    return stream


def reader_of_past(body: QueryRequest, request: Request) -> Request | None:
    """Return the request of a question about the past, which may read for minutes; None for one of
    the present: its answer is cached for whoever asks again, though its first asker is gone.
    """
    return request if body.as_of is not None else None


def wanted_output(body: QueryRequest) -> Output:
    """Return which output is requested: the answer, its context, or the prompt."""
    if body.only_need_prompt:
        return "prompt"
    return "context" if body.only_need_context else "answer"


def _time_of_past(body: QueryRequest, place: SearchPlace) -> datetime | None:
    """Return the time that a question about the past is about; None for the present."""
    if body.as_of is None:
        return None
    try:
        named_time = datetime.fromisoformat(body.as_of.strip())
    except ValueError:
        return from_microseconds(place.complete_to)
    return named_time if named_time.tzinfo else named_time.replace(tzinfo=UTC)


def question_request(
    body: QueryRequest, place: SearchPlace, viewer: Viewer | None, *, is_streamed: bool = False
) -> QuestionRequest:
    """Return the question of a request, as the query service takes it."""
    return QuestionRequest(
        query=body.query,
        place=place,
        mode=body.mode,
        top_k=body.top_k,
        chunk_top_k=body.chunk_top_k,
        max_entity_tokens=body.max_entity_tokens,
        max_relation_tokens=body.max_relation_tokens,
        max_total_tokens=body.max_total_tokens,
        keywords=Keywords(tuple(body.hl_keywords), tuple(body.ll_keywords)),
        effort=body.effort,
        scope=body.filter.scope(),
        rerank=body.enable_rerank,
        response_type=body.response_type,
        user_prompt=body.user_prompt or "",
        has_prompt_prefix=not body.disable_user_prompt_prefix,
        history=tuple(
            Turn(message.role, message.content) for message in body.conversation_history or ()
        ),
        valid_at=body.valid_at or _time_of_past(body, place),
        output=wanted_output(body),
        is_streamed=is_streamed,
        viewer=viewer,
    )
