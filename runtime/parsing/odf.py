"""OpenDocument files: what texts, sheets and presentations have in common when they are opened."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from runtime.errors import InvalidInput
from runtime.parsing.figures import Figures
from runtime.parsing.odf_story import OdfStory, hidden_styles
from runtime.parsing.office_parts import OfficeParts, child, descendants, local
from runtime.parsing.omissions import MACROS, Omissions
from runtime.parsing.package import PROTECTED, check, damaged

_PLACES_OF_HEADERS = (
    "header",
    "header-first",
    "header-left",
    "footer",
    "footer-first",
    "footer-left",
)


class OdfDocument(NamedTuple):
    """An OpenDocument file: its body, its styles (None without any), and the names of styles that
    hide.
    """

    body: Element
    styles: Element | None
    hidden_style_names: frozenset[str]
    story: OdfStory


def opened(
    data: bytes, kind: str, kind_name: str, omissions: Omissions, figures: Figures | None = None
) -> OdfDocument:
    """Return the document if its body is of the kind, as `text`; `kind_name` names the kind to
    people. Its pictures go into `figures`.

    Raises InvalidInput for a damaged or protected file, another kind and a zip bomb.
    """
    check(data, kind_name)
    parts = OfficeParts(data)
    if parts.has_macros():
        omissions.note(MACROS)
    manifest = part_or_none(parts, "META-INF/manifest.xml")
    if manifest is not None and next(descendants(manifest, "encryption-data"), None) is not None:
        raise InvalidInput(PROTECTED)
    content = part_or_none(parts, "content.xml")
    styles = part_or_none(parts, "styles.xml")
    body = child(content, "body", kind)
    if body is None:
        raise damaged(kind_name)
    hidden_style_names = hidden_styles(content, styles)
    story = OdfStory(parts, omissions, hidden_style_names, figures)
    return OdfDocument(body, styles, hidden_style_names, story)


def part_or_none(parts: OfficeParts, path: str) -> Element | None:
    """Return the root of a part; None without such a part."""
    try:
        return parts.xml(path)
    except KeyError:
        return None


def headers_and_footers(document: OdfDocument) -> Iterator[str]:
    """Yield the headers and footers that have letters in them, each once."""
    seen_words: set[str] = set()
    masters = child(document.styles, "master-styles")
    for element in masters.iter() if masters is not None else ():
        if local(element) in _PLACES_OF_HEADERS:
            words = document.story.on_one_line(element)
            if words not in seen_words and any(map(str.isalpha, words)):
                seen_words.add(words)
                yield f"{local(element).partition('-')[0].capitalize()}: {words}"
