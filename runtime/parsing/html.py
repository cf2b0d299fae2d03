"""HTML to Markdown: headings, lists and tables stay, pictures become figures; scripts and styles
go.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import unquote

from html_to_markdown import ConversionOptions, convert
from html_to_markdown.exceptions import ConversionError

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.definition_lists import definitions_as_markdown, mark_definitions
from runtime.parsing.drawings import alternative_text
from runtime.parsing.figures import Figures, unkept
from runtime.parsing.omissions import EMBEDDED, MEDIA, PICTURE, Omission, Omissions

HIDDEN = Omission(
    "1 part that browsers do not show was left out",
    "{} parts that browsers do not show were left out",
)

_PICTURE = re.compile(r"<img\b((?>[^>\"']|\"[^\"]*\"|'[^']*')*+)>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_ADDRESS = re.compile(r"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_DATA = re.compile(r"\s*data:image/[\w.+-]{1,40}(?:;[^,;]{0,60}){0,3};base64,", re.IGNORECASE)
_TEMPLATE = re.compile(r"<template\b.*?</template\s*>", re.IGNORECASE | re.DOTALL)
_ANCHOR = re.compile(r"<a\b[^<>]*+>\s*+(?:¶|&para;|&#182;|#|🔗)\s*+</a\s*+>", re.IGNORECASE)
"""A link of a heading to itself, which readers see beside its words."""
_STYLE_END = re.compile("</style", re.IGNORECASE)
_SCRIPT_END = re.compile("</script", re.IGNORECASE)
_OPEN_RULES = re.compile(
    r"<style\b[^<>]*+>(?:[^{}<]*+\{(?:[^{}<]*+\{[^{}<]*+\})*+[^{}<]*+\})*+", re.IGNORECASE
)
"""The rules of a style whose end is missing, which the converter would take for text."""
_OPEN_SCRIPT = re.compile(r"<script\b[^<>]*+>[^<]*+(?:<(?![a-z!/])[^<]*+)*+", re.IGNORECASE)
_COUNTED = {
    MEDIA: re.compile(r"<(?:video|audio)\b", re.IGNORECASE),
    EMBEDDED: re.compile(r"<(?:iframe|object|embed)\b", re.IGNORECASE),
    PICTURE: re.compile(r"<(?:svg|canvas)\b", re.IGNORECASE),
    HIDDEN: re.compile(
        r"<(?:noscript\b|[a-z][a-z0-9]{0,20}\s(?:[^<>]{0,2000}\s)?(?:hidden(?=[\s>=/])|style\s*=[^<>]{0,500}display\s*:\s*none))",
        re.IGNORECASE,
    ),
}


def text(source: str) -> Content:
    """Return the page's text. Raises InvalidInput when it cannot be read."""
    omissions = Omissions()
    figures = Figures(omissions)
    text = page_text(source, omissions, Pictures(figures, data_of_address))
    return joined([text], omissions, figures)


class Pictures(NamedTuple):
    """How the pictures of a page become figures: `read` returns the bytes at the address of one,
    empty where it is elsewhere.
    """

    figures: Figures
    read: Callable[[str], bytes]


def page_text(source: str, omissions: Omissions, pictures: Pictures | None = None) -> str:
    """Return the text of a page, empty without any; of pictures what is said for those who do not
    see them, and the marks of those that may be figures.

    Raises InvalidInput when it cannot be read.
    """

    def described(match: re.Match[str]) -> str:
        words = alternative_text(_value(_ALTERNATIVE, match[1]))
        data = pictures.read(_value(_ADDRESS, match[1])) if pictures else b""
        if pictures and data:
            return escape(pictures.figures.place(data, words))
        return escape(unkept(words, omissions))

    for kind, pattern in _COUNTED.items():
        omissions.add(kind, sum(1 for _ in pattern.finditer(source)))
    source = _without_open_code(_ANCHOR.sub("", source))
    source, templates = _TEMPLATE.subn("", source)
    omissions.add(HIDDEN, templates)
    source = mark_definitions(_PICTURE.sub(described, source))
    try:
        markdown = (
            convert(source, ConversionOptions(extract_metadata=False, skip_images=True)).content
            or ""
        )
    except ConversionError as error:
        raise InvalidInput(f"not readable as HTML: {error}: save it anew in a browser") from None
    return definitions_as_markdown(markdown).strip()


def _without_open_code(source: str) -> str:
    """Return a page without the styles and scripts behind its last end of one, as a page that is
    cut or broken has them.
    """
    for end_tag, pattern in ((_STYLE_END, _OPEN_RULES), (_SCRIPT_END, _OPEN_SCRIPT)):
        end = max((match.end() for match in end_tag.finditer(source)), default=0)
        source = source[:end] + pattern.sub("", source[end:])
    return source


def data_of_address(address: str) -> bytes:
    """Return the picture that an address itself holds (`data:image/png;base64,…`); empty for any
    other.
    """
    match = _DATA.match(address)
    if not match:
        return b""
    try:
        return b64decode(unquote(address[match.end() :]))
    except ValueError:
        return b""


def _value(attribute: re.Pattern[str], attributes: str) -> str:
    match = attribute.search(attributes)
    return unescape(match[1] or match[2] or "") if match else ""
