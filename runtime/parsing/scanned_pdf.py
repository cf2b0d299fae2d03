"""PDF to text where pages without a text are recognized afterwards. It runs in the sandbox only."""

from typing import cast

import pypdfium2
from PIL import Image

from runtime.errors import InvalidInput
from runtime.parsing import pdf
from runtime.parsing.content import Content

MAX_SCALE = 300 / 72
"""Pixels a point: what is small is not drawn larger than a scanner makes it."""


def text(data: bytes) -> Content:
    """Return the text of the pages that have it, and the numbers of those that show something else.

    Raises InvalidInput as the parser of PDF does.
    """
    reading = pdf.read(data)
    unread = sorted({*reading.empty_pages, *reading.unreadable} - {*reading.blank})
    if not reading.content.text and not unread:
        raise InvalidInput(
            "has no text layer, and its pages show nothing: add a file with text on them"
        )
    return reading.content._replace(unread=tuple(unread))


def page_image(data: bytes, number: int, longest_side: int) -> Image.Image:
    """Return the page of that number as it is shown, at most this many pixels long."""
    document = pypdfium2.PdfDocument(data)
    page = document[number - 1]
    scale = min(MAX_SCALE, longest_side / max(page.get_size()))
    try:
        bitmap = cast(pypdfium2.PdfBitmap, page.render(scale=cast("int", scale)))
        return bitmap.to_pil().convert("RGB")
    except pypdfium2.PdfiumError as error:
        raise InvalidInput(f"it cannot be drawn: {error}") from None
