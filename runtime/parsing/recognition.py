"""Text recognition: whether it is installed, and how much of it one file may take."""

from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

EXTRA = "lightstream-rag[ocr]"


class RecognitionLimits(NamedTuple):
    """`pages`: how many of a file are recognized, 0 for none; `seconds`: how long one may take."""

    pages: int = 200
    seconds: float = 300.0

    @property
    def allows_any(self) -> bool:
        """Return whether pages are recognized here."""
        return self.pages > 0 and is_installed()


USUAL_LIMITS = RecognitionLimits()


def way_out() -> str:
    """Return what to do about a page that is a picture and was not read."""
    if is_installed():
        return "add it as a file of its own, with OCR_MAX_PAGES above 0"
    return (
        f"install {EXTRA} where files are read, or run text recognition over it and save the "
        "result as .pdf or .txt"
    )


@cache
def is_installed() -> bool:
    """Return whether the packages are there that recognize text."""
    return all(find_spec(name) for name in ("rapidocr", "onnxruntime"))
