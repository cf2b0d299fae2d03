"""The pictures of a PDF page as figures. It runs in the sandbox only."""

from collections.abc import Iterator
from io import BytesIO
from typing import cast

import pypdfium2

from runtime.parsing.figures import MIN_SIDE, Figures, box_of, unkept
from runtime.parsing.omissions import Omissions

MOST_OF_PAGE = 0.8
"""Share of a page that a picture behind a text covers at least: the scan that the text was read
from, or a background.
"""


def with_figures(
    words: str,
    page: pypdfium2.PdfPage,
    number: int,
    layer: pypdfium2.PdfTextPage,
    figures: Figures,
    omissions: Omissions,
) -> str:
    """Return the text of the page with a mark for each picture that may be a figure: above the
    first line below it, else at the end.
    """
    images = [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
    for image in cast("Iterator[pypdfium2.PdfImage]", page.get_objects(filter=images, max_depth=2)):
        left_edge, bottom, right_edge, top = image.get_bounds()
        width, height = page.get_size()
        box = box_of((left_edge, height - top, right_edge, height - bottom), width, height)
        is_background = box is None or (box[2] - box[0]) * (box[3] - box[1]) > MOST_OF_PAGE
        data = b"" if is_background else _content(image, figures)
        if not data:
            unkept("", omissions)
            continue
        name = figures.place(data, page=number, box=box)
        line = _line_below(layer, (left_edge, right_edge), bottom)
        at = words.find(line) if line and words.count(line) == 1 else len(words)
        words = f"{words[:at].rstrip()}\n\n{name}\n\n{words[at:].lstrip()}" if name else words
    return words


def _content(image: pypdfium2.PdfImage, figures: Figures) -> bytes:
    """Return the picture as a file; empty for one that is too small, too large or damaged."""
    try:
        if image.get_filters() == ["DCTDecode"]:
            return bytes(image.get_data(decode_simple=False))
        width, height = image.get_px_size()
        if min(width, height) < MIN_SIDE or not figures.may_write(width * height):
            return b""
        output = BytesIO()
        image.get_bitmap(render=True).to_pil().save(output, "PNG")
        return output.getvalue()
    except (pypdfium2.PdfiumError, OSError, ValueError):
        return b""


def _line_below(layer: pypdfium2.PdfTextPage, edges: tuple[float, float], bottom: float) -> str:
    """Return the first line of text below a picture, between its left and right edge."""
    text = layer.get_text_bounded(left=edges[0], right=edges[1], top=bottom)
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
