"""What a parser gives back: a text of bounded length, and where its pages begin."""

from collections.abc import Iterable
from typing import NamedTuple

from runtime.errors import InvalidInput
from runtime.parsing.encodings import Encoding
from runtime.parsing.omissions import Omissions

MAX_TEXT = 20 * 1024 * 1024
"""Characters a file may give. A small file can give more than it has: a table may show one long
string many times.
"""


class Content(NamedTuple):
    """The text of a file. `pages`: the offset in `text`, in characters, at which each page begins,
    in order.

    A page without text begins where the next one with text does, or at the end. Empty where a
    format has no pages.
    """

    text: str
    pages: tuple[int, ...] = ()
    encoding: Encoding | None = None
    """Of a file that is text; the other formats say themselves how their texts are written."""
    warnings: tuple[str, ...] = ()
    """What the parser left out, in sentences for people."""


def joined(blocks: Iterable[str], omissions: Omissions | None = None) -> Content:
    """Return the blocks that are not empty, with a blank line between them, and what was left out
    meanwhile.

    Raises InvalidInput when there is none, and when they are too long together.
    """
    parts: list[str] = []
    length = 0
    for block in blocks:
        if block:
            length = _longer(length, block)
            parts.append(block)
    warnings = tuple(omissions.sentences()) if omissions else ()
    if not parts:
        reasons = f" ({'; '.join(warnings)})" if warnings else ""
        raise InvalidInput(f"has no text in it{reasons}: add a file that has some")
    return Content("\n\n".join(parts), warnings=warnings)


def paged(pages: Iterable[str], omissions: Omissions | None = None) -> Content:
    """Return the pages as one text, where each begins, and what was left out meanwhile.

    Raises InvalidInput when they are too long together.
    """
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for page in map(str.strip, pages):
        starts.append(length)
        if page:
            length = _longer(length, page)
            parts.append(page)
    text = "\n\n".join(parts)
    starts = [min(start, len(text)) for start in starts]
    return Content(text, tuple(starts), warnings=tuple(omissions.sentences()) if omissions else ())


def _longer(length: int, block: str) -> int:
    """Return the length with this block and the blank line behind it."""
    if length + len(block) > MAX_TEXT:
        raise InvalidInput(f"gives more than {MAX_TEXT:,} characters of text: split it")
    return length + len(block) + 2
