"""Gemini's own API: a method of a model, errors with the delay among their details."""

import json
import re
from typing import Any
from urllib.parse import unquote

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.support import model_servers as shared

MODEL = "gemini-2.5-flash"
METHOD = re.compile(r"/v1(?:beta)?/models/(?P<model>[^/:]+):(?P<method>\w+)")
USAGE = {
    "promptTokenCount": shared.PROMPT,
    "cachedContentTokenCount": shared.CACHED,
    "candidatesTokenCount": 2,
    "thoughtsTokenCount": shared.COMPLETION - 2,
    "totalTokenCount": shared.PROMPT + shared.COMPLETION,
}
DELAY: list[dict[str, Any]] = [
    {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"},
]


def error(status: int, name: str, message: str, details: list[Any] | None = None) -> Response:
    body: dict[str, Any] = {"error": {"code": status, "message": message, "status": name}}
    if details:
        body["error"]["details"] = details
    return JSONResponse(body, status)


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request that has the key."""
    if request.headers.get("x-goog-api-key") != shared.KEY:
        return error(400, "INVALID_ARGUMENT", "API key not valid", [{"reason": "API_KEY_INVALID"}])
    return await answer_anyone(request)


async def answer_anyone(request: shared.SeenRequest) -> Response:
    """Answer a request of whoever was let in."""
    method_match = METHOD.fullmatch(unquote(request.path))
    if not method_match or method_match["model"] != MODEL:
        return error(404, "NOT_FOUND", "the model is not found for API version v1beta")
    if method_match["method"] == "batchEmbedContents":
        rows = [
            {"values": shared.VECTORS[place % 2]} for place in range(len(request.body["requests"]))
        ]
        return JSONResponse({"embeddings": rows})
    if request.body.get("tools"):
        return with_tool(request.body["contents"])
    text = shared.text_of(request.body["contents"][-1]["parts"])
    if shared.BUSY in text:
        return error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", DELAY)
    if shared.OVERLOADED in text:
        return error(503, "UNAVAILABLE", "The model is overloaded")
    if method_match["method"] == "streamGenerateContent" and request.query == "alt=sse":
        return StreamingResponse(iter(events(text)), media_type="text/event-stream")
    if shared.REFUSED in text:
        return JSONResponse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    parts = [{"text": shared.REASONING, "thought": True}, {"text": shared.ANSWER}]
    return JSONResponse(candidate(parts, reason(text), USAGE))


CALL = {
    "functionCall": {"name": shared.TOOL, "args": shared.ARGUMENTS},
    "thoughtSignature": "c2lnbmVk",
}


def with_tool(turns: list[dict[str, Any]]) -> Response:
    """Call the tool, and answer its result. The call must come back with its signature."""
    (part, *_) = turns[-1]["parts"]
    if "functionResponse" not in part:
        return JSONResponse(candidate([CALL], "STOP", USAGE))
    if turns[-2] != {"role": "model", "parts": [CALL]}:
        return error(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature")
    if part["functionResponse"]["name"] != shared.TOOL:
        return error(400, "INVALID_ARGUMENT", "function response parts do not match the calls")
    return JSONResponse(candidate([{"text": shared.ANSWER}], "STOP", USAGE))


def reason(text: str) -> str:
    if shared.REFUSED in text:
        return "SAFETY"
    return "MAX_TOKENS" if shared.CUT in text else "STOP"


def candidate(parts: list[Any], finish: str | None, usage: dict[str, int]) -> dict[str, Any]:
    first: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        first["finishReason"] = finish
    return {"candidates": [first], "usageMetadata": usage, "modelVersion": MODEL}


def events(text: str) -> list[str]:
    counted = {"promptTokenCount": shared.PROMPT, "totalTokenCount": shared.PROMPT}
    parts: list[dict[str, Any]] = [
        {"text": word, "thought": True} for word in shared.words(shared.REASONING)
    ]
    parts += [{"text": word} for word in shared.words(shared.ANSWER)]
    bodies = [candidate([part], None, counted) for part in parts]
    bodies.append(candidate([{"text": ""}], reason(text), USAGE))
    if shared.BROKEN in text:
        bodies[-2:] = [{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}]
    return [f"data: {json.dumps(body)}\r\n\r\n" for body in bodies]
