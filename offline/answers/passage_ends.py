"""Sentences that the end of a passage cuts: completed from the next passage, or left out."""

import re
from collections.abc import Sequence

from offline.answers.quotable_sentences import Quotable
from offline.language.sentences import sentences

_LONGEST = 600
"""Characters of the next passage in which the end of a sentence is looked for."""
_END = re.compile(r"[.!?…:;。！？；：؟।][\"'”’»)\]*_`]*\s*$")
_FEW = 3
"""Sentences with an end of their own from which a passage is prose."""


def completed(text: str, following: str) -> str:
    """Return a passage with the rest of its last sentence, which is looked for at the beginning of
    what follows in the document.
    """
    beginning = following[:_LONGEST]
    if not beginning.strip() or text.endswith("\n") or _END.search(text[-20:]):
        return text
    if beginning.startswith("\n\n") or beginning[0] in "#|-*":
        return text
    first = sentences(beginning)[0]
    is_whole = first.end < len(beginning) or len(beginning) == len(following)
    return text + beginning[: first.end] if is_whole else text


def without_cut_sentence(parts: Sequence[Quotable]) -> Sequence[Quotable]:
    """Return the parts without the last, where that is a sentence of prose without an end."""
    if not parts or parts[-1].item or parts[-1].is_row or _END.search(parts[-1].text):
        return parts
    ended_count = sum(_END.search(part.text) is not None for part in parts)
    return parts[:-1] if ended_count >= _FEW else parts
