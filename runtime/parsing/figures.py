"""Pictures of a file that are kept as figures of its document: which of them, and how the text
names them.

It runs in the sandbox only: pictures are opened here to see that they are what they say.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from PIL import Image

from contracts.values import MAX_CAPTION, MAX_FIGURES, figure_label
from runtime.parsing.content import MAX_FIGURE_BYTES, MAX_FIGURES_BYTES, Box, FigureFile
from runtime.parsing.omissions import PICTURE, Omission, Omissions, left_out

MIN_SIDE = 64
"""Pixels that both sides of a figure have at least: smaller ones are rules, bullets and icons."""

LOGO_PLACES = 3
"""A picture that stands in so many places is a logo or a background."""

MAX_PIXELS = 30_000_000
MAX_WRITTEN_PIXELS = 120_000_000
"""Of one picture, and of all that are written anew: that takes about a second for ten millions."""

LONGEST_SIDE = 2400
"""Pixels of a picture that is written anew, because of its format or its size."""

_READ_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "JPEG2000")
KEPT_FORMATS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}
"""Formats that browsers show and that hold no script; others are written anew as PNG."""

SMALL = left_out("picture", "pictures", f"smaller than {MIN_SIDE} pixels")
REPEATED = left_out("picture", "pictures", "the same in several places, as a logo is")
SURPLUS = left_out(
    "picture",
    "pictures",
    f"at most {MAX_FIGURES} of a document are kept, of {MAX_FIGURES_BYTES // 2**20} MB together",
)

_MARK = re.compile("\U000f0f16(\\d{1,6})\U000f0f17")
"""What stands for the place of that number in a text; see `_mark`."""

_NAME = re.compile(r"\[Figure (\d{1,3})(?:: ([^\]]*))?\]")
"""How a text names a figure."""

_BLANK_LINES = re.compile(r"\n{3,}")
_CAPTION = re.compile(
    r"\s*((?:fig(?:ure|\.|ura)?|abb(?:ildung|\.)|图|圖|図|рис(?:унок|\.))\s*\d[^\n]{0,600})",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("[]", "()")


class _Place(NamedTuple):
    """Where a picture stands in the text: the picture by its hash, and what the file says of it."""

    sha256: str
    alternative: str


class Figures:
    """Collects the pictures of one file. Where a parser comes upon one, it writes what `place`
    returns into its text.
    """

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._places: list[_Place] = []
        self._pictures: dict[str, FigureFile] = {}
        self._kept: list[FigureFile] = []
        self._bytes = 0
        self._pixels = 0

    def place(
        self, data: bytes, alternative: str = "", page: int | None = None, box: Box | None = None
    ) -> str:
        """Return what stands for the picture in the text, until `named` names it.

        A picture that cannot be a figure is counted, and its alternative text stands there.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 not in self._pictures:
            picture = self._picture(data)
            if not isinstance(picture, FigureFile):
                return unkept(alternative, self._omissions, picture)
            self._bytes += len(picture.data)
            self._pictures[sha256] = picture._replace(page=page, box=box)
        self._places.append(_Place(sha256, alternative))
        return _mark(len(self._places) - 1)

    def merged(self, text: str, figures: Sequence[FigureFile]) -> str:
        """Return the text of a file inside of this one, which names its own figures, with what
        stands for them here.
        """

        def place(match: re.Match[str]) -> str:
            number = int(match[1])
            if not 0 < number <= len(figures):
                return match[0]
            figure = figures[number - 1]
            return self.place(figure.data, match[2] or figure.caption, figure.page, figure.box)

        return _NAME.sub(place, text) if figures else text

    def may_write(self, pixels: int) -> bool:
        """Return whether a picture of so many pixels may be written anew, and count it."""
        self._pixels += pixels
        return pixels <= MAX_PIXELS and self._pixels <= MAX_WRITTEN_PIXELS

    def _picture(self, data: bytes) -> FigureFile | Omission:
        """Return the picture in a form that browsers show, or why it is left out."""
        if self._bytes > 2 * MAX_FIGURES_BYTES or len(self._pictures) > 4 * MAX_FIGURES:
            return SURPLUS
        try:
            with Image.open(BytesIO(data), formats=_READ_FORMATS) as image:
                width, height = image.size
                if min(width, height) < MIN_SIDE:
                    return SMALL
                media_type = KEPT_FORMATS.get(image.format or "")
                if media_type and len(data) <= MAX_FIGURE_BYTES and image.mode != "CMYK":
                    image.verify()
                    return FigureFile(data, media_type, width, height)
                if not self.may_write(width * height):
                    return SURPLUS
                return _written_anew(image) or SURPLUS
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return PICTURE

    def named(self, texts: Sequence[str]) -> list[str]:
        """Return the texts with the names of the figures in their places, numbered in their order.

        Pictures that stand in many places, and those beyond the limits, are counted as left out.
        """
        indexes = [int(index) for text in texts for index in _MARK.findall(text)]
        places = [self._places[index] for index in indexes if index < len(self._places)]
        counts = Counter(place.sha256 for place in places)
        numbers: dict[str, int] = {}
        captions = {
            sha256: self._caption(sha256, texts)
            for sha256, count in counts.items()
            if count < LOGO_PLACES
        }
        size = 0
        for sha256 in counts:
            picture = self._pictures[sha256]
            if sha256 not in captions:
                self._omissions.add(REPEATED, counts[sha256])
            elif len(numbers) >= MAX_FIGURES or size + len(picture.data) > MAX_FIGURES_BYTES:
                self._omissions.add(SURPLUS)
            else:
                size += len(picture.data)
                self._kept.append(picture._replace(caption=captions[sha256]))
                numbers[sha256] = len(self._kept)

        def name(match: re.Match[str]) -> str:
            if int(match[1]) >= len(self._places):
                return ""
            place = self._places[int(match[1])]
            if number := numbers.get(place.sha256):
                return figure_label(number, _short(place.alternative))
            return f"[Picture: {place.alternative}]" if place.alternative else ""

        return [
            _BLANK_LINES.sub("\n\n", _MARK.sub(name, text)).strip() if _MARK.search(text) else text
            for text in texts
        ]

    def kept(self) -> tuple[FigureFile, ...]:
        """Return the figures, in the order of their numbers, once they are named."""
        return tuple(self._kept)

    def _caption(self, sha256: str, texts: Sequence[str]) -> str:
        """Return the alternative text of a picture, else the line beside it that is a caption."""
        places = [at for at, place in enumerate(self._places) if place.sha256 == sha256]
        alternatives = (self._places[at].alternative for at in places)
        if alternative := next(filter(None, alternatives), ""):
            return _short(alternative)
        text = "\n\n".join(texts)
        text_before, _, text_after = text.partition(_mark(places[0]))
        line_before = text_before.rstrip().rpartition("\n")[2]
        match = _CAPTION.match(text_after) or _CAPTION.fullmatch(line_before)
        return _short(_MARK.sub("", match[1])) if match else ""


def unkept(alternative: str, omissions: Omissions, omission: Omission = PICTURE) -> str:
    """Count a picture that is not kept, and return what stands for it in the text."""
    omissions.add(omission)
    return f"[Picture: {alternative}]" if alternative else ""


def box_of(edges: Box, width: float, height: float) -> Box | None:
    """Return the edges as shares of a page that is this large, cut to it; None for what is no
    rectangle there.
    """
    if width <= 0 or height <= 0:
        return None
    sizes = (width, height, width, height)
    left_edge, top, right_edge, bottom = (
        round(min(1.0, max(0.0, edge / size)), 4) for edge, size in zip(edges, sizes, strict=True)
    )
    is_rectangle = left_edge < right_edge and top < bottom
    return (left_edge, top, right_edge, bottom) if is_rectangle else None


def is_picture(data: bytes) -> bool:
    """Return whether the bytes begin as a picture of a form that is read."""
    try:
        with Image.open(BytesIO(data), formats=_READ_FORMATS):
            return True
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False


def _mark(place: int) -> str:
    return f"\U000f0f16{place}\U000f0f17"


def _short(caption: str) -> str:
    line = " ".join(caption.translate(_BRACKETS).split())
    return line if len(line) <= MAX_CAPTION else line[: MAX_CAPTION - 1] + "…"


def _written_anew(image: Image.Image) -> FigureFile | None:
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    output = BytesIO()
    if image.mode not in ("1", "L", "P", "RGB", "RGBA"):
        image = image.convert("RGB")
    image.save(output, "PNG")
    media_type = "image/png"
    if output.tell() > MAX_FIGURE_BYTES:
        output = BytesIO()
        image.convert("RGB").save(output, "JPEG", quality=85)
        media_type = "image/jpeg"
    data = output.getvalue()
    is_small_enough = len(data) <= MAX_FIGURE_BYTES
    return FigureFile(data, media_type, *image.size) if is_small_enough else None
