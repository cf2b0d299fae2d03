"""The HTTP routes that answer questions. No logic: a request becomes a call, its result becomes an
answer.
"""

import time
from dataclasses import replace

from fastapi import APIRouter, HTTPException, Request, Response

from contracts.spelling import one_spelling
from runtime.models.call_scope import set_call_scope
from services.gateway.caller_places import caller_places
from services.gateway.connection import while_connected
from services.gateway.places import PLAIN
from services.gateway.questions.dependencies import QuestionDependencies, QuestionDeps
from services.gateway.questions.models import (
    QueryRequest,
    QueryResponse,
    references_of,
    rounds_of,
)
from services.gateway.questions.streaming import NdjsonResponse, answer_lines
from services.gateway.reference.responses import Responses, error_responses
from services.gateway.workspaces import Workspace
from services.query.answering.ask import Answer, ask
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.question import RESPONSE_TYPE, Keywords, Output, Question, Turn
from services.query.retrieval.dependencies import ProgressCallback
from services.query.settings import QuerySettings

router = APIRouter()

POSITION_HEADER = "X-Log-Position"
"""The header with the time, in microseconds since 1970, up to which all documents are in the
answer.
"""


POSITION_SCHEMA = {
    "description": "up to when, in microseconds since 1970",
    "schema": {"type": "integer", "minimum": 0},
}
QUERY_RESPONSES: Responses = {
    **error_responses(502),
    200: {"headers": {POSITION_HEADER: POSITION_SCHEMA}},
}
STREAM_EXAMPLE = {
    "application/x-ndjson": {
        "example": '{"response": "Ada Marsh leads it. [1]", "llm_generated": false}\n'
    }
}


async def where_to_search(
    body: QueryRequest,
    deps: QuestionDependencies,
    workspace: str,
    response: Response,
    request: Request | None = None,
) -> tuple[Partitions, QueryDependencies]:
    """Return where to search, after waiting for the requested position, and set the position
    header.

    `request`: reading the past ends when its client disconnects. Raises a 503 when the position is
    not reached in time, ClientDisconnect.
    """
    set_call_scope(workspace)
    if body.as_of is not None:
        places = await caller_places(request, workspace) if request else PLAIN
        sequence = await deps.past.point(workspace, body.as_of, places)
        response.headers[POSITION_HEADER] = str(await deps.past.time_of(workspace, sequence))
        generation = (await deps.pointers.live("vectors")).vectors
        reading = deps.past_answers.at(deps.past, workspace, sequence, deps.answering, generation)
        answering, partitions = await while_connected(request, reading)
        return partitions, answering
    return await _partitions_at_position(body, deps, workspace, response), deps.answering


async def _partitions_at_position(
    body: QueryRequest, deps: QuestionDependencies, workspace: str, response: Response
) -> Partitions:
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
    return partitions


@router.post("/query", tags=["query"], operation_id="query", responses=QUERY_RESPONSES)
async def query(
    body: QueryRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
) -> QueryResponse:
    """Answer a question from the documents."""
    started_at = time.monotonic()
    partitions, answering = await where_to_search(body, deps, workspace, response, request)
    answer = await ask(
        to_question(body, deps.question_settings), partitions, answering, output=wanted_output(body)
    )
    return QueryResponse(
        response=answer.text,
        references=references_of(body, answer),
        response_time=round(time.monotonic() - started_at, 3),
        llm_generated=answer.by_model,
        truncated=answer.truncated,
        prompt_truncated=answer.prompt_truncated,
        reasoning=(answer.reasoning or None) if body.include_reasoning else None,
        rounds=rounds_of(answer),
    )


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
) -> NdjsonResponse:
    """Answer a question from the documents, in lines of JSON while the answer is being written."""
    partitions, answering = await where_to_search(body, deps, workspace, response, request)
    question = to_question(body, deps.question_settings)
    output = wanted_output(body)

    async def asking(tell: ProgressCallback) -> Answer:
        progress_answering = replace(answering, on_progress=tell)
        return await ask(
            question,
            partitions,
            progress_answering,
            output=output,
            is_streamed=body.stream is not False,
        )

    lines = NdjsonResponse(await answer_lines(body, asking, request.url.path))
    lines.headers[POSITION_HEADER] = response.headers[POSITION_HEADER]
    return lines


def wanted_output(body: QueryRequest) -> Output:
    """Return which output is requested: the answer, its context, or the prompt."""
    if body.only_need_prompt:
        return "prompt"
    return "context" if body.only_need_context else "answer"


def to_question(body: QueryRequest, settings: QuerySettings) -> Question:
    """Return the question of a request, with the settings' values where the request has none."""
    limits = {
        name: getattr(body, name) or getattr(settings, name)
        for name in (
            "top_k",
            "chunk_top_k",
            "max_entity_tokens",
            "max_relation_tokens",
            "max_total_tokens",
        )
    }
    prefix = "" if body.disable_user_prompt_prefix else settings.prompt_prefix
    return Question(
        body.query,
        body.mode,
        **limits,
        keywords=Keywords(
            tuple(map(one_spelling, body.hl_keywords)), tuple(map(one_spelling, body.ll_keywords))
        ),
        effort=body.effort,
        scope=body.filter.scope(),
        rerank=settings.rerank_by_default if body.enable_rerank is None else body.enable_rerank,
        response_type=body.response_type or RESPONSE_TYPE,
        user_prompt=prefix + (body.user_prompt or ""),
        history=tuple(
            Turn(message.role, message.content) for message in body.conversation_history or ()
        ),
    )
