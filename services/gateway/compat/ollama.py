"""Ollama's routes, as LightRAG has them: one model, which answers from the documents."""

import json
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders

from contracts.text import encodable
from runtime.errors import NotFound
from services.gateway.auth.viewers import CurrentViewer, shows_no_documents
from services.gateway.compat.chat import (
    Asker,
    Reply,
    answer_request,
    last_user_message,
    to_request,
)
from services.gateway.compat.conversation import ParsedMessage, parse_message
from services.gateway.compat.left_out import left_out_parts, note
from services.gateway.compat.ollama_models import (
    CHAT_EXAMPLE,
    GENERATE_EXAMPLE,
    PROTOCOL,
    ChatRequest,
    GenerateRequest,
    OllamaProblem,
    running,
    tags,
)
from services.gateway.errors import protocol_errors
from services.gateway.questions.dependencies import QuestionDependencies, QuestionDeps
from services.gateway.questions.routes import with_answer_headers
from services.gateway.questions.streaming import Lines, NdjsonResponse, with_error_line
from services.gateway.workspaces import Workspace

Handle = Callable[[Request], Coroutine[Any, Any, Response]]
PartFields = Callable[[str], dict[str, Any]]
"""Returns the fields of a line that contain a piece of the answer; they differ by route."""


class JsonBodyRoute(APIRoute):
    """A route that reads its body as JSON whatever its Content-Type: some clients send
    application/octet-stream.
    """

    def get_route_handler(self) -> Handle:
        """See `APIRoute`."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            MutableHeaders(scope=request.scope)["Content-Type"] = "application/json"
            return await handle(Request(request.scope, request.receive))

        return handler


router = APIRouter(
    prefix="/api",
    tags=["ollama"],
    route_class=JsonBodyRoute,
    responses=protocol_errors(OllamaProblem),
)


def example_response(
    example: dict[str, Any], is_streamed: bool = False
) -> dict[int | str, dict[str, Any]]:
    """Return `responses` with an example answer."""
    stream_content = (
        {"application/x-ndjson": {"example": json.dumps(example) + "\n"}} if is_streamed else {}
    )
    return {200: {"content": {"application/json": {"example": example}, **stream_content}}}


@router.get("/version", responses=example_response({"version": PROTOCOL}))
@shows_no_documents
async def version() -> dict[str, str]:
    """Return the version of Ollama's protocol."""
    return {"version": PROTOCOL}


@router.get("/tags", responses=example_response(tags("lightrag", "latest")))
@shows_no_documents
async def models(deps: QuestionDeps) -> dict[str, Any]:
    """Return the list of models, which has one."""
    return tags(*_model_name(deps))


@router.get("/ps", responses=example_response(running("lightrag", "latest")))
@shows_no_documents
async def loaded(deps: QuestionDeps) -> dict[str, Any]:
    """Return the list of loaded models, which has the same one."""
    return running(*_model_name(deps))


@router.post(
    "/chat", response_model=None, responses=example_response(CHAT_EXAMPLE, is_streamed=True)
)
async def chat(
    body: ChatRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> Any:
    """Answer the last message from the documents. It may begin with a mode: `/local`, `/bypass`,
    `/context`.
    """
    _check_model(body.model, deps)
    turns = body.turns
    query_request = to_request(
        parse_message(last_user_message(turns)), turns[:-1], body.system or ""
    )
    left_out = note(left_out_parts("image" for _ in body.messages[-1].images or ()))
    is_streamed = body.stream is not False
    reply = await answer_request(
        query_request,
        deps,
        Asker(workspace, viewer),
        response,
        is_streamed=is_streamed,
        note=left_out,
    )
    if body.stream is False:
        return _last_line(body.model, reply, _message(await reply.text()))
    return with_answer_headers(
        NdjsonResponse(_lines(body.model, reply, _message, request.url.path)), response
    )


@router.post(
    "/generate", response_model=None, responses=example_response(GENERATE_EXAMPLE, is_streamed=True)
)
async def generate(
    body: GenerateRequest,
    deps: QuestionDeps,
    workspace: Workspace,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> Any:
    """Send the prompt to the language model unchanged, without retrieval."""
    _check_model(body.model, deps)
    query_request = to_request(
        ParsedMessage(body.prompt, "bypass"), (), body.system or "", bare=True
    )
    reply = await answer_request(
        query_request, deps, Asker(workspace, viewer), response, is_streamed=bool(body.stream)
    )
    if not body.stream:
        return _last_line(body.model, reply, {**_response(await reply.text()), "context": []})
    return with_answer_headers(
        NdjsonResponse(_lines(body.model, reply, _response, request.url.path)), response
    )


def _lines(model: str, reply: Reply, part: PartFields, path: str) -> Lines:
    """Yield a line for each piece and a last one with statistics, after an error too: clients wait
    for it.
    """

    async def lines() -> Lines:
        async with aclosing(reply.pieces):
            async for piece in reply.pieces:
                yield _line(model, done=False, **part(piece))
        yield json.dumps(_last_line(model, reply, part(""))) + "\n"

    def failed(_: int, detail: str) -> str:
        error_line = _line(model, **part(f"\n\nError: {detail}"), error=detail, done=False)
        return error_line + json.dumps(_last_line(model, reply, part(""))) + "\n"

    return with_error_line(lines(), path, failed)


def _line(model: str, **fields: Any) -> str:
    return json.dumps({"model": model, "created_at": _now(), **fields}) + "\n"


def _last_line(model: str, reply: Reply, part: dict[str, Any]) -> dict[str, Any]:
    """Return the last line of an answer, or the only one. Durations in nanoseconds."""
    meter = reply.usage
    now = time.monotonic_ns()
    first = meter.first_piece_at or now
    return {
        "model": model,
        "created_at": _now(),
        **part,
        "done": True,
        "done_reason": "length" if meter.is_truncated else "stop",
        "total_duration": now - meter.started_at,
        "load_duration": 0,
        "prompt_eval_count": meter.prompt_tokens,
        "prompt_eval_duration": first - meter.started_at,
        "eval_count": meter.answer_tokens,
        "eval_duration": now - first,
        **reply.sources,
    }


def _message(piece: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": piece, "images": None}}


def _response(piece: str) -> dict[str, Any]:
    return {"response": piece}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _model_name(deps: QuestionDependencies) -> tuple[str, str]:
    return deps.settings.ollama_emulating_model_name, deps.settings.ollama_emulating_model_tag


def _check_model(model: str, deps: QuestionDependencies) -> None:
    """Raise NotFound unless this is the name of the one model, with or without its tag."""
    name, tag = _model_name(deps)
    if model not in (name, f"{name}:{tag}"):
        raise NotFound(f"model '{encodable(model)}' not found")
