"""Names and texts about things, made comparable: the same thing gets the same spelling, whoever
speaks of it.
"""

import re
import unicodedata

from contracts.spelling import one_spelling, readable
from contracts.text import sanitize

MAX_CHARACTERS = 256
MAX_BYTES = 512

KANA = r"\u3040-\u30ff"
HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Ranges of characters between which names and texts are stored without blanks. Never change them:
names in old logs were cleaned with them. Other rules use `offline/language/scripts.py`.
"""

_CJK = KANA + HAN
_TAGS = re.compile(r"</?(?:p|br)\s*/?>", re.IGNORECASE)
_FULL_WIDTH = re.compile(r"[Ａ-Ｚａ-ｚ０-９－＋／＊（）]")
_CJK_BLANK = re.compile(
    rf"(?<=[{_CJK}])\s+(?=[{_CJK}A-Za-z0-9()\[\]@#$%!&*\-=+_])|(?<=[A-Za-z0-9()\[\]@#$%!&*\-=+_])\s+(?=[{_CJK}])"
)
_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("《", "》"))
_OPENING = {opening for opening, _ in _QUOTES}
_ASCII_QUOTE_AT_CJK = re.compile(rf"['\"](?=[{_CJK}])|(?<=[{_CJK}])['\"]")


def clean_text(text: str) -> str:
    """Return a description or keyword as it is stored: printable, without markup, in half-width
    letters, unquoted.
    """
    text = readable(sanitize(text))
    if "<" in text:
        text = _TAGS.sub("", text)
    if not text.isascii():
        text = text.replace("—", "-").replace("\u3000", " ")
        text = _FULL_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = _CJK_BLANK.sub("", text)
    return _unquote(text).strip()


def clean_name(text: str) -> str:
    """Return an entity's name as it is stored; empty for what is no name. At most 256 characters
    and 512 bytes.
    """
    name = one_spelling(clean_text(one_spelling(text)))
    if not name.isascii():
        for quote in "“”‘’《》":
            name = name.replace(quote, "")
        name = _ASCII_QUOTE_AT_CJK.sub("", name)
    name = name.strip().strip('"').strip()
    if name.isdigit() and len(name) < 3:
        return ""
    if len(name) < 6 and "." in name and name.replace(".", "").isdigit():
        return ""
    return name[:MAX_CHARACTERS].encode()[:MAX_BYTES].decode("utf-8", "ignore").strip()


def fold(text: str) -> str:
    """Return a name or a passage for comparison: cleaned as a name is, without case, each run of
    blanks one.
    """
    text = one_spelling(text)
    for quote in "“”‘’《》\"'":
        text = text.replace(quote, "")
    return " ".join(unicodedata.normalize("NFKC", clean_text(text)).casefold().split())


def _unquote(text: str) -> str:
    """Remove one pair of outer quotes, unless others stand inside."""
    if text[:1] not in _OPENING:
        return text
    for opening, closing in _QUOTES:
        inner = text[1:-1]
        if (
            len(text) > 2
            and text[0] == opening
            and text[-1] == closing
            and opening not in inner
            and closing not in inner
        ):
            return inner.strip()
    return text
