"""Anthropic's messages: the system prompt apart, a limit of the answer always, events of a stream.

Its JSON has no mode of its own: prompts ask for it.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

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
    whole_answer,
    with_group,
)
from runtime.models.wires.frames import Content, server_sent_events
from runtime.models.wires.openai import PLAIN, OpenAiWire, Request
from runtime.models.wires.pictures import InlinePicture, parts_of
from runtime.models.wires.tool_turns import (
    NATIVE,
    Turn,
    call_of,
    functions_of,
    translated_turns,
)

VERSION = "2023-06-01"

MAX_TOKENS = 8192
"""Tokens of an answer where LLM_MAX_TOKENS says nothing: the provider wants a limit always."""


class AnthropicWire(OpenAiWire):
    """`POST https://api.anthropic.com/v1/messages`."""

    form = "Anthropic's format"
    json_forms = PLAIN
    stream_forms = PLAIN

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = strip_path(self.address, "/v1/messages", "/v1")

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the version of the API, and the key under its own name."""
        del url, data
        key = {"x-api-key": self.key} if self.key else {}
        return {"anthropic-version": VERSION, **key}

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        messages = body.pop("messages")
        system = "\n\n".join(turn["content"] for turn in messages if turn["role"] == "system")
        turns = [turn for turn in messages if turn["role"] != "system"]
        body["messages"] = translated_turns(turns, _turn, "content")
        if tools := functions_of(body.pop("tools", None)):
            body["tools"] = list(map(_tool, tools))
        body["max_tokens"] = answer_limit(body) or MAX_TOKENS
        if system.strip():
            body["system"] = system
        if (stop := body.pop("stop", None)) is not None:
            body["stop_sequences"] = as_list(stop)
        effort = renamed_fields(body, {"reasoning_effort": "effort"})
        return Request(
            join_url(self.address, "v1/messages"), with_group(body, "output_config", effort)
        )

    def completion(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if body.get("type") != "message":
            return body
        content = body.get("content")
        calls = [
            call_of(block.get("id"), block.get("name"), block.get("input"))
            for block in objects(content)
            if block.get("type") == "tool_use"
        ]
        message = {"content": content, "tool_calls": calls, NATIVE: content}
        return whole_answer(message, body.get("stop_reason"), _tokens(body.get("usage")))

    async def chunks(self, content: Content) -> AsyncGenerator[dict[str, Any]]:
        """See `OpenAiWire`. The counts come in two parts: the prompt's first."""
        usage: dict[str, Any] = {}
        async with aclosing(server_sent_events(content)) as events:
            async for event in events:
                match event.get("type"):
                    case "message_start":
                        usage |= as_dict(as_dict(event.get("message")).get("usage"))
                        yield {"choices": [], "usage": _tokens(usage)}
                    case "content_block_delta":
                        delta = as_dict(event.get("delta"))
                        text = {"content": delta.get("text") or ""}
                        yield chunk({**text, "thinking": delta.get("thinking")})
                    case "message_delta":
                        usage |= as_dict(event.get("usage"))
                        reason = as_dict(event.get("delta")).get("stop_reason")
                        yield chunk({}, reason, _tokens(usage))
                    case "error":
                        yield {"error": event.get("error") or event}
                    case _:  # pings, and the ends of blocks
                        continue


def _turn(turn: Turn) -> dict[str, Any]:
    if turn["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": turn["tool_call_id"]}
        return {"role": "user", "content": [{**result, "content": turn["content"]}]}
    content = turn.get(NATIVE) or turn["content"]
    if content is turn["content"] and not isinstance(content, str):
        content = parts_of(turn, _text_part, _picture_part)
    return {"role": turn["role"], "content": content}


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture_part(picture: InlinePicture) -> dict[str, Any]:
    source = {"type": "base64", "media_type": picture.media_type, "data": picture.base64}
    return {"type": "image", "source": source}


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _tokens(usage: Any) -> dict[str, Any]:
    """Return the counts, where tokens that a cache has or takes are not among those of the
    input.
    """
    counts = as_dict(usage)
    cached_tokens = count_of(counts.get("cache_read_input_tokens"))
    written_tokens = count_of(counts.get("cache_creation_input_tokens"))
    prompt = count_of(counts.get("input_tokens")) + cached_tokens + written_tokens
    return tokens(prompt, counts.get("output_tokens"), cached_tokens)
