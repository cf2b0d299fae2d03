"""Pictures as documents: a photograph or a scan, or the pages of a TIFF. It runs in the sandbox
only.
"""

from io import BytesIO

from PIL import Image, ImageOps

from runtime.errors import InvalidInput
from runtime.parsing.content import Content

MAX_PIXELS = 60_000_000
"""Of one picture: a page of A4 in 600 dots an inch has 35 millions."""

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")


def text(data: bytes) -> Content:
    """Return which pages there are to be recognized. Raises InvalidInput for what is no picture."""
    with _opened(data) as image:
        count = getattr(image, "n_frames", 1)
    return Content("", unread=tuple(range(1, count + 1)))


def page_image(data: bytes, number: int, longest_side: int) -> Image.Image:
    """Return the picture of that number, upright and in colours, at most this many pixels long.

    Raises InvalidInput for one that is damaged or too large.
    """
    with _opened(data) as image:
        try:
            image.seek(number - 1)
            width, height = image.size
            if width * height > MAX_PIXELS:
                raise InvalidInput(
                    f"has {width * height / 1e6:.0f} million pixels, at most "
                    f"{MAX_PIXELS / 1e6:.0f} are read: save it smaller"
                )
            image.draft("RGB", (longest_side, longest_side))
            upright = ImageOps.exif_transpose(image)
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise _damaged(error) from None
    if upright.mode in ("RGBA", "LA", "PA", "P"):
        upright = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright)
    upright = upright.convert("RGB")
    upright.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
    return upright


def _opened(data: bytes) -> Image.Image:
    try:
        return Image.open(BytesIO(data), formats=_FORMATS)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise _damaged(error) from None


def _damaged(error: Exception) -> InvalidInput:
    reason = "" if "cannot identify" in str(error) else f" ({error})"
    return InvalidInput(
        f"damaged, or no PNG, JPEG, TIFF or WebP{reason}: open it in a viewer and save it anew"
    )
