"""What a model says that does as it is told: rows of names, keywords, an answer."""

import hashlib
import json
import re
from itertools import pairwise

from tests.support.misbehaving_provider.prompts import Prompt

DELIMITER = "<|#|>"
COMPLETE = "<|COMPLETE|>"
ANSWER = (
    "The harbour is led by Ada Marlow, as the first passage says [1]. "
    "It was founded long before that year, and the second half of this answer stands here [1]."
)

FIGURE = (
    "Bar chart of the height of the tide. Its highest bar, 731 centimetres, is labelled Wreyland "
    "Lighthouse, where Oda Brandvold keeps the gauge."
)
"""What a figure shows, whichever it is."""

_WORD = r"[A-ZÄÖÜÅÉ][\w\u00ad\u200b\u0300-\u036f'’-]*[a-zß-ÿ\u0300-\u036f]"
"""A capitalised word, in any spelling: a model copies soft hyphens and combining marks."""

_NAME = re.compile(rf"\b{_WORD}(?: {_WORD})+\b")
_QUOTED = re.compile("「([^」]{2,8})」")
"""A name in a language without capitals, which its text marks."""

_MOST_NAMES = 12

CARRIED = re.compile(r"\bZZ(?:THINK|PARTS|HARMONY|CUT|NULL|MODERATION|USAGE)[A-Z0-9]*\b")
"""Markers that descriptions of a passage's entities repeat, so that their summaries meet them
too.
"""


def good_answer(prompt: Prompt) -> str:
    """Return a right answer to the prompt."""
    match prompt.task:
        case "extract":
            return json_graph(prompt.subject) if prompt.is_json else rows(prompt.subject)
        case "glean":
            return '{"entities": [], "relationships": []}' if prompt.is_json else COMPLETE
        case "summary":
            return "Several passages in one description."
        case "keywords":
            words = {
                "high_level_keywords": ["harbours"],
                "low_level_keywords": names(prompt.subject),
            }
            return json.dumps(words)
        case "follow-up":
            return json.dumps({"complete": True, "missing": "", "searches": []})
        case "answer":
            return ANSWER
        case "figure":
            return FIGURE
        case "other":
            return "Red." if "colour" in prompt.subject else "A plain answer."


def names(text: str) -> list[str]:
    """Return the names of two or more capitalised words and those in 「」, each once, twelve at
    most.
    """
    return list(dict.fromkeys([*_NAME.findall(text), *_QUOTED.findall(text)]))[:_MOST_NAMES]


def description(name: str, passage: str) -> str:
    """Return a sentence on the name that differs by passage and repeats its markers."""
    digest = hashlib.sha256(passage.encode()).hexdigest()[:6]
    return " ".join([f"{name} is named in log {digest}.", *sorted(set(CARRIED.findall(passage)))])


def rows(passage: str) -> str:
    """Return the passage's graph in the row format."""
    passage_names = names(passage)
    lines = [
        DELIMITER.join(["entity", name, "Person", description(name, passage)])
        for name in passage_names
    ]
    for first, second in pairwise(passage_names):
        sentence = f"{first} had to do with {second}."
        lines.append(DELIMITER.join(["relation", first, second, "trade", sentence]))
    return "\n".join([*lines, COMPLETE])


def json_graph(passage: str) -> str:
    """Return the passage's graph as the JSON object that LightRAG's models are asked for."""
    entities = [
        {"name": name, "type": "Person", "description": description(name, passage)}
        for name in names(passage)
    ]
    relationships = [
        {
            "source": first,
            "target": second,
            "keywords": "trade",
            "description": f"{first}, {second}.",
        }
        for first, second in pairwise(names(passage))
    ]
    return json.dumps({"entities": entities, "relationships": relationships}, ensure_ascii=False)
