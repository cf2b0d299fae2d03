"""Azure OpenAI at the classic address of a deployment."""

import json
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.support import model_servers as shared

DEPLOYMENT = "my-deployment"
CHAT = f"/openai/deployments/{DEPLOYMENT}/chat/completions"
EMBEDDINGS = f"/openai/deployments/{DEPLOYMENT}/embeddings"
USAGE = {
    "prompt_tokens": shared.PROMPT,
    "completion_tokens": shared.COMPLETION,
    "total_tokens": shared.PROMPT + shared.COMPLETION,
    "prompt_tokens_details": {"cached_tokens": shared.CACHED},
}


def error(status: int, code: str, message: str, **headers: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request that has the key."""
    if request.headers.get("api-key") != shared.KEY:
        return error(401, "401", "Access denied due to invalid subscription key")
    return await answer_anyone(request)


async def answer_anyone(request: shared.SeenRequest) -> Response:
    """Answer a request of whoever was let in."""
    if not parse_qs(request.query).get("api-version"):
        return error(404, "404", "Resource not found")
    if request.path == EMBEDDINGS:
        return embeddings(request.body)
    if request.path != CHAT:
        return error(404, "DeploymentNotFound", "The API deployment does not exist")
    if request.body.get("tools"):
        return with_tool(request.body["messages"])
    text = shared.text_of(request.body["messages"][-1]["content"])
    if shared.BUSY in text:
        return error(429, "429", "Requests exceed the rate limit", **{"Retry-After": "7"})
    if shared.OVERLOADED in text:
        return error(503, "503", "The service is overloaded")
    if shared.REFUSED in text:
        return error(400, "content_filter", "The response was filtered")
    if request.body.get("stream"):
        return StreamingResponse(iter(pieces(text)), media_type="text/event-stream")
    reason = "length" if shared.CUT in text else "stop"
    message = {"role": "assistant", "content": shared.ANSWER}
    choices = [{"index": 0, "message": message, "finish_reason": reason}]
    return JSONResponse({**head("chat.completion"), "choices": choices, "usage": USAGE})


CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": shared.TOOL, "arguments": json.dumps(shared.ARGUMENTS)},
}


def with_tool(turns: list[dict[str, Any]]) -> Response:
    """Call the tool, and answer its result."""
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    reason = "tool_calls"
    if turns[-1]["role"] == "tool":
        if turns[-2].get("tool_calls") != [CALL] or turns[-1]["tool_call_id"] != CALL["id"]:
            return error(400, "400", "messages with role 'tool' must be a response to tool_calls")
        message = {"role": "assistant", "content": shared.ANSWER}
        reason = "stop"
    choices = [{"index": 0, "message": message, "finish_reason": reason}]
    return JSONResponse({**head("chat.completion"), "choices": choices, "usage": USAGE})


def head(kind: str) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "gpt-4o-mini"}


def pieces(text: str) -> list[str]:
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": word}, None) for word in shared.words(shared.ANSWER)]
    deltas.append(({}, "length" if shared.CUT in text else "stop"))
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    events = [{"choices": [], "prompt_filter_results": []}, *events]
    if shared.BROKEN in text:
        events[3:] = [{"error": {"code": "500", "message": "the stream broke"}}]
    events.append({"choices": [], "usage": USAGE})
    whole = [json.dumps({**head("chat.completion.chunk"), **event}) for event in events]
    return [f"data: {line}\n\n" for line in (*whole, "[DONE]")]


def embeddings(body: dict[str, Any]) -> Response:
    if body.get("encoding_format") == "base64":
        return error(400, "BadRequest", "encoding_format is not known")
    rows = [
        {"object": "embedding", "index": place, "embedding": shared.VECTORS[place % 2]}
        for place in range(len(body["input"]))
    ]
    usage = {"prompt_tokens": shared.PROMPT, "total_tokens": shared.PROMPT}
    return JSONResponse({"object": "list", "model": "m", "data": rows, "usage": usage})
