"""Streamed answers: a message in small pieces, and marker words that break a stream off.

`ZZBROKENOFF` closes the connection in the middle, `ZZMIDERROR` and `ZZMIDERRORTEXT` send an error
there, `ZZNODONE` ends without a reason and without `[DONE]` half-way, `ZZPINGS` sends comments
and empty choices between the pieces.
"""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.misbehaving_provider.messages import Message
from tests.support.misbehaving_provider.prompts import Prompt

PIECE = 12
"""Characters of a piece: tags and marks are torn apart by it."""

BREAKS = frozenset({"ZZBROKENOFF", "ZZMIDERROR", "ZZMIDERRORTEXT", "ZZNODONE"})


class BrokenOff(Exception):
    """The connection is to be closed at once."""


def pieces(prompt: Prompt, message: Message, usage: Any) -> Iterator[bytes]:
    """Yield the events of the stream, without their blank lines. Raises `BrokenOff` in the middle
    of some.
    """
    deltas = list(_deltas(message))
    breaks = sorted(prompt.markers & BREAKS)
    for delta in deltas[: len(deltas) // 2] if breaks else deltas:
        if "ZZPINGS" in prompt.markers:
            yield b": OPENROUTER PROCESSING"
            yield _event({"id": "1", "object": "chat.completion.chunk", "choices": []})
        yield _event(_chunk(delta))
    for marker in breaks:
        yield from _break(marker)
        return
    yield _event(_chunk({}, message.finish_reason, **message.choice_fields))
    yield _event({"id": "1", "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]"


def _break(marker: str) -> Iterator[bytes]:
    match marker:
        case "ZZBROKENOFF":
            raise BrokenOff
        case "ZZMIDERROR":
            yield _event({"error": {"message": "upstream provider died", "code": 502}})
        case "ZZMIDERRORTEXT":
            yield _event({"error": "upstream provider died"})
        case _:
            return


def _deltas(message: Message) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for name, value in message.fields.items():
        for text in _torn(str(value)):
            yield {name: text}
    content = message.content
    if isinstance(content, list):
        for part in content:
            yield from ({"content": [piece]} for piece in _torn_part(part))
    elif content is not None:
        yield from ({"content": text} for text in _torn(content))


def _torn(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _torn_part(part: dict[str, Any]) -> list[dict[str, Any]]:
    if part["type"] == "text":
        return [{**part, "text": text} for text in _torn(part["text"])]
    return [part]


def _chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, **fields}
    return {"id": "1", "object": "chat.completion.chunk", "model": "rows-1", "choices": [choice]}


def _event(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body).encode()
