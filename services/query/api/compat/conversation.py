"""What a conversation asks: the wish in front of its last message, and as much as is kept of what was said before."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from services.query.api.questions.models import MAX_TURN_LENGTH, MAX_TURNS
from services.query.question import Mode, Turn

MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
"""Every mode by its name."""

MAX_UNCITED = 5
"""References below an answer that cites none itself."""

_PREFIX = re.compile(rf"/({'|'.join(MODES)})?(context)?(?:\[(.*?)\]|(?=\s)|\Z)\s*", re.DOTALL)
_TASK = "\n<chat_history>\nUSER:"
_TITLE = "### References"
_SECTION = re.compile(rf"\n\n{_TITLE}\n\n(?:- \[\d+\] [^\n]*(?:\n|\Z))+\Z")
_CITED = re.compile(r"\[([\^\d,;–\- \t]{1,80})\]")
_NUMBERS = re.compile(r"(?<!\d)(\d{1,3})(?!\d)(?:[ \t]*[–-][ \t]*(\d{1,3})(?!\d))?")


@dataclass(frozen=True)
class ParsedMessage:
    """A question as somebody typed it. `context`: not the answer, but what it would rest on."""

    query: str
    mode: Mode = "mix"
    context: bool = False
    instructions: str = ""
    """For the answering model."""


def parse_message(message: str) -> ParsedMessage:
    """The message without the prefix that says how to answer it, in LightRAG's forms.

    `/local …`, `/context …`, `/localcontext …`, and with instructions `/local[…] …` or `/[…] …`. What begins otherwise
    is a question of mode `mix`.
    """
    found = _PREFIX.match(message)
    mode, context, instructions = found.groups() if found else (None, None, None)
    if found is None or not (mode or context or instructions is not None) or (mode == "bypass" and context):
        return ParsedMessage(message)
    return ParsedMessage(message[found.end() :], MODES[mode or "mix"], bool(context), (instructions or "").strip())


def is_task(message: str) -> bool:
    """Whether Open WebUI wants a title, tags or the like for a conversation: nothing is to be searched for that."""
    return _TASK in f"\n{message}"


def split_instructions(turns: Sequence[Turn]) -> tuple[str, Sequence[Turn]]:
    """What the system says first, which are instructions for the answer, and the turns behind it."""
    first = next((place for place, turn in enumerate(turns) if turn.role != "system"), len(turns))
    return join_instructions(turn.content for turn in turns[:first]), turns[first:]


def join_instructions(instructions: Iterable[str]) -> str:
    """Instructions, with a blank line between them."""
    return "\n\n".join(text for text in instructions if text.strip())


def recent_turns(turns: Iterable[Turn], max_characters: int) -> tuple[Turn, ...]:
    """The newest turns without a gap, as many as have `room` characters together; those without a text do not count.

    Lists of references that `listed` made are taken out, so that a model neither pays for them nor writes its own.
    """
    newest: list[Turn] = []
    plain = (_without_reference_section(turn) for turn in reversed([*turns]))
    for turn in (turn for turn in plain if turn.content):
        max_characters -= len(turn.content)
        if max_characters < 0 or len(turn.content) > MAX_TURN_LENGTH or len(newest) == MAX_TURNS:
            break
        newest.append(turn)
    return tuple(reversed(newest))


def _without_reference_section(turn: Turn) -> Turn:
    return replace(turn, content=_SECTION.sub("", turn.content)) if turn.role == "assistant" else turn


def reference_section(text: str, references: Mapping[str, str]) -> str:
    """What is to stand below an answer: the files it cites, else the first few it was made from. Empty without any.

    `references`: file path to reference id.
    """
    if not references:
        return ""
    named = cited_ids(text, references.values())
    shown = [(path, id) for path, id in references.items() if id in named] or [*references.items()][:MAX_UNCITED]
    lines = "".join(f"- [{id}] {' '.join(path.split())}\n" for path, id in shown)
    return f"\n\n{_TITLE}\n\n{lines}"


def cited_ids(text: str, ids: Collection[str]) -> frozenset[str]:
    """Those of the reference ids that stand in brackets in the text, or in a range there."""
    spans = {span for inside in _CITED.findall(text) for span in _NUMBERS.findall(inside)}
    return frozenset(id for id in ids for first, last in spans if int(first) <= int(id) <= int(last or first))
