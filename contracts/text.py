"""What becomes of a text at the door: made printable, or refused."""

import html
import re

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(chr((plane << 16) + last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
"""Control characters except tab, line feed and carriage return; surrogates; Unicode non-characters."""

INLINE_LIMIT = 200 * 1024
"""Bytes of UTF-8 that may stand inside an event; a longer text goes to KB_BLOBS first."""


def sanitize(text: str) -> str:
    """Strip, unescape HTML entities, drop what no store or model can take, strip again."""
    return _FORBIDDEN.sub("", html.unescape(text.strip())).strip()


def encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    return text.encode("utf-8", "ignore").decode("utf-8")
