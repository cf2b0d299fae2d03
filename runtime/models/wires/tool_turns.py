"""Tools, calls of tools and their results, from OpenAI's form to those of other providers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.models.json_values import as_dict
from runtime.models.wires.fields import objects

Turn = Mapping[str, Any]

NATIVE = "native"
"""Field of a turn of the model: the turn as its provider gave it, which goes back unchanged. Some
providers sign their calls, or want the reasoning before them.
"""

TOOL_NAME = "tool_name"
"""Field of a result of a tool: the tool's name, which OpenAI leaves out."""


def translated_turns(
    turns: Sequence[Turn], translate: Callable[[Turn], dict[str, Any]], parts: str
) -> list[dict[str, Any]]:
    """Return the turns as `translate` has them; results of tools that follow each other are one
    turn, whose field `parts` has them all.
    """
    new_turns: list[dict[str, Any]] = []
    previous_role = ""
    for turn in turns:
        new_turn = translate(turn)
        if turn["role"] == previous_role == "tool":
            new_turns[-1][parts] += new_turn[parts]
        else:
            new_turns.append(new_turn)
        previous_role = turn["role"]
    return new_turns


def functions_of(tools: Any) -> list[dict[str, Any]]:
    """Return name, description and parameters of each tool of a request."""
    return [as_dict(tool.get("function")) for tool in objects(tools)]


def call_of(id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """Return a call in OpenAI's form, its arguments as an object."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def openai_form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request with turns as OpenAI has them."""
    return {**fields, "messages": list(map(_openai_turn, fields["messages"]))}


def _openai_turn(turn: Turn) -> dict[str, Any]:
    fields = {name: value for name, value in turn.items() if name not in (NATIVE, TOOL_NAME)}
    return {**fields, **as_dict(turn.get(NATIVE))}
