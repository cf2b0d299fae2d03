"""OpenAI's routes: chat completions, plain and streamed, and the models, which are modes and
workspaces.
"""

import json
import time
from contextlib import aclosing
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path, Request, Response

from contracts.text import encodable
from runtime.errors import NotFound
from services.gateway.auth.middleware import (
    authorized_workspace,
    default_workspace,
    viewer_of_user,
)
from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import CurrentViewer, shows_no_documents
from services.gateway.compat.chat import (
    Asker,
    Reply,
    answer_request,
    last_user_message,
    to_request,
)
from services.gateway.compat.conversation import ParsedMessage
from services.gateway.compat.left_out import left_out_parts, note
from services.gateway.compat.openai_model_names import Model, available_models, parse_model
from services.gateway.compat.openai_models import (
    COMPLETION_EXAMPLE,
    ChatCompletionRequest,
    OpenAiProblem,
    model_object,
    usage,
)
from services.gateway.errors import openai_error, protocol_errors
from services.gateway.questions.dependencies import QuestionDeps
from services.gateway.questions.routes import with_answer_headers
from services.gateway.questions.streaming import EventStreamResponse, Lines, with_error_line
from services.gateway.workspaces import checked_workspace
from services.query.errors import BadRequest

router = APIRouter(prefix="/v1", tags=["openai"], responses=protocol_errors(OpenAiProblem))


def example_response(example: Any, **content_types: Any) -> dict[int | str, dict[str, Any]]:
    """Return `responses` with an example answer."""
    return {200: {"content": {"application/json": {"example": example}, **content_types}}}


STREAM_EXAMPLE = (
    'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": '
    '"Ada"}}]}\n\n'
)


@router.get(
    "/models",
    responses=example_response({"object": "list", "data": [model_object("lightstream")]}),
)
@shows_no_documents
async def models(request: Request) -> dict[str, Any]:
    """Return the models that these credentials may use."""
    principal: Principal = request.state.principal
    workspaces = principal.permissions.workspaces
    default = principal.permissions.resolve_workspace("", default_workspace(request.scope))
    allowed_models = available_models(workspaces, default)
    return {"object": "list", "data": [model_object(model.id) for model in allowed_models]}


@router.get("/models/{id}", responses=example_response(model_object("lightstream:mix")))
@shows_no_documents
async def one_model(
    id: Annotated[str, Path(examples=["lightstream:mix"])], request: Request
) -> dict[str, Any]:
    """Return the model of this name."""
    _set_workspace(_find_model(id), request)
    return model_object(id)


@router.post(
    "/chat/completions",
    response_model=None,
    responses=example_response(
        COMPLETION_EXAMPLE,
        **{"text/event-stream": {"example": f"{STREAM_EXAMPLE}data: [DONE]\n\n"}},
    ),
)
async def complete(
    body: ChatCompletionRequest,
    deps: QuestionDeps,
    request: Request,
    response: Response,
    viewer: CurrentViewer,
) -> Any:
    """Answer the last message from the documents, in the mode and the workspace that the model
    names.
    """
    model = _find_model(body.model)
    workspace = _set_workspace(model, request)
    turns = body.turns
    if body.messages[-1].left_out and not turns[-1].content.strip():
        raise BadRequest(
            "the last message has no text, and only text is read: put a question beside the "
            "other parts"
        )
    query_request = to_request(ParsedMessage(last_user_message(turns), model.mode), turns[:-1])
    left_out = note(left_out_parts(body.messages[-1].left_out))
    reply = await answer_request(
        query_request,
        deps,
        Asker(workspace, viewer_of_user(body.user, viewer, request)),
        response,
        is_streamed=bool(body.stream),
        note=left_out,
    )
    if body.stream:
        return with_answer_headers(
            EventStreamResponse(_events(body, reply, request.url.path)), response
        )
    message = {"role": "assistant", "content": await reply.text(), "refusal": None}
    return {
        **_completion(body.model, "chat.completion"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": _reason(reply), "logprobs": None}
        ],
        "usage": usage(reply.usage.prompt_tokens, reply.usage.answer_tokens),
        **reply.sources,
        **_warnings(body),
    }


def _events(body: ChatCompletionRequest, reply: Reply, path: str) -> Lines:
    """Yield the chunks of an answer; the references are in the last one that has a choice."""
    about = _completion(body.model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return _event(
            {**about, "choices": [choice], **({"usage": None} if body.with_usage else {}), **fields}
        )

    async def events() -> Lines:
        async with aclosing(reply.pieces):
            yield chunk({"role": "assistant", "content": ""})
            async for piece in reply.pieces:
                yield chunk({"content": piece})
        yield chunk({}, _reason(reply), **reply.sources, **_warnings(body))
        if body.with_usage:
            tokens = usage(reply.usage.prompt_tokens, reply.usage.answer_tokens)
            yield _event({**about, "choices": [], "usage": tokens})
        yield "data: [DONE]\n\n"

    def failed(status: int, detail: str) -> str:
        return _event({"error": openai_error(status, detail)})

    return with_error_line(events(), path, failed)


def _warnings(body: ChatCompletionRequest) -> dict[str, list[str]]:
    """Return the field of the answer that says what was left out, if anything was."""
    return {"warnings": body.warnings} if body.warnings else {}


def _reason(reply: Reply) -> str:
    """Return why the answer ended, once it is read."""
    return "length" if reply.usage.is_truncated else "stop"


def _event(fields: dict[str, Any]) -> str:
    return f"data: {json.dumps(fields)}\n\n"


def _completion(model: str, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _find_model(id: str) -> Model:
    """Return the model of this name. Raises NotFound."""
    model = parse_model(id)
    if model is None:
        raise NotFound(
            f"The model `{encodable(id)}` does not exist; GET /v1/models lists those that do"
        )
    return model


def _set_workspace(model: Model, request: Request) -> str:
    """Set the workspace of the request, which its model may name, and return it.

    Raises AuthError when the credentials do not cover it, and HTTPException for an invalid name.
    """
    request.state.workspace = authorized_workspace(request.scope, model.workspace)
    return checked_workspace(request)
