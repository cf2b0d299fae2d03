"""What a parser gives back: a text of bounded length, where its pages begin, and its figures."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from runtime.errors import InvalidInput
from runtime.parsing.encodings import Encoding
from runtime.parsing.omissions import Omissions

MAX_TEXT = 20 * 1024 * 1024
"""Characters a file may give. A small file can give more than it has: a table may show one long
string many times.
"""


MAX_FIGURE_BYTES = 4 * 1024 * 1024
MAX_FIGURES_BYTES = 24 * 1024 * 1024
"""Of one figure, and of all figures of a file."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom edge, as shares of the width or height of a page."""


class FigureFile(NamedTuple):
    """A picture that is kept, as a file. `width`, `height`: pixels; `caption`: what the document
    says of it; `page`: where it stands, from 1.
    """

    data: bytes
    media_type: str
    width: int
    height: int
    caption: str = ""
    page: int | None = None
    box: Box | None = None


class Recognition(NamedTuple):
    """What text recognition has read of a file. `confidence`: 0 to 1, as the models say."""

    pages: int
    confidence: float


class FigureNames(Protocol):
    """What names the figures of a file in its text."""

    def named(self, texts: Sequence[str]) -> list[str]:
        """Return the texts with the names of the figures in their places, numbered in their
        order.
        """
        ...

    def kept(self) -> tuple[FigureFile, ...]:
        """Return the figures in the order of their numbers, once they are named."""
        ...


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
    figures: tuple[FigureFile, ...] = ()
    """Its pictures; the text names the first one `[Figure 1]`."""
    unread: tuple[int, ...] = ()
    """Numbers of its pages, from 1, that show something without a text that can be read."""
    recognition: Recognition | None = None
    """Of a file that text recognition has read, or pages of it."""


def joined(
    blocks: Iterable[str], omissions: Omissions | None = None, figures: FigureNames | None = None
) -> Content:
    """Return the blocks that are not empty, with a blank line between them, and what was left out
    meanwhile.

    Raises InvalidInput when there is none, and when they are too long together.
    """
    parts: list[str] = []
    length = 0
    for block in _with_figures(blocks, figures):
        if block:
            length = _longer(length, block)
            parts.append(block)
    warnings = tuple(omissions.sentences()) if omissions else ()
    if not parts:
        reasons = f" ({'; '.join(warnings)})" if warnings else ""
        raise InvalidInput(f"has no text in it{reasons}: add a file that has some")
    kept_figures = figures.kept() if figures else ()
    return Content("\n\n".join(parts), warnings=warnings, figures=kept_figures)


def paged(
    pages: Iterable[str], omissions: Omissions | None = None, figures: FigureNames | None = None
) -> Content:
    """Return the pages as one text, where each begins, and what was left out meanwhile.

    Raises InvalidInput when they are too long together.
    """
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for page in map(str.strip, _with_figures(pages, figures)):
        starts.append(length)
        if page:
            length = _longer(length, page)
            parts.append(page)
    text = "\n\n".join(parts)
    starts = [min(start, len(text)) for start in starts]
    return Content(
        text,
        tuple(starts),
        warnings=tuple(omissions.sentences()) if omissions else (),
        figures=figures.kept() if figures else (),
    )


def _with_figures(texts: Iterable[str], figures: FigureNames | None) -> Iterable[str]:
    """Return the texts with the figures named in them. Which pictures are figures is known once all
    are read.
    """
    return figures.named(list(texts)) if figures else texts


def _longer(length: int, block: str) -> int:
    """Return the length with this block and the blank line behind it."""
    if length + len(block) > MAX_TEXT:
        raise InvalidInput(f"gives more than {MAX_TEXT:,} characters of text: split it")
    return length + len(block) + 2
