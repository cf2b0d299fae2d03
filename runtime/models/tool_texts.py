"""Tools for a model, or a server, that knows no tools: they are described in the instructions, and
called by a JSON object that the answer consists of.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from runtime.models.json_values import as_dict
from runtime.models.port import Message, Tool, ToolCall
from runtime.text.repaired_json import repaired_json

LONGEST_CALL = 20_000
"""Characters of an answer that are read for calls."""

_INSTRUCTIONS = """You can call these tools:

{tools}

To call one, reply with one JSON object and nothing else:
{{"tool": "its name", "arguments": {{...}}}}
The next message then has its result. Reply without such an object when you need no tool."""

_CALL = re.compile(r'\{\s*["\']tool["\']\s*:')


def with_tools_in_text(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """Return the conversation without tools: they stand in the instructions, calls and results in
    the text of the turns.
    """
    instructions = _INSTRUCTIONS.format(tools="\n".join(map(_described, tools)))
    system = [message.content for message in messages if message.role == "system"]
    turns = [message for message in messages if message.role != "system"]
    return [
        Message("system", "\n\n".join([*system, instructions])),
        *(turn for group in groupby(turns, _is_result) for turn in _turns_of(*group)),
    ]


def calls_in_text(text: str) -> tuple[ToolCall, ...]:
    """Return the calls in an answer, their JSON repaired if need be."""
    match = _CALL.search(text[:LONGEST_CALL])
    value = repaired_json(text[match.start() : LONGEST_CALL]) if match else None
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    calls: list[ToolCall] = []
    for fields in map(as_dict, values):
        if isinstance(name := fields.get("tool"), str):
            calls.append(ToolCall(f"call-{len(calls)}", name, as_dict(fields.get("arguments"))))
    return tuple(calls)


def _described(tool: Tool) -> str:
    arguments = json.dumps(tool.parameters, ensure_ascii=False)
    return f"- {tool.name}: {tool.description} Its arguments, as a JSON Schema: {arguments}"


def _is_result(message: Message) -> bool:
    return message.result_of is not None


def _turns_of(are_results: bool, turns: Iterator[Message]) -> Iterator[Message]:
    if are_results:
        yield Message("user", "\n\n".join(map(_result, turns)))
        return
    for turn in turns:
        calls = "\n".join(map(_call, turn.calls))
        yield Message(turn.role, "\n".join(filter(None, [turn.content, calls])))


def _call(call: ToolCall) -> str:
    fields: Mapping[str, Any] = {"tool": call.name, "arguments": dict(call.arguments)}
    return json.dumps(fields, ensure_ascii=False)


def _result(turn: Message) -> str:
    assert turn.result_of
    return f"Result of {turn.result_of.name}:\n{turn.content}"
