"""Lines that begin or end a block of code in Markdown."""

import re
from itertools import pairwise

_FENCE = re.compile(r"(```+|~~~+)(.*)")
_UNDERLINE = re.compile(r"~{5,}")


def fence(line: str, above: str) -> re.Match[str] | None:
    """Return the match of a line that begins or ends a block of code, its second group what names
    the code. `above` is the line above it: a row of tildes below a title of no more characters
    underlines it, as in reStructuredText.
    """
    content = line.strip()
    if _UNDERLINE.fullmatch(content) and 0 < len(above.strip()) <= len(content):
        return None
    return _FENCE.match(content)


def has_fence(text: str) -> bool:
    """Return whether a block of code begins or ends in a text."""
    if "```" not in text and "~~~" not in text:
        return False
    return any(fence(line, above) for above, line in pairwise(["", *text.splitlines()]))
