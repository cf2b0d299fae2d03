"""Parses the conversations of compatible clients: mode prefixes, instructions, history, and
reference lists.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from services.gateway.questions.models import MAX_TURN_LENGTH, MAX_TURNS
from services.query.answering.citations import cited_ids
from services.query.question import Mode, Turn
from services.query.retrieval.results import RetrievalResult

MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
"""Every mode by its name."""

MAX_UNCITED = 5
"""References that are listed at most below an answer without citations."""

_PREFIX = re.compile(rf"/({'|'.join(MODES)})?(context)?(?:\[(.*?)\]|(?=\s)|\Z)\s*", re.DOTALL)
_TASK = "\n<chat_history>\nUSER:"
_TITLE = "### References"
_SECTION = re.compile(rf"\n\n{_TITLE}\n\n(?:- \[\d+\] [^\n]*(?:\n|\Z))+\Z")


@dataclass(frozen=True)
class ParsedMessage:
    """A message without its prefix. `context`: return the context instead of an answer."""

    query: str
    mode: Mode | None = None
    """None where the message names none."""
    context: bool = False
    instructions: str = ""
    """Instructions for the answering model."""


def parse_message(message: str) -> ParsedMessage:
    """Split a message into LightRAG's prefix and the question.

    Prefixes are `/local …`, `/context …`, `/localcontext …`, and with instructions `/local[…] …` or
    `/[…] …`. A message without one names no mode.
    """
    match = _PREFIX.match(message)
    mode, context, instructions = match.groups() if match else (None, None, None)
    if (
        match is None
        or not (mode or context or instructions is not None)
        or (mode == "bypass" and context)
    ):
        return ParsedMessage(message)
    return ParsedMessage(
        message[match.end() :],
        MODES[mode] if mode else None,
        bool(context),
        (instructions or "").strip(),
    )


def is_task(message: str) -> bool:
    """Return whether Open WebUI asks for a title, tags or the like of a conversation, which needs
    no retrieval.
    """
    return _TASK in f"\n{message}"


def split_instructions(turns: Sequence[Turn]) -> tuple[str, Sequence[Turn]]:
    """Return the leading system messages as instructions, and the turns after them."""
    first = next((index for index, turn in enumerate(turns) if turn.role != "system"), len(turns))
    return join_instructions(turn.content for turn in turns[:first]), turns[first:]


def join_instructions(instructions: Iterable[str]) -> str:
    """Return the non-empty instructions with blank lines between them."""
    return "\n\n".join(text for text in instructions if text.strip())


def recent_turns(turns: Iterable[Turn], max_characters: int) -> tuple[Turn, ...]:
    """Return the newest consecutive turns that have at most `max_characters` together; turns
    without text are left out.

    Reference lists of `reference_section` are removed, so that they cost no tokens and the model
    does not imitate them.
    """
    newest_turns: list[Turn] = []
    plain_turns = (_without_reference_section(turn) for turn in reversed([*turns]))
    for turn in (turn for turn in plain_turns if turn.content):
        max_characters -= len(turn.content)
        if (
            max_characters < 0
            or len(turn.content) > MAX_TURN_LENGTH
            or len(newest_turns) == MAX_TURNS
        ):
            break
        newest_turns.append(turn)
    return tuple(reversed(newest_turns))


def _without_reference_section(turn: Turn) -> Turn:
    return (
        replace(turn, content=_SECTION.sub("", turn.content)) if turn.role == "assistant" else turn
    )


def reference_section(text: str, retrieval: RetrievalResult) -> str:
    """Return the reference list below an answer: the files it cites, else the first few of its
    context; "" for none.

    Behind a file stand those that say the same in a passage which was left out as a double.
    """
    references = retrieval.references
    if not references:
        return ""
    named_ids = cited_ids(text, references.values())
    entries = [(path, id) for path, id in references.items() if id in named_ids] or [
        *references.items()
    ][:MAX_UNCITED]
    lines = "".join(
        f"- [{id}] {_with_doubles(path, retrieval.files_of_doubles(id, path))}\n"
        for path, id in entries
    )
    return f"\n\n{_TITLE}\n\n{lines}"


def _with_doubles(path: str, doubles: Sequence[str]) -> str:
    """Return the line of a file in the reference list."""
    also = f" (also in {', '.join(doubles)})" if doubles else ""
    return " ".join(f"{path}{also}".split())
