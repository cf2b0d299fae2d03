"""What one of our prompts asks for, and the marker words in the part of it that its user wrote."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Task = Literal["extract", "glean", "summary", "keywords", "follow-up", "answer", "other"]

MARKER = re.compile(r"\bZZ[A-Z0-9]{3,}\b")
_FENCED = re.compile(r"`{3,}\n(.*?)\n`{3,}", re.DOTALL)


@dataclass(frozen=True)
class Prompt:
    """A request of ours. `subject` is the passage, question or list of descriptions that it is
    about.
    """

    task: Task
    subject: str
    is_json: bool
    """Whether an extraction is asked for as JSON, not as rows."""

    @property
    def markers(self) -> frozenset[str]:
        """The marker words in the subject."""
        return frozenset(MARKER.findall(self.subject))


def prompt_of(messages: Sequence[dict[str, Any]]) -> Prompt:
    """Return what these chat messages ask for."""
    texts = [text_of(message.get("content")) for message in messages]
    head, last, everything = texts[0], texts[-1], "\n".join(texts)
    if "write down the knowledge graph" in head:
        fenced = _FENCED.search("\n".join(texts[1:]))
        task: Task = "glean" if len(messages) > 2 else "extract"
        return Prompt(task, fenced[1] if fenced else last, "Answer with one JSON object" in head)
    if "Make one description" in everything:
        return Prompt("summary", everything, is_json=False)
    if "high_level_keywords" in everything:
        return Prompt("keywords", everything.rpartition("Question:")[2], is_json=False)
    if '"searches"' in everything:
        asked = everything.rpartition("\nQuestion:")[2]
        return Prompt("follow-up", asked.partition("\nExcerpts:")[0], is_json=False)
    if "from a knowledge base" in head:
        return Prompt("answer", last, is_json=False)
    return Prompt("other", everything, is_json=False)


def text_of(content: Any) -> str:
    """Return the text of a message's content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts)
