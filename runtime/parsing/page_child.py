"""The child process that draws a page of a PDF.

`python -m runtime.parsing.page_child` reads a line of JSON (the number of the page, the passages to
be marked) and the file from standard input. It writes a line of JSON and the page as WebP: `count`,
how many pages there are, and `mark_top`, how far down the first mark begins as a share of the
height, null without a mark.
"""

import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import cast

import orjson
import pypdfium2
import pypdfium2.raw
from PIL import Image, ImageChops, ImageDraw

from runtime.errors import InvalidInput
from runtime.parsing.child import serve

LONGEST_SIDE = 1600
"""Pixels of a page: letters of 8 points on A4 are 15 high then."""

MAX_SCALE = 4
"""Pixels a point: what is small is not drawn larger."""

QUALITY = 85
MARK = (255, 226, 92)
"""The colour that the paper has below what is marked; letters keep theirs."""

FEWEST_LETTERS = 16
"""Of the part of a line that goes on from one page to the next; fewer stand there by chance."""

Box = tuple[float, float, float, float]
"""Left, lower, right and upper edge in points, from the lower left corner of the page."""


def main() -> None:
    """Entry point of the child."""
    serve(lambda: draw)


def draw(data: bytes) -> bytes:
    """Return the answer to an order. Raises InvalidInput for a file or a page that is not drawn."""
    line, _, file = data.partition(b"\n")
    order = orjson.loads(line)
    try:
        document = pypdfium2.PdfDocument(file)
        if order["number"] > len(document):
            raise InvalidInput(f"has {len(document):,} pages: there is no page {order['number']:,}")
        document.init_forms()
        image, mark_top = _marked_page(document[order["number"] - 1], order["passages"])
    except pypdfium2.PdfiumError as error:
        raise InvalidInput(f"the page cannot be drawn: {error}") from None
    output = io.BytesIO()
    image.save(output, "WEBP", quality=QUALITY)
    head = orjson.dumps({"count": len(document), "mark_top": mark_top})
    return head + b"\n" + output.getvalue()


def _marked_page(
    page: pypdfium2.PdfPage, passages: Sequence[str]
) -> tuple[Image.Image, float | None]:
    """Return the page as it is shown, and how far down the first mark on it begins."""
    scale = min(MAX_SCALE, LONGEST_SIDE / max(page.get_size()))
    bitmap = cast(pypdfium2.PdfBitmap, page.render(scale=scale))
    image = bitmap.to_pil().convert("RGB")
    boxes = _line_boxes(page.get_textpage(), passages)
    position = bitmap.get_posconv(page)
    paper = Image.new("RGB", image.size, "white")
    pencil = ImageDraw.Draw(paper)
    edges: list[int] = []
    for box in boxes:
        corners = [position.to_bitmap(*box[:2]), position.to_bitmap(*box[2:])]
        (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
        edges.append(y0)
        pencil.rectangle((x0 - 1, y0 - 1, x1 + 1, y1 + 1), fill=MARK)
    mark_top = max(0, min(edges)) / image.height if edges else None
    return ImageChops.multiply(image, paper), mark_top


def _line_boxes(layer: pypdfium2.PdfTextPage, passages: Sequence[str]) -> list[Box]:
    """Return a box around each line of the page that is of a passage."""
    count = layer.count_chars()
    letters = [
        (index, letter)
        for index in range(count)
        for letter in _folded(chr(pypdfium2.raw.FPDFText_GetUnicode(layer, index)))
    ]
    text = "".join(letter for _, letter in letters)
    parts = [part for passage in passages for part in found_parts(text, passage)]
    places = [index for start, end in parts for index, _ in letters[start:end]]
    boxes = [_char_box(layer, index) for index in dict.fromkeys(places)]
    lines: list[Box] = []
    for _, line in groupby(_with_line_numbers(boxes), key=lambda numbered: numbered[0]):
        edges = list(zip(*(box for _, box in line), strict=True))
        lines.append((min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3])))
    return lines


def _char_box(layer: pypdfium2.PdfTextPage, index: int) -> Box:
    """Return the box of a character, as high as its line."""
    return cast(Box, layer.get_charbox(index, loose=True))


def _with_line_numbers(boxes: Sequence[Box]) -> Iterator[tuple[int, Box]]:
    """Yield each character's box with the number of the line that it stands on: a new one begins
    where a character does not go on to the right.
    """
    number = 0
    previous_box: Box | None = None
    for box in boxes:
        if previous_box and _is_elsewhere(box, previous_box):
            number += 1
        yield number, box
        previous_box = box


def _is_elsewhere(box: Box, previous_box: Box) -> bool:
    """Return whether a character stands left of, above or below the one before it."""
    return box[0] < previous_box[0] or box[1] > previous_box[3] or box[3] < previous_box[1]


def found_parts(text: str, passage: str) -> list[tuple[int, int]]:
    """Return where in the folded text of a page stand the whole passage, or its lines and cells,
    or of a line that goes on from one page to the next the part that is on this one.
    """
    passage_part = _find(text, "".join(map(_folded, passage)), 0)
    if passage_part:
        return [passage_part]
    parts: list[tuple[int, int]] = []
    for piece in passage.replace("|", "\n").splitlines():
        letters = "".join(map(_folded, piece))
        part = _find(text, letters, parts[-1][1] if parts else 0) or _cut_by_page(text, letters)
        parts += [part] if part else []
    return parts


def _find(text: str, letters: str, start: int) -> tuple[int, int] | None:
    place = text.find(letters, start) if letters else -1
    return None if place < 0 else (place, place + len(letters))


def _cut_by_page(text: str, letters: str) -> tuple[int, int] | None:
    """Return the longest beginning of a line that the page has, else the longest end of it."""
    for size in range(len(letters) - 1, FEWEST_LETTERS - 1, -1):
        part = _find(text, letters[:size], 0) or _find(text, letters[-size:], 0)
        if part:
            return part
    return None


def _folded(character: str) -> str:
    """Return the letter or digit in lower case; what else there is between them differs between a
    page and the text made of it.
    """
    return character.lower() if character.isalnum() else ""


if __name__ == "__main__":
    main()
