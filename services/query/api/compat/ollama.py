"""Ollama's routes, as LightRAG has them: one model, whose conversations are questions to the documents."""

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
from services.query.api.compat.chat import Reply, last, placed, question, reply
from services.query.api.compat.conversation import Wish, wish
from services.query.api.compat.ollama_models import (
    CHATTED,
    GENERATED,
    PROTOCOL,
    ChatRequest,
    GenerateRequest,
    OllamaProblem,
    running,
    tags,
)
from services.query.api.context import Context, Ctx, Workspace
from services.query.api.errors import documented
from services.query.api.questions.streaming import Lines, Ndjson, guarded
from services.query.errors import NotThere

Handle = Callable[[Request], Coroutine[Any, Any, Response]]
Part = Callable[[str], dict[str, Any]]
"""A piece of an answer, in the field of its route."""


class AnyType(APIRoute):
    """A route whose body is JSON whatever its client calls it: some send application/octet-stream."""

    def get_route_handler(self) -> Handle:
        """See `APIRoute`."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            MutableHeaders(scope=request.scope)["Content-Type"] = "application/json"
            return await handle(Request(request.scope, request.receive))

        return handler


router = APIRouter(prefix="/api", tags=["ollama"], route_class=AnyType, responses=documented(OllamaProblem))


def shown(example: dict[str, Any], streamed: bool = False) -> dict[int | str, dict[str, Any]]:
    """How the description of the API shows the answers of a route."""
    more = {"application/x-ndjson": {"example": json.dumps(example) + "\n"}} if streamed else {}
    return {200: {"content": {"application/json": {"example": example}, **more}}}


@router.get("/version", responses=shown({"version": PROTOCOL}))
async def version() -> dict[str, str]:
    """The version of the protocol."""
    return {"version": PROTOCOL}


@router.get("/tags", responses=shown(tags("lightrag", "latest")))
async def models(ctx: Ctx) -> dict[str, Any]:
    """The models that there are: one."""
    return tags(*_names(ctx))


@router.get("/ps", responses=shown(running("lightrag", "latest")))
async def loaded(ctx: Ctx) -> dict[str, Any]:
    """The models that are loaded: the same one."""
    return running(*_names(ctx))


@router.post("/chat", response_model=None, responses=shown(CHATTED, streamed=True))
async def chat(body: ChatRequest, ctx: Ctx, workspace: Workspace, request: Request, response: Response) -> Any:
    """Answer the last message from the documents. It may begin with a mode: `/local`, `/bypass`, `/context`."""
    _known(body.model, ctx)
    turns = body.turns
    asking = question(wish(last(turns)), turns[:-1], body.system or "")
    said = await reply(asking, ctx, workspace, response, streamed=body.stream is not False)
    if body.stream is False:
        return _end(body.model, said, _message(await said.whole()))
    return placed(Ndjson(_lines(body.model, said, _message, request.url.path)), response)


@router.post("/generate", response_model=None, responses=shown(GENERATED, streamed=True))
async def generate(body: GenerateRequest, ctx: Ctx, workspace: Workspace, request: Request, response: Response) -> Any:
    """Give the prompt to the language model as it stands, without any retrieval."""
    _known(body.model, ctx)
    asking = question(Wish(body.prompt, "bypass"), (), body.system or "", bare=True)
    said = await reply(asking, ctx, workspace, response, streamed=bool(body.stream))
    if not body.stream:
        return _end(body.model, said, {**_response(await said.whole()), "context": []})
    return placed(Ndjson(_lines(body.model, said, _response, request.url.path)), response)


def _lines(model: str, said: Reply, part: Part, path: str) -> Lines:
    """A line for each piece, and one that says how it went. After an error too: clients wait for it."""

    async def lines() -> Lines:
        async with aclosing(said.pieces):
            async for piece in said.pieces:
                yield _line(model, done=False, **part(piece))
        yield json.dumps(_end(model, said, part(""))) + "\n"

    def failed(_: int, detail: str) -> str:
        told = _line(model, **part(f"\n\nError: {detail}"), error=detail, done=False)
        return told + json.dumps(_end(model, said, part(""))) + "\n"

    return guarded(lines(), path, failed)


def _line(model: str, **fields: Any) -> str:
    return json.dumps({"model": model, "created_at": _now(), **fields}) + "\n"


def _end(model: str, said: Reply, part: dict[str, Any]) -> dict[str, Any]:
    """The last line of an answer, or the only one. Durations in nanoseconds."""
    meter, now = said.meter, time.monotonic_ns()
    first = meter.first or now
    return {
        "model": model,
        "created_at": _now(),
        **part,
        "done": True,
        "done_reason": "stop",
        "total_duration": now - meter.began,
        "load_duration": 0,
        "prompt_eval_count": meter.prompt_tokens,
        "prompt_eval_duration": first - meter.began,
        "eval_count": meter.answer_tokens,
        "eval_duration": now - first,
        "references": said.references,
    }


def _message(piece: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": piece, "images": None}}


def _response(piece: str) -> dict[str, Any]:
    return {"response": piece}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _names(ctx: Context) -> tuple[str, str]:
    return ctx.settings.ollama_emulating_model_name, ctx.settings.ollama_emulating_model_tag


def _known(model: str, ctx: Context) -> None:
    """Raises NotThere for a model that is not the one there is."""
    name, tag = _names(ctx)
    if model not in (name, f"{name}:{tag}"):
        raise NotThere(f"model '{encodable(model)}' not found")
