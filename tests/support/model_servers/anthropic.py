"""Anthropic's messages: a limit of the answer always, no turn of the system among the others."""

import json
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.support import model_servers as shared

MODEL = "claude-sonnet-5"
INPUT = {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 16}


def error(status: int, kind: str, message: str, **headers: str) -> Response:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return JSONResponse(body, status, headers)


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request."""
    body = request.body
    # The documentation names the first one; the official client sends the second one.
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    if request.headers.get("x-api-key", bearer) != shared.KEY:
        return error(401, "authentication_error", "invalid x-api-key")
    if request.path != "/v1/messages" or "anthropic-version" not in request.headers:
        return error(404, "not_found_error", "Not Found")
    if body["model"] != MODEL:
        return error(404, "not_found_error", f"model: {body['model']}")
    if not body.get("max_tokens") or any(turn["role"] == "system" for turn in body["messages"]):
        return error(400, "invalid_request_error", "max_tokens: Field required")
    if body.get("tools"):
        return with_tool(body["messages"])
    text = shared.text_of(body["messages"][-1]["content"])
    if shared.BUSY in text:
        message = "This request would exceed your rate limit"
        return error(429, "rate_limit_error", message, **{"retry-after": "7"})
    if shared.OVERLOADED in text:
        return error(529, "overloaded_error", "Overloaded", **{"retry-after": "7"})
    if body.get("stream"):
        return StreamingResponse(iter(events(text)), media_type="text/event-stream")
    content = [
        {"type": "thinking", "thinking": shared.REASONING, "signature": "s"},
        {"type": "text", "text": shared.ANSWER},
    ]
    usage = {**INPUT, "output_tokens": shared.COMPLETION}
    return JSONResponse(message_of(content, reason(text), usage))


THOUGHT = {"type": "thinking", "thinking": shared.REASONING, "signature": "s"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": shared.TOOL, "input": shared.ARGUMENTS}


def with_tool(turns: list[dict[str, Any]]) -> Response:
    """Call the tool, and answer its result. The thought before the call must come back with it."""
    usage = {**INPUT, "output_tokens": shared.COMPLETION}
    newest_content = turns[-1]["content"]
    if isinstance(newest_content, str):
        return JSONResponse(message_of([THOUGHT, CALL], "tool_use", usage))
    results = [block for block in newest_content if block.get("tool_use_id") == CALL["id"]]
    if turns[-2]["content"] != [THOUGHT, CALL] or len(results) != 1:
        return error(400, "invalid_request_error", "tool_use ids without tool_result blocks")
    return JSONResponse(message_of([{"type": "text", "text": shared.ANSWER}], "end_turn", usage))


def reason(text: str) -> str:
    if shared.REFUSED in text:
        return "refusal"
    return "max_tokens" if shared.CUT in text else "end_turn"


def message_of(
    content: list[Any], stop_reason: str | None, usage: dict[str, int]
) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def events(text: str) -> list[str]:
    start = message_of([], None, {**INPUT, "output_tokens": 1})
    result: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    result += block(0, thinking, "thinking_delta", "thinking", shared.REASONING)
    result += block(1, {"type": "text", "text": ""}, "text_delta", "text", shared.ANSWER)
    if shared.BROKEN in text:
        overload = {"type": "overloaded_error", "message": "Overloaded"}
        result[-2:] = [{"type": "error", "error": overload}]
    else:
        delta = {"stop_reason": reason(text), "stop_sequence": None}
        usage = {"output_tokens": shared.COMPLETION}
        result.append({"type": "message_delta", "delta": delta, "usage": usage})
        result.append({"type": "message_stop"})
    return [f"event: {item['type']}\ndata: {json.dumps(item)}\n\n" for item in result]


def block(
    index: int, empty: dict[str, str], kind: str, name: str, text: str
) -> list[dict[str, Any]]:
    deltas = [
        {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: word}}
        for word in shared.words(text)
    ]
    start = {"type": "content_block_start", "index": index, "content_block": empty}
    return [start, *deltas, {"type": "content_block_stop", "index": index}]
