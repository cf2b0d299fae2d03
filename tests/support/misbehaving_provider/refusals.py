"""Answers that are no answer: marker words by what the provider sends instead."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Refusal:
    """An HTTP answer: `body` is sent as JSON, or as it stands where it is a text."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _error(status: int, message: str, **fields: Any) -> Refusal:
    return Refusal(status, {"error": {"message": message, **fields}})


_WINDOW = "This model's maximum context length is 8192 tokens."
FLAGGED = "Your chosen model requires moderation and your input was flagged for violence."

MODERATION: Mapping[str, Refusal] = {
    # OpenRouter
    "ZZMODERATION": _error(
        403, FLAGGED, code=403, metadata={"reasons": ["violence"], "flagged_input": "…"}
    ),
    # Azure OpenAI
    "ZZMODAZURE": _error(
        400,
        "The response was filtered due to the prompt triggering the content management policy.",
        type=None,
        param="prompt",
        code="content_filter",
        innererror={"code": "ResponsibleAIPolicyViolation"},
    ),
    # DashScope
    "ZZMODDASHSCOPE": _error(
        400, "Input data may contain inappropriate content.", code="data_inspection_failed"
    ),
    # DeepSeek
    "ZZMODRISK": _error(
        400, "Content Exists Risk", type="invalid_request_error", code="invalid_request_error"
    ),
    # gateways of one's own
    "ZZMODDETAIL": Refusal(
        403, {"detail": "Request blocked: prompt violates the acceptable use policy"}
    ),
    "ZZMODSTRING": Refusal(403, {"error": "prompt blocked by guardrail"}),
    "ZZMODTEXT": Refusal(403, "Request blocked by content policy"),
    "ZZMODHTML": Refusal(403, "<html><body><h1>403 Forbidden</h1>Attention required</body></html>"),
    "ZZMODLEGAL": _error(451, "This prompt cannot be answered for legal reasons."),
    # Gemini's compatible endpoint wraps its errors in a list
    "ZZMODARRAY": Refusal(
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "Prompt was blocked: PROHIBITED_CONTENT",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
}
"""This text is refused for what it says."""

ODD_SUCCESSES: Mapping[str, Refusal] = {
    "ZZERROR200": Refusal(
        200, {"error": {"message": "The upstream model refused this input", "code": 400}}
    ),
    "ZZERROR200TEXT": Refusal(200, {"error": "The upstream model refused this input"}),
    "ZZERROR200DETAIL": Refusal(
        200, {"detail": [{"loc": ["body"], "msg": "the input is no chat"}]}
    ),
    "ZZNOCHOICES": Refusal(200, {"id": "1", "object": "chat.completion", "choices": []}),
    "ZZNULLCHOICES": Refusal(200, {"id": "1", "object": "chat.completion", "choices": None}),
    "ZZMISSINGCHOICES": Refusal(200, {"id": "1", "object": "chat.completion"}),
    "ZZNULLMESSAGE": Refusal(
        200, {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}
    ),
    "ZZHTML200": Refusal(200, "<html><body>Please sign in</body></html>"),
    "ZZHALFJSON": Refusal(200, '{"choices": [{"index": 0, "message": {"content": "The har'),
}
"""Status 200 without an answer."""

BREAKDOWNS: Mapping[str, Refusal] = {
    "ZZSERVER500": _error(
        500, "EngineCore encountered an issue with this very prompt", type="InternalServerError"
    ),
    "ZZSERVER500TEXT": Refusal(500, "Internal Server Error"),
    "ZZSERVER500NESTED": Refusal(
        500, {"error": {"error": {"message": "assertion failed on this prompt"}}}
    ),
    "ZZSERVER502": Refusal(502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    "ZZSERVER503": Refusal(503, {"detail": "worker crashed while it read this prompt"}),
    "ZZSERVER529": _error(529, "Overloaded by this prompt", type="overloaded_error"),
    "ZZUNPROCESSABLE": Refusal(
        422,
        {
            "detail": [
                {
                    "type": "string_type",
                    "loc": ["body", "messages"],
                    "msg": "not of the chat template",
                }
            ]
        },
    ),
    # Mistral: the message is an object
    "ZZMESSAGEOBJECT": Refusal(
        422,
        {
            "object": "error",
            "message": {
                "detail": [{"loc": ["body", "messages"], "msg": "Expected last role User"}]
            },
        },
    ),
}
"""This very text breaks the server; others are answered."""

TOO_LONG: Mapping[str, Refusal] = {
    # vLLM
    "ZZCONTEXTVLLM": Refusal(
        400,
        {
            "object": "error",
            "message": f"{_WINDOW} However, you requested 9021 tokens.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    # OpenAI, Groq
    "ZZCONTEXTOPENAI": _error(
        400, _WINDOW, type="invalid_request_error", code="context_length_exceeded"
    ),
    # llama.cpp
    "ZZCONTEXTLLAMACPP": _error(
        400,
        "the request exceeds the available context size, try increasing it",
        type="exceed_context_size_error",
        code=400,
        n_prompt_tokens=9021,
        n_ctx=4096,
    ),
    # LM Studio
    "ZZCONTEXTLMSTUDIO": Refusal(
        400,
        {
            "error": (
                "The number of tokens to keep from the initial prompt is greater than the context "
                "length"
            )
        },
    ),
    # Mistral
    "ZZCONTEXTMISTRAL": Refusal(
        400,
        {
            "object": "error",
            "message": (
                "Prompt contains 40021 tokens, too large for model with 32768 maximum context "
                "length"
            ),
            "type": "invalid_request_prompt",
            "code": "3051",
        },
    ),
    # DashScope
    "ZZCONTEXTDASHSCOPE": _error(
        400,
        "Range of input length should be [1, 30720]",
        type="invalid_request_error",
        code="invalid_parameter_error",
    ),
    "ZZCONTEXT413": Refusal(413, "Payload Too Large"),
    # Groq: more in one request than a minute allows
    "ZZTPM413": _error(
        413,
        "Request too large for model `rows-1` on tokens per minute (TPM): Limit 6000, "
        "Requested 6042, please reduce your message size and try again.",
        type="tokens",
        code="rate_limit_exceeded",
    ),
}
"""This text is longer than the model or the account takes."""

REFUSALS: Mapping[str, Refusal] = {**MODERATION, **ODD_SUCCESSES, **BREAKDOWNS, **TOO_LONG}


def sentence(marker: str) -> str:
    """Return the provider's own sentence: the longest text of what it answers, empty for a page of
    HTML.
    """
    body = REFUSALS[marker].body if marker in REFUSALS else ""
    if isinstance(body, str) and body.startswith(("<", "{")):
        return ""
    return max((text for text in _strings(body) if " " in text), key=len, default="")


def _strings(value: Any) -> list[str]:
    """Return all texts in a JSON value."""
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for inner in values for text in _strings(inner)]
