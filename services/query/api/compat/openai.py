"""OpenAI's routes: chat completions, plain and streamed, and the models, which are modes and workspaces."""

import json
import time
from contextlib import aclosing
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path, Request, Response

from contracts.text import encodable
from services.query.api.auth.middleware import entered, usual
from services.query.api.auth.permissions import Caller
from services.query.api.compat.chat import Reply, last, placed, question, reply
from services.query.api.compat.conversation import Wish
from services.query.api.compat.openai_model_names import Model, model, offered
from services.query.api.compat.openai_models import COMPLETED, ChatCompletionRequest, OpenAiProblem, described, usage
from services.query.api.context import Ctx, tenant
from services.query.api.errors import documented, openai_error
from services.query.api.questions.streaming import Lines, Sse, guarded
from services.query.errors import NotThere

router = APIRouter(prefix="/v1", tags=["openai"], responses=documented(OpenAiProblem))


def shown(example: Any, **more: Any) -> dict[int | str, dict[str, Any]]:
    """How the description of the API shows the answers of a route."""
    return {200: {"content": {"application/json": {"example": example}, **more}}}


STREAMED = 'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Ada"}}]}\n\n'


@router.get("/models", responses=shown({"object": "list", "data": [described("lightstream:mix")]}))
async def models(request: Request) -> dict[str, Any]:
    """The models that these credentials may use."""
    caller: Caller = request.state.caller
    bound = caller.grant.workspaces
    found = offered(bound, caller.grant.workspace("", usual(request.scope)))
    return {"object": "list", "data": [described(one.id) for one in found]}


@router.get("/models/{id}", responses=shown(described("lightstream:mix")))
async def one_model(id: Annotated[str, Path(examples=["lightstream:mix"])], request: Request) -> dict[str, Any]:
    """One model."""
    _enter(_known(id), request)
    return described(id)


@router.post(
    "/chat/completions",
    response_model=None,
    responses=shown(COMPLETED, **{"text/event-stream": {"example": f"{STREAMED}data: [DONE]\n\n"}}),
)
async def complete(body: ChatCompletionRequest, ctx: Ctx, request: Request, response: Response) -> Any:
    """Answer the last message from the documents, in the mode and the workspace that the model names."""
    chosen = _known(body.model)
    where = _enter(chosen, request)
    turns = body.turns
    asking = question(Wish(last(turns), chosen.mode), turns[:-1])
    said = await reply(asking, ctx, where, response, streamed=bool(body.stream))
    if body.stream:
        return placed(Sse(_events(body, said, request.url.path)), response)
    message = {"role": "assistant", "content": await said.whole(), "refusal": None}
    return {
        **_about(body.model, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage(said.meter.prompt_tokens, said.meter.answer_tokens),
        "references": said.references,
    }


def _events(body: ChatCompletionRequest, said: Reply, path: str) -> Lines:
    """The chunks of an answer, its references in the last one that has a choice."""
    about = _about(body.model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return _event({**about, "choices": [choice], **({"usage": None} if body.with_usage else {}), **more})

    async def events() -> Lines:
        async with aclosing(said.pieces):
            yield chunk({"role": "assistant", "content": ""})
            async for piece in said.pieces:
                yield chunk({"content": piece})
        yield chunk({}, "stop", references=said.references)
        if body.with_usage:
            tokens = usage(said.meter.prompt_tokens, said.meter.answer_tokens)
            yield _event({**about, "choices": [], "usage": tokens})
        yield "data: [DONE]\n\n"

    def failed(status: int, detail: str) -> str:
        return _event({"error": openai_error(status, detail)})

    return guarded(events(), path, failed)


def _event(fields: dict[str, Any]) -> str:
    return f"data: {json.dumps(fields)}\n\n"


def _about(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _known(id: str) -> Model:
    """Raises NotThere."""
    found = model(id)
    if found is None:
        raise NotThere(f"The model `{encodable(id)}` does not exist; GET /v1/models lists those that do")
    return found


def _enter(chosen: Model, request: Request) -> str:
    """The workspace of the request, which its model may name. Raises Refused, and HTTPException for an odd name."""
    request.state.workspace = entered(request.scope, chosen.workspace)
    return tenant(request)
