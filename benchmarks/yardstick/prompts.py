"""Tells what a prompt asks for and where its text is: for LightRAG's prompts and for ours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["extract", "glean", "keywords", "summary", "answer"]
HEAD = 12_000
"""Characters of a message in which its instructions stand."""

_DELIMITER = re.compile(r"entity\s*(<\|[^|<>\s]{0,8}\|>)")
_ROWS = re.compile(r"[Aa]t most (\d+) (?:total|rows)")
_ENTITIES = re.compile(r"at most (\d+) entit(?:y|ies)")
_MISSED = re.compile(
    r"missed (?:or|in|entities)|were missed|last extraction|previous extraction", re.IGNORECASE
)
_HEADING = re.compile(
    r"^[ \t#<*`\-=]*(?:input[ _]text|text to (?:process|analy[sz]e)|text|document|passage|content|real data)"
    r"[ \t#>*`\-=]*:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_OUTPUT = re.compile(
    r"^[\s#<*\-=]*output[\s#>*\-=]*:?\s*$|^#{6,}\s*$|^-{3,}\s*output", re.IGNORECASE | re.MULTILINE
)
_FENCED = re.compile(r"^`{3,}[\w-]*[ \t]*\n(.*?)(?:\n`{3,}[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_QUESTION = re.compile(
    r"^[\s#*\-]*(?:user |current |real )?(?:query|question)\**\s*:[ \t]*(.*?)(?=\n\s*(?:-{3,}|#{3,}|output)|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_DESCRIBED = re.compile(
    r"(?:Several passages describe|(?:Name|Entities|Entity|Relation)\s*:)\s*(.+)"
)


@dataclass(frozen=True)
class Request:
    """The messages of a chat call, and whether its answer is to be JSON."""

    messages: Sequence[str]
    users: Sequence[str]
    json: bool

    @property
    def head(self) -> str:
        """Where the instructions stand."""
        return "\n".join(text[:HEAD] for text in self.messages)

    @property
    def delimiter(self) -> str | None:
        """What separates the fields of a row, if rows are asked for."""
        result = None if self.json else _DELIMITER.search(self.head)
        return result[1] if result else None

    @property
    def limits(self) -> tuple[int, int]:
        """At most so many rows, of them so many entities."""
        rows, entities = _ROWS.search(self.head), _ENTITIES.search(self.head)
        return int(rows[1]) if rows else 100, int(entities[1]) if entities else 40


def read(body: Mapping[str, Any]) -> Request:
    """A call as OpenAI's route gets it."""
    messages = [(each.get("role"), _text(each)) for each in body.get("messages") or []]
    asked = (body.get("response_format") or {}).get("type") in ("json_object", "json_schema")
    texts = [text for _, text in messages]
    return Request(texts, [text for role, text in messages if role == "user"] or texts, asked)


def kind_of(request: Request) -> Kind:
    """What the call is for; `answer` when it is nothing else."""
    head, last = request.head, request.messages[-1] if request.messages else ""
    if "high_level_keywords" in head[:6000] and "low_level_keywords" in head[:6000]:
        return "keywords"
    extracts = bool(_DELIMITER.search(head)) or '"entities"' in head or "`entities`" in head
    if extracts and len(request.messages) > 2 and _MISSED.search(last[:1500]):
        return "glean"
    if re.search(r"description[ _]?list|Make one description of them", head[:4000], re.IGNORECASE):
        return "summary"
    return "extract" if extracts and "relation" in head else "answer"


def passage(request: Request) -> str:
    """The passage to read: behind a heading, between fences, or the longest paragraph."""
    for message in request.users:
        if (result := _below_heading(message)).strip():
            return result
    blocks = [block for message in request.users for block in _FENCED.findall(message)]
    paragraphs = [part for message in request.users for part in re.split(r"\n\s*\n", message)]
    return max(blocks or paragraphs, key=len, default="")


def question(request: Request) -> str:
    """The question whose keywords are wanted. Raises ValueError when the prompt shows none."""
    if not (result := _QUESTION.findall(request.messages[-1])):
        raise ValueError("a prompt for keywords without a question")
    return result[-1].strip()


def descriptions(request: Request) -> tuple[str, list[str]]:
    """What a summary is about, and the lines to make one text of."""
    text = "\n".join(request.messages)
    name = _DESCRIBED.search(text)
    blocks = _FENCED.findall(text)
    rest = re.split(r"escription List|as JSON:\n", text, maxsplit=1)[-1]
    lines = [
        line.strip().rstrip(",") for line in (max(blocks, key=len) if blocks else rest).splitlines()
    ]
    return name[1].partition(". Make one")[0].strip() if name else "Item", [
        line for line in lines if line
    ]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if part.get("type") == "text")


def _below_heading(message: str) -> str:
    last = None
    for last in _HEADING.finditer(message):
        if message[last.end() :].lstrip("\n").startswith("```"):
            break
    if last is None:
        return ""
    rest = message[last.end() :].strip("\n")
    if rest.startswith("```"):
        rest = rest.partition("\n")[2]
        end = rest.rfind("\n```")  # the text may have fences itself: the last one ends it
        return rest[:end] if end >= 0 else rest
    tails = [match.start() for match in _OUTPUT.finditer(rest)]
    return rest[: tails[-1]].strip("\n") if tails else rest
