"""Amazon Bedrock: Converse, its binary stream of events, and vectors of Titan, one text a call."""

import json
import struct
import zlib
from typing import Any
from urllib.parse import unquote

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.support import model_servers as shared

MODEL = "amazon.nova-pro-v1:0"
ACCOUNT = "AKIDEXAMPLE"
USAGE = {
    "inputTokens": 10,
    "cacheReadInputTokens": 16,
    "cacheWriteInputTokens": 4,
    "outputTokens": shared.COMPLETION,
    "totalTokens": shared.PROMPT + shared.COMPLETION,
}


def error(status: int, kind: str, message: str) -> Response:
    return JSONResponse({"message": message}, status, {"x-amzn-ErrorType": kind})


def is_known(authorization: str) -> bool:
    """Whether a request shows the key, or a signature of the account for this service."""
    signed = f"AWS4-HMAC-SHA256 Credential={ACCOUNT}/"
    is_signed = authorization.startswith(signed) and "/us-east-1/bedrock/" in authorization
    return authorization == f"Bearer {shared.KEY}" or is_signed


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request."""
    if not is_known(request.headers.get("authorization", "")):
        return error(403, "UnrecognizedClientException", "The security token is invalid.")
    _, _, model, method = request.path.split("/")
    if unquote(model) != MODEL:
        return error(404, "ResourceNotFoundException", "Could not resolve the foundation model.")
    if method == "invoke":
        vector = shared.VECTORS[int(request.body["inputText"] == "Ben")]
        return JSONResponse({"embedding": vector, "inputTextTokenCount": shared.PROMPT})
    if request.body.get("toolConfig"):
        return with_tool(request.body["messages"])
    text = shared.text_of(request.body["messages"][-1]["content"])
    if shared.BUSY in text:
        return error(429, "ThrottlingException", "Too many requests, please wait.")
    if shared.OVERLOADED in text:
        return error(503, "ServiceUnavailableException", "Bedrock is unable to process it.")
    if method == "converse-stream":
        media_type = "application/vnd.amazon.eventstream"
        return StreamingResponse(iter(events(text)), media_type=media_type)
    content = [
        {"reasoningContent": {"reasoningText": {"text": shared.REASONING, "signature": "s"}}},
        {"text": shared.ANSWER},
    ]
    message = {"role": "assistant", "content": content}
    body = {"output": {"message": message}, "stopReason": reason(text), "usage": USAGE}
    return JSONResponse({**body, "metrics": {"latencyMs": 1}})


CALL = {"toolUse": {"toolUseId": "tooluse_1", "name": shared.TOOL, "input": shared.ARGUMENTS}}


def with_tool(turns: list[dict[str, Any]]) -> Response:
    """Call the tool, and answer its result."""
    content: list[Any] = [CALL]
    if "toolResult" in turns[-1]["content"][0]:
        id = turns[-1]["content"][0]["toolResult"]["toolUseId"]
        if turns[-2]["content"] != [CALL] or id != CALL["toolUse"]["toolUseId"]:
            return error(400, "ValidationException", "toolResult blocks exceed toolUse blocks")
        content = [{"text": shared.ANSWER}]
    reason = "tool_use" if content == [CALL] else "end_turn"
    body = {"output": {"message": {"role": "assistant", "content": content}}, "usage": USAGE}
    return JSONResponse({**body, "stopReason": reason, "metrics": {"latencyMs": 1}})


def reason(text: str) -> str:
    if shared.REFUSED in text:
        return "guardrail_intervened"
    return "max_tokens" if shared.CUT in text else "end_turn"


def events(text: str) -> list[bytes]:
    result = [event("messageStart", {"role": "assistant"})]
    for word in shared.words(shared.REASONING):
        delta = {"reasoningContent": {"text": word}}
        result.append(event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}))
    result.append(event("contentBlockStop", {"contentBlockIndex": 0}))
    for word in shared.words(shared.ANSWER):
        delta = {"text": word}
        result.append(event("contentBlockDelta", {"contentBlockIndex": 1, "delta": delta}))
    if shared.BROKEN in text:
        headers = {":message-type": "exception", ":exception-type": "throttlingException"}
        return [*result, message(headers, {"message": "Too many tokens"})]
    result.append(event("contentBlockStop", {"contentBlockIndex": 1}))
    result.append(event("messageStop", {"stopReason": reason(text)}))
    result.append(event("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}}))
    # Networks cut a stream anywhere.
    whole = b"".join(result)
    return [whole[place : place + 50] for place in range(0, len(whole), 50)]


def event(kind: str, payload: dict[str, Any]) -> bytes:
    return message({":message-type": "event", ":event-type": kind}, payload)


def message(headers: dict[str, str], payload: dict[str, Any]) -> bytes:
    """A message of AWS's event stream with its checksums."""
    headers = {**headers, ":content-type": "application/json"}
    head = b"".join(
        bytes([len(name)])
        + name.encode()
        + b"\x07"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(body), len(head))
    data = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + body
    return data + struct.pack(">I", zlib.crc32(data))
