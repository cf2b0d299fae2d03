"""Gemini's own API: `generateContent`, its stream, and `batchEmbedContents`."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.token_counts import count_of
from runtime.models.wires.addresses import join_url, strip_path
from runtime.models.wires.fields import (
    answer_limit,
    as_list,
    chunk,
    objects,
    renamed_fields,
    tokens,
    vectors,
    whole_answer,
    with_group,
)
from runtime.models.wires.frames import Content, server_sent_events
from runtime.models.wires.openai import PLAIN, OpenAiWire, Request
from runtime.models.wires.pictures import InlinePicture, parts_of
from runtime.models.wires.tool_turns import (
    NATIVE,
    TOOL_NAME,
    Turn,
    call_of,
    functions_of,
    translated_turns,
)

CONFIG = {
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}

MODELS = "models/"


class GeminiWire(OpenAiWire):
    """`POST https://generativelanguage.googleapis.com/v1beta/models/MODEL:generateContent`."""

    form = "Gemini's format"
    stream_forms = PLAIN
    base64_forms = ()
    number_forms = PLAIN
    max_texts = 100

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = strip_path(self.address, "/openai", "/v1beta")

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the key under Google's own name."""
        del url, data
        return {"x-goog-api-key": self.key} if self.key else {}

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        messages = body.pop("messages")
        config = renamed_fields(body, CONFIG)
        if (limit := answer_limit(body)) is not None:
            config["maxOutputTokens"] = limit
        if (stop := body.pop("stop", None)) is not None:
            config["stopSequences"] = as_list(stop)
        if effort := body.pop("reasoning_effort", None):
            config["thinkingConfig"] = {"thinkingLevel": effort}
        if body.pop("response_format", None):
            config["responseMimeType"] = "application/json"
        if tools := functions_of(body.pop("tools", None)):
            body["tools"] = [{"functionDeclarations": tools}]
        system = [_part(turn["content"]) for turn in messages if turn["role"] == "system"]
        if system:
            body["systemInstruction"] = {"parts": system}
        turns = [turn for turn in messages if turn["role"] != "system"]
        body["contents"] = translated_turns(turns, _turn, "parts")
        model = body.pop("model")
        is_stream = body.pop("stream", False)
        method = "streamGenerateContent" if is_stream else "generateContent"
        url = self._url(model, method, "alt=sse" if is_stream else "")
        return Request(url, with_group(body, "generationConfig", config))

    def completion(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if "candidates" not in body and "promptFeedback" not in body:
            return body
        content, reason = _content(body)
        parts = _parts(body)
        calls = [
            call_of(call.get("id"), call.get("name"), call.get("args") or {})
            for part in parts
            if (call := as_dict(part.get("functionCall")))
        ]
        message = {"content": content, "tool_calls": calls, NATIVE: parts}
        return whole_answer(message, reason, _tokens(body))

    async def chunks(self, content: Content) -> AsyncGenerator[dict[str, Any]]:
        """See `OpenAiWire`."""
        async with aclosing(server_sent_events(content)) as events:
            async for event in events:
                if event.get("error"):
                    yield event
                    continue
                parts, reason = _content(event)
                yield chunk({"content": parts}, reason, _tokens(event))

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`. Each text is a request of its own in one call."""
        body = dict(fields)
        model = str(body.pop("model"))
        texts = body.pop("input")
        body |= renamed_fields(body, {"dimensions": "outputDimensionality"})
        name = f"{MODELS}{model.removeprefix(MODELS)}"
        requests = [
            {"model": name, "content": {"parts": [{"text": text}]}, **body} for text in texts
        ]
        return Request(self._url(model, "batchEmbedContents"), {"requests": requests})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if not isinstance(body.get("embeddings"), list):
            return body
        token_count = as_dict(body.get("usageMetadata")).get("promptTokenCount")
        return vectors([row.get("values") for row in objects(body["embeddings"])], token_count)

    def _url(self, model: str, method: str, query: str = "") -> str:
        name = quote(model.removeprefix(MODELS), safe="")
        return join_url(self.address, f"v1beta/{MODELS}{name}:{method}", query)


def _part(text: str) -> dict[str, Any]:
    return {"text": text}


def _picture_part(picture: InlinePicture) -> dict[str, Any]:
    return {"inlineData": {"mime_type": picture.media_type, "data": picture.base64}}


def _turn(turn: Turn) -> dict[str, Any]:
    if turn["role"] == "assistant":
        return {"role": "model", "parts": turn.get(NATIVE) or [_part(turn["content"])]}
    if turn["role"] == "tool":
        return {"role": "user", "parts": [_result(turn)]}
    return {"role": "user", "parts": parts_of(turn, _part, _picture_part)}


def _result(turn: Turn) -> dict[str, Any]:
    """Return the result of a tool. Calls without an id are told apart by name and order."""
    id = {"id": turn["tool_call_id"]} if turn["tool_call_id"] else {}
    result = {"name": turn[TOOL_NAME], "response": {"result": turn["content"]}}
    return {"functionResponse": {**id, **result}}


def _parts(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of the first candidate."""
    candidates = objects(body.get("candidates"))
    content = as_dict(candidates[0].get("content")) if candidates else {}
    return objects(content.get("parts"))


def _content(body: Mapping[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """Return the parts of the first candidate, and why it ended. A prompt that is blocked has no
    candidate.
    """
    candidates = objects(body.get("candidates"))
    if not candidates:
        block_reason = as_dict(body.get("promptFeedback")).get("blockReason")
        return [], f"content_filter {block_reason}" if block_reason else None
    content = [
        {"type": "thought" if part.get("thought") else "text", "text": part.get("text") or ""}
        for part in _parts(body)
    ]
    return content, candidates[0].get("finishReason")


def _tokens(body: Mapping[str, Any]) -> dict[str, Any] | None:
    counts = as_dict(body.get("usageMetadata"))
    if not counts:
        return None
    written_tokens = count_of(counts.get("candidatesTokenCount"))
    thought_tokens = count_of(counts.get("thoughtsTokenCount"))
    cached_tokens = counts.get("cachedContentTokenCount")
    return tokens(counts.get("promptTokenCount"), written_tokens + thought_tokens, cached_tokens)
