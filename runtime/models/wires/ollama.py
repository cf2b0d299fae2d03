"""Ollama's own API: `/api/chat` and `/api/embed`, which take the size of the window.

A text that is too long to be embedded is refused rather than cut without a word (`truncate`), so
that it is shortened here, and its document says so.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.wires.addresses import join_url, strip_path
from runtime.models.wires.fields import (
    answer_limit,
    chunk,
    renamed_fields,
    tokens,
    vectors,
    whole_answer,
    with_group,
)
from runtime.models.wires.frames import Content, json_lines
from runtime.models.wires.openai import PLAIN, OpenAiWire, Request
from runtime.models.wires.pictures import text_and_pictures
from runtime.models.wires.tool_turns import NATIVE, TOOL_NAME, Turn

OPTIONS = {
    name: name
    for name in ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty")
}


class OllamaWire(OpenAiWire):
    """Chat as lines of JSON, and options in a group of their own."""

    form = "Ollama's format"
    stream_forms = PLAIN
    base64_forms = ()
    number_forms = PLAIN
    streams_json = True

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = strip_path(self.address, "/v1", "/api/chat", "/api/embed", "/api")

    def window(self, fields: Mapping[str, Any]) -> int:
        """Return `num_ctx`."""
        size = as_dict(fields.get("options")).get("num_ctx")
        return size if isinstance(size, int) else 0

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        options = renamed_fields(body, OPTIONS)
        if (limit := answer_limit(body)) is not None:
            options["num_predict"] = limit
        body |= renamed_fields(body, {"reasoning_effort": "think"})
        if body.pop("response_format", None):
            body["format"] = "json"
        body["stream"] = bool(body.get("stream"))
        body["messages"] = list(map(_turn, body["messages"]))
        return Request(join_url(self.address, "api/chat"), with_group(body, "options", options))

    def completion(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if not isinstance(body.get("message"), dict):
            return body
        message = {**body["message"], NATIVE: body["message"]}
        return whole_answer(message, body.get("done_reason"), _tokens(body))

    async def chunks(self, content: Content) -> AsyncGenerator[dict[str, Any]]:
        """See `OpenAiWire`."""
        async with aclosing(json_lines(content)) as events:
            async for event in events:
                if not isinstance(event.get("message"), dict):
                    yield event
                elif event.get("done"):
                    yield chunk(
                        event["message"], event.get("done_reason") or "stop", _tokens(event)
                    )
                else:
                    yield chunk(event["message"])

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        window = self.connection.window
        body = with_group(dict(fields), "options", {"num_ctx": window} if window else {})
        return Request(join_url(self.address, "api/embed"), {"truncate": False, **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if not isinstance(body.get("embeddings"), list):
            return body
        return vectors(body["embeddings"], body.get("prompt_eval_count"))


def _turn(turn: Turn) -> dict[str, Any]:
    if turn["role"] == "tool":
        return {name: turn[name] for name in ("role", TOOL_NAME, "content")}
    text, pictures = text_and_pictures(turn)
    images = [picture.base64 for picture in pictures]
    with_pictures = {"content": text, "images": images} if images else {}
    return turn.get(NATIVE) or {**turn, **with_pictures}


def _tokens(body: Mapping[str, Any]) -> dict[str, Any]:
    return tokens(body.get("prompt_eval_count"), body.get("eval_count"))
