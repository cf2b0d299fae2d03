"""What one of our prompts asks for, and the marker words in the part of it that its user wrote."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Task = Literal["extract", "glean", "summary", "keywords", "follow-up", "answer", "figure", "other"]

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
    head = texts[0]
    last_text = texts[-1]
    whole_text = "\n".join(texts)
    if "write down the knowledge graph" in head:
        match = _FENCED.search("\n".join(texts[1:]))
        task: Task = "glean" if len(messages) > 2 else "extract"
        return Prompt(task, match[1] if match else last_text, "Answer with one JSON object" in head)
    if "describe one figure of a document" in head:
        return Prompt("figure", last_text, is_json=False)
    if "Make one description" in whole_text:
        return Prompt("summary", whole_text, is_json=False)
    if "high_level_keywords" in whole_text:
        return Prompt("keywords", whole_text.rpartition("Question:")[2], is_json=False)
    if '"searches"' in whole_text:
        question = whole_text.rpartition("\nQuestion:")[2]
        return Prompt("follow-up", question.partition("\nExcerpts:")[0], is_json=False)
    if "from a knowledge base" in head:
        return Prompt("answer", last_text, is_json=False)
    return Prompt("other", whole_text, is_json=False)


def text_of(content: Any) -> str:
    """Return the text of a message's content, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts)
