"""Lines that begin or end a block of code in Markdown and reStructuredText."""

import re
from itertools import pairwise

_FENCE = re.compile(r"(```+|~~~+)(.*)")
_UNDERLINE = re.compile(r"~{3,}")
_LONG = 5
"""Tildes from which a row underlines a title that begins with a small letter."""

_DIRECTIVE = re.compile(r"\.\. (?:code|code-block|graphviz|math|parsed-literal|sourcecode)::")


def announces_code(line: str) -> bool:
    """Return whether lines that are indented below a line are code in reStructuredText."""
    content = line.strip()
    is_marked = content.endswith("::") and not content.startswith("..")
    return is_marked or is_code_directive(content)


def is_code_directive(line: str) -> bool:
    """Return whether a line is a directive of reStructuredText with code below it."""
    return _DIRECTIVE.match(line.strip()) is not None


def fence(line: str, above: str) -> re.Match[str] | None:
    """Return the match of a line that begins or ends a block of code, its second group what names
    the code. `above` is the line above it: a row of tildes below a title of no more characters
    underlines it, as in reStructuredText.
    """
    content, title = line.strip(), above.strip()
    is_row = _UNDERLINE.fullmatch(content) is not None and 0 < len(title) <= len(content)
    if is_row and (title[0].isupper() or len(content) >= _LONG):
        return None
    return _FENCE.match(content)


def has_fence(text: str) -> bool:
    """Return whether a block of code begins or ends in a text."""
    if "```" not in text and "~~~" not in text:
        return False
    return any(fence(line, above) for above, line in pairwise(["", *text.splitlines()]))
