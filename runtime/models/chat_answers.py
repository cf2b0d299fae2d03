"""Reads a language model's answer, whole or streamed: its text, apart from it its reasoning, and
whether it is whole.

This is the one place that does so: extraction, summaries, keywords, rounds and answers get their
text from it.
"""

import re
from collections.abc import Iterator
from typing import Any, cast

from runtime.models.json_values import as_dict
from runtime.models.port import AnswerPiece, ToolCall
from runtime.models.wires.tool_turns import NATIVE
from runtime.text.reasoning import AnswerParts, ReasoningFilter, split_reasoning
from runtime.text.reasoning_marks import may_hold_reasoning
from runtime.text.repaired_json import repaired_json

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "thinking_content")
"""Where providers put reasoning that they know as such."""

_REASON_FIELDS = (
    "finish_reason",
    "native_finish_reason",
    "done_reason",
    "stop_reason",
    "stop_type",
    "status",
)

_TURN_FIELDS = ("content", "tool_calls", *_REASONING_FIELDS, "reasoning_details")
"""Fields of a message in OpenAI's form that go back with it: some models want their reasoning
again.
"""

_CUT = re.compile(
    r"length|max|limit|incomplete|truncat|exceed|context|error|fail|abort|cancel|interrupt|insufficient|time.?out"
    r"|network|overload",
    re.IGNORECASE,
)
"""Why an answer ended that did not end by itself."""

_FILTERED = re.compile(
    r"filter|safety|moderat|prohibit|blocklist|recitation|sensitive|refus|guardrail|spii",
    re.IGNORECASE,
)

_DEEPEST = 4
"""Parts within parts that are read."""


def field(answer: Any, name: str) -> Any:
    """Return a field of an answer as JSON, or of a streamed one as the client makes it; None where
    there is none.
    """
    fields = as_dict(answer)
    return fields.get(name) if fields else getattr(answer, name, None)


def first_choice(answer: Any) -> Any | None:
    """Return the first choice of an answer, None without one."""
    choices = field(answer, "choices")
    return cast(Any, choices[0]) if isinstance(choices, list) and choices else None


def has_content(message: Any) -> bool:
    """Return whether the content of a message, which may be null, has a shape that can be read."""
    content = field(message, "content")
    return message is not None and (content is None or isinstance(content, str | list | dict))


def is_refused(message: Any, choice: Any) -> bool:
    """Return whether the model refuses, or a filter of its provider does."""
    reason = field(choice, "finish_reason")
    parts = field(message, "content")
    refuses = isinstance(parts, list) and any(
        field(part, "type") == "refusal" for part in cast(list[Any], parts)
    )
    is_filtered = isinstance(reason, str) and bool(_FILTERED.search(reason))
    return is_filtered or refuses or bool(field(message, "refusal"))


def is_cut(choice: Any, answer: Any) -> bool:
    """Return whether an answer says that it ended before its end, in whatever words."""
    reasons = [field(part, name) for part in (choice, answer) for name in _REASON_FIELDS]
    if any(isinstance(reason, str) and _CUT.search(reason) for reason in reasons):
        return True
    signs = [
        field(part, name) for part in (choice, answer) for name in ("truncated", "stopped_limit")
    ]
    return any(sign is True for sign in signs)


def tool_calls(message: Any) -> tuple[ToolCall, ...]:
    """Return the tools that a message calls; a call without a name is none."""
    calls = field(message, "tool_calls")
    functions = [(call, field(call, "function")) for call in cast(list[Any], calls or ()) if call]
    return tuple(
        ToolCall(str(field(call, "id") or ""), name, _arguments(field(function, "arguments")))
        for call, function in functions
        if isinstance(name := field(function, "name"), str)
    )


def native_turn(message: Any) -> Any:
    """Return a message as its provider takes it back: as its wire says, else its fields."""
    fields = as_dict(message)
    own_fields = {name: fields[name] for name in _TURN_FIELDS if fields.get(name) is not None}
    return fields.get(NATIVE) or own_fields


def _arguments(arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call, which OpenAI has as a text: its JSON is repaired if need
    be.
    """
    return as_dict(repaired_json(arguments) if isinstance(arguments, str) else arguments)


def answer_parts(message: Any, *, cut: bool) -> AnswerParts:
    """Return the text and the reasoning of a whole message."""
    raw = _raw_parts(message)
    if raw.reasoning:
        # What the provider knows as reasoning is apart, so nothing before a closing tag was.
        parts = ReasoningFilter()
        parts.note_reasoning()
        text = parts.feed(raw.text)
        remainder = parts.end(truncated=cut)
        return AnswerParts(
            text.text + remainder.text, raw.reasoning + text.reasoning + remainder.reasoning
        )
    if not may_hold_reasoning(raw.text):
        return AnswerParts(raw.text, "")
    return split_reasoning(raw.text, truncated=cut)


class StreamReader:
    """Reads a streamed answer. `holds_text`: see `ReasoningFilter`."""

    def __init__(self, *, holds_text: bool = False) -> None:
        self._parts = ReasoningFilter(holds_text=holds_text)
        self.has_ended = False
        """Whether the provider said that the answer ended, for whatever reason."""
        self.is_cut = False
        """Whether the answer ended before its end, so far as it was read."""

    def read(self, chunk: Any, choice: Any) -> AnswerPiece:
        """Return what a chunk adds, which may be nothing."""
        raw = _raw_parts(field(choice, "delta"))
        if raw.reasoning:
            self._parts.note_reasoning()
        self.has_ended = self.has_ended or bool(field(choice, "finish_reason"))
        self.is_cut = self.is_cut or is_cut(choice, chunk)
        parts = self._parts.feed(raw.text)
        return AnswerPiece(parts.text, raw.reasoning + parts.reasoning, resets=parts.lacks_opening)

    def end(self) -> AnswerPiece:
        """Return the rest. A stream that gave no reason for its end is cut."""
        self.is_cut = self.is_cut or not self.has_ended
        parts = self._parts.end(truncated=self.is_cut)
        return AnswerPiece(parts.text, parts.reasoning, self.is_cut, parts.lacks_opening)


def _raw_parts(message: Any) -> AnswerParts:
    """Return the content of a message or of a delta, and the reasoning in other fields and
    parts.
    """
    reasonings = [_plain(field(message, name)) for name in _REASONING_FIELDS]
    reasoning = next((text for text in reasonings if text), "")
    parts = list(_content(field(message, "content"), _DEEPEST))
    text = "".join(part.text for part in parts)
    return AnswerParts(text, reasoning + "".join(part.reasoning for part in parts))


def _content(content: Any, depth: int) -> Iterator[AnswerParts]:
    """Yield the parts of a content: a text, a part, or a list of them."""
    if isinstance(content, str):
        yield AnswerParts(content, "")
    elif isinstance(content, list) and depth:
        for part in cast(list[Any], content):
            yield from _content(part, depth - 1)
    elif isinstance(content, dict):
        part = cast(dict[str, Any], content)
        kind = part.get("type")
        if kind in (None, "text", "output_text", "message"):
            yield from _content(part.get("text", part.get("content", part.get("value"))), depth - 1)
        elif isinstance(kind, str) and re.search("think|reason|thought", kind):
            yield AnswerParts("", _plain(part))


def _plain(value: Any, depth: int = _DEEPEST) -> str:
    """Return all texts in a value: a text, a list, or an object with one under a usual name."""
    if isinstance(value, str):
        return value
    if not value or not depth:
        return ""
    if isinstance(value, list):
        return "".join(_plain(part, depth - 1) for part in cast(list[Any], value))
    fields = as_dict(value)
    names = ("thinking", "reasoning", "text", "content", "summary")
    return next((text for name in names if (text := _plain(fields.get(name), depth - 1))), "")
