"""Chat completions: what is refused, what is answered, and in which shape.

Modes of `POST /mode {"chat": …}`, for all requests: `no-json-object` and `no-response-format`
refuse that parameter, `no-stream-options` that one; `narrow` reads the first 64 tokens of a prompt
only, as Ollama does, and says so nowhere but in `usage`; `down` answers 503 and `forbidden` 403
with nothing but a code, whatever is asked.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.misbehaving_provider.good_answers import good_answer
from tests.support.misbehaving_provider.messages import Message, misbehaved
from tests.support.misbehaving_provider.prompts import Prompt, prompt_of, text_of
from tests.support.misbehaving_provider.refusals import REFUSALS, Refusal
from tests.support.misbehaving_provider.streams import pieces
from tests.support.misbehaving_provider.token_usage import usage_of

MODEL = "rows-1"
NARROW = 64
DELAYS: Mapping[str, float] = {"ZZSLOW": 2.0, "ZZHANGING": 30.0}
"""Seconds that an answer takes, by marker."""


@dataclass(frozen=True)
class Answer:
    """What is sent: one refusal or JSON body, or the pieces of a stream."""

    whole: Refusal | None = None
    stream: Iterator[bytes] | None = None


def answered(request: Mapping[str, Any], mode: str) -> Answer:
    """Return the answer to a request in a mode."""
    refusal_of_parameter = _refused_parameter(request, mode)
    if refusal_of_parameter is not None:
        return Answer(refusal_of_parameter)
    prompt = prompt_of(request["messages"])
    is_streamed = bool(request.get("stream"))
    for marker in sorted(prompt.markers & REFUSALS.keys()):
        refusal = REFUSALS[marker]
        if is_streamed and refusal.status == 200 and isinstance(refusal.body, dict):
            return Answer(stream=iter([b"data: " + json.dumps(refusal.body).encode()]))
        return Answer(refusal)
    message = misbehaved(prompt, Message(good_answer(prompt)))
    tokens = _tokens(request)
    usage = usage_of(prompt, min(NARROW, tokens) if mode == "narrow" else tokens)
    if is_streamed:
        return Answer(stream=pieces(prompt, message, usage))
    return Answer(Refusal(200, _completion(message, usage)))


def delay_of(prompt: Prompt) -> float:
    """Return the seconds that the answer to a prompt takes."""
    return max((DELAYS[marker] for marker in prompt.markers & DELAYS.keys()), default=0.0)


def _refused_parameter(request: Mapping[str, Any], mode: str) -> Refusal | None:
    form = request.get("response_format") or {}
    match mode:
        case "no-json-object" if form.get("type") == "json_object":
            # LM Studio
            return Refusal(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
        case "no-response-format" if form:
            extra = {
                "type": "extra_forbidden",
                "loc": ["body", "response_format"],
                "msg": "Extra inputs",
            }
            return Refusal(422, {"detail": [extra]})
        case "no-stream-options" if "stream_options" in request:
            return Refusal(400, {"error": {"message": "Unrecognized request argument supplied"}})
        case "down":
            return Refusal(503, {"error": {"message": "down for maintenance"}})
        case "forbidden":
            return Refusal(403, {"error": {"message": "Forbidden", "code": 403}})
    return None


def _completion(message: Message, usage: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": message.finish_reason,
        "message": {"role": "assistant", "content": message.content, **message.fields},
        **message.choice_fields,
    }
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
        "usage": usage,
    }


def _tokens(request: Mapping[str, Any]) -> int:
    """Return the tokens of a request's messages, four characters each."""
    return sum(len(text_of(message.get("content"))) for message in request["messages"]) // 4
