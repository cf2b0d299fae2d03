"""Ollama: lines of JSON, a window of so many tokens, errors as a text."""

import json
from typing import Any

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.support import model_servers as shared

MODEL = "qwen3:4b"
NARROW = "NARROW"
"""A prompt that fills the whole window, so that its beginning was cut off."""
COUNTS = {
    "total_duration": 5,
    "load_duration": 1,
    "prompt_eval_count": shared.PROMPT,
    "prompt_eval_duration": 1,
    "eval_count": shared.COMPLETION,
    "eval_duration": 1,
}


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request."""
    body = request.body
    if body["model"] != MODEL:
        return JSONResponse({"error": f"model '{body['model']}' not found"}, 404)
    if request.path == "/api/embed":
        return embeddings(body)
    if request.path != "/api/chat":
        return Response("404 page not found", 404)
    if body.get("tools"):
        return with_tool(body)
    text = body["messages"][-1]["content"]
    if shared.BUSY in text:
        return JSONResponse({"error": "too many requests"}, 429, {"Retry-After": "7"})
    if shared.OVERLOADED in text:
        return JSONResponse({"error": "server busy, please try again"}, 503)
    if body.get("stream"):
        return StreamingResponse(iter(lines(text, body)), media_type="application/x-ndjson")
    message = {"role": "assistant", "content": shared.ANSWER, "thinking": shared.REASONING}
    return JSONResponse({**head(), "message": message, **end(text, body)})


TOOLLESS = "TOOLLESS"
"""A prompt of a model that knows no tools."""


def with_tool(body: dict[str, Any]) -> Response:
    """Call the tool, and answer its result."""
    turns = body["messages"]
    if any(TOOLLESS in turn.get("content", "") for turn in turns):
        return JSONResponse({"error": f"{MODEL} does not support tools"}, 400)
    call = {"function": {"name": shared.TOOL, "arguments": shared.ARGUMENTS}}
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [call]}
    if turns[-1]["role"] == "tool":
        if turns[-2].get("tool_calls") != [call] or turns[-1].get("tool_name") != shared.TOOL:
            return JSONResponse({"error": "a result of another tool"}, 400)
        message = {"role": "assistant", "content": shared.ANSWER}
    return JSONResponse({**head(), "message": message, **end("", body)})


def head() -> dict[str, Any]:
    return {"model": MODEL, "created_at": "2026-11-26T12:00:00.0Z"}


def end(text: str, body: dict[str, Any]) -> dict[str, Any]:
    counts = dict(COUNTS)
    if NARROW in text:
        counts["prompt_eval_count"] = body["options"]["num_ctx"]
    return {"done": True, "done_reason": "length" if shared.CUT in text else "stop", **counts}


def lines(text: str, body: dict[str, Any]) -> list[str]:
    parts = [{"content": "", "thinking": part} for part in shared.words(shared.REASONING)]
    parts += [{"content": part} for part in shared.words(shared.ANSWER)]
    objects: list[dict[str, Any]] = [
        {**head(), "message": {"role": "assistant", **part}, "done": False} for part in parts
    ]
    objects.append({**head(), "message": {"role": "assistant", "content": ""}, **end(text, body)})
    if shared.BROKEN in text:
        objects[-2:] = [{"error": "an error was encountered while running the model"}]
    return [json.dumps(item) + "\n" for item in objects]


def embeddings(body: dict[str, Any]) -> Response:
    rows = [shared.VECTORS[place % 2] for place in range(len(body["input"]))]
    counts = {"total_duration": 1, "load_duration": 1, "prompt_eval_count": shared.PROMPT}
    return JSONResponse({"model": MODEL, "embeddings": rows, **counts})
