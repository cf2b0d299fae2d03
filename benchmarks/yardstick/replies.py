"""What the mock model answers to each kind of call."""

import json
from collections.abc import Callable, Mapping

from benchmarks.yardstick.extraction import limited, rounds
from benchmarks.yardstick.prompts import Kind, Request, descriptions, passage, question
from benchmarks.yardstick.text import STOP, WORD, clip, keywords, sentences, summary

COMPLETE = "<|COMPLETE|>"
QUOTED = 5
"""Sentences of an answer."""


def reply(kind: Kind, request: Request) -> str:
    """The answer to a call."""
    return _REPLIES[kind](request)


def _extracted(request: Request, *, again: bool) -> str:
    first, second = rounds(passage(request))
    known = [each.name for each in first.entities] if again else []
    result = limited(second if again else first, *request.limits, known)
    if (d := request.delimiter) is None:
        entities = [
            {"name": e.name, "type": e.type, "description": e.description} for e in result.entities
        ]
        relations = [
            {
                "source": r.source,
                "target": r.target,
                "keywords": r.keywords,
                "description": r.description,
            }
            for r in result.relations
        ]
        return json.dumps({"entities": entities, "relationships": relations}, ensure_ascii=False)
    word = "relation" if f"relation{d}" in request.head else "relationship"
    rows = [d.join(("entity", e.name, e.type, e.description)) for e in result.entities]
    rows += [
        d.join((word, r.source, r.target, r.keywords, r.description)) for r in result.relations
    ]
    return "\n".join([*rows, COMPLETE])


def _keywords(request: Request) -> str:
    high, low = keywords(question(request))
    return json.dumps({"high_level_keywords": high, "low_level_keywords": low}, ensure_ascii=False)


def _summary(request: Request) -> str:
    name, lines = descriptions(request)
    return summary(name, [_description(line) for line in lines])


def _description(line: str) -> str:
    """The text of a line, which may be JSON."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _answer(request: Request) -> str:
    asked = request.messages[-1][-2000:] if request.messages else ""
    context = max(request.messages[:-1], key=len, default="")
    wanted = {word.lower() for word in WORD.findall(asked)} - STOP
    scored: list[tuple[int, int, str]] = []
    for number, sentence in enumerate(sentences(context)[:2000]):
        if hits := len(wanted & {word.lower() for word in WORD.findall(sentence)}):
            scored.append((-hits, number, clip(sentence, 300)))
    best = [sentence for _, _, sentence in sorted(scored)[:QUOTED]]
    return " ".join(best) or "The context does not hold an answer to this question."


_REPLIES: Mapping[Kind, Callable[[Request], str]] = {
    "extract": lambda request: _extracted(request, again=False),
    "glean": lambda request: _extracted(request, again=True),
    "keywords": _keywords,
    "summary": _summary,
    "answer": _answer,
}
