"""Styles of a Word document: which of them head a section, make a list, or number their
paragraphs.
"""

import re
from typing import NamedTuple
from xml.etree.ElementTree import Element

from runtime.parsing.office_parts import attribute, child, local, number

_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_DEEPEST = 50
"""Styles that one may be based on, one on the other."""


class NumberedLevel(NamedTuple):
    """The list a paragraph is in, and its level there."""

    list_id: str
    level: int


class Style(NamedTuple):
    """What a style makes of a paragraph. `heading`: 1 to 6, or 0."""

    heading: int = 0
    is_list: bool = False
    list_level: NumberedLevel | None = None


class Styles:
    """The styles of one document by their ids."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {
            attribute(style_element, "styleId"): style_element
            for style_element in (root if root is not None else ())
        }
        self._known: dict[str, Style] = {}

    def of(self, style_id: str) -> Style:
        """Return the style of this id; a plain one for an unknown id."""
        if style_id not in self._known:
            self._known[style_id] = self._style(style_id)
        return self._known[style_id]

    def _style(self, style_id: str) -> Style:
        """Combine the style with those it is based on; what is nearer counts."""
        heading = 0
        is_list = False
        level = None
        for _ in range(_DEEPEST):
            element = self._elements.get(style_id)
            if element is None or local(element) != "style":
                break
            name = attribute(child(element, "name"), "val")
            properties = child(element, "pPr")
            heading = heading or _heading(name, properties)
            is_list = is_list or name.lower().startswith("list")
            level = level or numbered_level(properties)
            style_id = attribute(child(element, "basedOn"), "val")
        return Style(heading, is_list, level)


def _heading(name: str, properties: Element | None) -> int:
    if match := _HEADING.match(name):
        return min(int(match[1]), 6)
    return 1 if name.lower() == "title" else outline_level(properties)


def outline_level(properties: Element | None) -> int:
    """Return the level of a heading that properties of a paragraph set, 1 to 6; 0 for text."""
    level = number(attribute(child(properties, "outlineLvl"), "val"), 9, 9)
    return min(level + 1, 6) if level < 9 else 0


def numbered_level(properties: Element | None) -> NumberedLevel | None:
    """Return the list and the level that properties of a paragraph set; None where they set
    none.
    """
    list_of = child(properties, "numPr")
    if list_of is None:
        return None
    list_id = attribute(child(list_of, "numId"), "val")
    return (
        NumberedLevel(list_id, number(attribute(child(list_of, "ilvl"), "val"), 0, 8))
        if list_id
        else None
    )
