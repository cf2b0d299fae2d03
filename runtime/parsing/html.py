"""HTML to Markdown: headings, lists and tables stay; scripts, styles and pictures go."""

import re
from html import escape, unescape

from html_to_markdown import ConversionOptions, convert
from html_to_markdown.exceptions import ConversionError

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.definition_lists import definitions_as_markdown, mark_definitions
from runtime.parsing.drawings import alternative_text
from runtime.parsing.omissions import EMBEDDED, MEDIA, PICTURE, Omission, Omissions

HIDDEN = Omission(
    "1 part that browsers do not show was left out",
    "{} parts that browsers do not show were left out",
)

_PICTURE = re.compile(r"<img\b((?>[^>\"']|\"[^\"]*\"|'[^']*')*+)>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_TEMPLATE = re.compile(r"<template\b.*?</template\s*>", re.IGNORECASE | re.DOTALL)
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
    return joined([page_text(source, omissions)], omissions)


def page_text(source: str, omissions: Omissions) -> str:
    """Return the text of a page, empty without any; of pictures what is said for those who do not
    see them.

    Raises InvalidInput when it cannot be read.
    """

    def described(match: re.Match[str]) -> str:
        omissions.add(PICTURE)
        match_of_text = _ALTERNATIVE.search(match[1])
        words = (
            alternative_text(unescape(match_of_text[1] or match_of_text[2] or ""))
            if match_of_text
            else ""
        )
        return escape(f"[Picture: {words}]") if words else ""

    for kind, pattern in _COUNTED.items():
        omissions.add(kind, sum(1 for _ in pattern.finditer(source)))
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
