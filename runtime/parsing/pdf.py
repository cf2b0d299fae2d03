"""PDF to text, page by page. It runs in the sandbox only: pdfium is not thread-safe, and no file is
above suspicion.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, cast

import pypdfium2

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, paged
from runtime.parsing.figures import Figures
from runtime.parsing.omissions import Omissions
from runtime.parsing.pdf_annotations import Annotations
from runtime.parsing.pdf_figures import with_figures
from runtime.parsing.pdf_fonts import is_language, unreadable_share
from runtime.parsing.pdf_tables import PdfTables
from runtime.parsing.recognition import way_out

MAX_PAGES = 10_000

MOST_UNREADABLE = 0.2
"""Share of the characters of a page without a meaning in Unicode with which the page is left
out.
"""

FEWEST_SHAPES = 20
"""Of a page without a picture that may be letters; fewer are rules and backgrounds."""


class Reading(NamedTuple):
    """What was read of a document, and the numbers of the pages that gave no text: those without
    one, those whose fonts do not say which letters they draw, and of the first those that show
    nothing.
    """

    content: Content
    empty_pages: Sequence[int]
    unreadable: Sequence[int]
    blank: Sequence[int]


def text(data: bytes) -> Content:
    """Return the text layer, filled form fields and notes, with where pages begin.

    Raises InvalidInput for a protected or damaged file, and for one without a text that can be
    read.
    """
    reading = read(data)
    content = reading.content
    if not content.text and reading.unreadable:
        raise InvalidInput(f"has fonts that do not say which letters they draw: {way_out()}")
    if not content.text:
        raise InvalidInput(f"has no text layer (a scan?): {way_out()}")
    return content._replace(warnings=(*_left_out_pages(reading), *content.warnings))


def read(data: bytes) -> Reading:
    """Return the text, and which pages have none. Raises InvalidInput for a protected or damaged
    file.
    """
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise InvalidInput("protected by a password: save it without one first") from None
        raise InvalidInput("damaged, or not a PDF: open it in a viewer and save it anew") from None
    reader = _Reader(document)
    try:
        if len(document) > MAX_PAGES:
            raise InvalidInput(
                f"has {len(document):,} pages, at most {MAX_PAGES:,} are read: split it"
            )
        document.init_forms()
        content = paged(reader.pages(), figures=reader.figures)
    except pypdfium2.PdfiumError as error:
        raise InvalidInput(f"damaged: {error}: open it in a viewer and save it anew") from None
    finally:
        document.close()
    content = content._replace(warnings=tuple(reader.omissions.sentences()))
    return Reading(content, reader.empty, reader.unreadable, reader.blank)


class _Reader:
    """Reads the pages of a document, and keeps the numbers of those that give no text."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        self._document = document
        self.omissions = Omissions()
        self.figures = Figures(self.omissions)
        self._tables = PdfTables(self.omissions)
        self.empty: list[int] = []
        self.blank: list[int] = []
        self.unreadable: list[int] = []

    def pages(self) -> Iterator[str]:
        """Yield the text of each page."""
        for number in range(len(self._document)):
            page = self._document[number]
            try:
                yield self._page(page, number + 1)
            finally:
                page.close()

    def _page(self, page: pypdfium2.PdfPage, number: int) -> str:
        layer = page.get_textpage()
        try:
            words = self._tables.page_text(page, layer, number)
            is_unreadable = unreadable_share(layer) > MOST_UNREADABLE and not is_language(words)
            words = "" if is_unreadable else words
            if words.strip():
                words = with_figures(words, page, number, layer, self.figures, self.omissions)
        finally:
            layer.close()
        annotations = Annotations(self._document, page, self.omissions).lines()
        if is_unreadable:
            self.unreadable.append(number)
        elif not words.strip() and not annotations:
            self.empty.append(number)
            if not _shows_something(page):
                self.blank.append(number)
        return "\n\n".join(filter(None, [words.strip(), "\n".join(annotations)]))


def _shows_something(page: pypdfium2.PdfPage) -> bool:
    """Return whether the page has a picture, or so many shapes that they may be letters."""
    objects = cast("Iterator[object]", page.get_objects(max_depth=2))
    shapes = list(islice(objects, FEWEST_SHAPES))
    return len(shapes) == FEWEST_SHAPES or any(
        isinstance(shape, pypdfium2.PdfImage) for shape in shapes
    )


def _left_out_pages(reading: Reading) -> Iterator[str]:
    """Yield which pages were left out, in sentences."""
    empty_pages, unreadable = reading.empty_pages, reading.unreadable
    if empty_pages:
        numbers, were = _pages(empty_pages), _were(empty_pages)
        yield f"{numbers} no text layer (scanned?) and {were} left out: {way_out()}"
    if unreadable:
        fonts = "fonts that do not say which letters they draw"
        yield f"{_pages(unreadable)} {fonts}: the text there was left out, {way_out()}"


def _pages(numbers: Sequence[int]) -> str:
    """Return `page 3 has` or `pages 1, 3 and 5 have`."""
    if len(numbers) == 1:
        return f"page {numbers[0]} has"
    shown_numbers = [str(number) for number in numbers[:20]]
    remainder = (
        f"{len(numbers) - len(shown_numbers)} more"
        if len(numbers) > len(shown_numbers)
        else shown_numbers.pop()
    )
    return f"pages {', '.join(shown_numbers)} and {remainder} have"


def _were(numbers: Sequence[int]) -> str:
    return "was" if len(numbers) == 1 else "were"
