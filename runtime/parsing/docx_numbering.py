"""Numbers that Word shows before paragraphs and headings, which stand nowhere as text: "Article
2.", "1(b)".
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from runtime.parsing.docx_styles import NumberedLevel
from runtime.parsing.office_parts import attribute, child, local, number

LEVELS = 9
MOST = 1_000_000
"""The highest number a list begins with."""

_PLACE = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_HIGHEST_ROMAN = 3999


class _Level(NamedTuple):
    start: int
    format: str
    text: str


class Numbering:
    """The lists of one document. The numbers go on from call to call."""

    def __init__(self, root: Element | None) -> None:
        elements = list(root) if root is not None else []
        abstract = {
            attribute(element, "abstractNumId"): dict(_levels(element))
            for element in elements
            if local(element) == "abstractNum"
        }
        self._lists = {
            attribute(element, "numId"): (
                attribute(child(element, "abstractNumId"), "val"),
                dict(_restarts(element)),
            )
            for element in elements
            if local(element) == "num"
        }
        self._levels = abstract
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * LEVELS)
        self._begun: set[NumberedLevel] = set()

    def mark(self, place: NumberedLevel) -> str:
        """Count one more paragraph there, and return what stands before it: a number, `-`, or
        nothing.
        """
        list_id, at = place
        if list_id not in self._lists:
            return ""
        abstract, restarts = self._lists[list_id]
        levels = self._levels.get(abstract, {})
        level = levels.get(at)
        if level is None or level.format == "none":
            return ""
        counts = self._counts[abstract]
        if place not in self._begun and at in restarts:
            counts[at] = restarts[at]
        else:
            counts[at] = counts[at] + 1 if counts[at] else level.start
        self._begun.add(place)
        counts[at + 1 :] = [0] * (LEVELS - at - 1)
        if level.format == "bullet":
            return "-"
        return _PLACE.sub(
            lambda match: _shown(levels, counts, int(match[1]) - 1), level.text
        ).strip()


def _levels(abstract: Element) -> Iterator[tuple[int, _Level]]:
    for element in abstract:
        if local(element) == "lvl":
            start = number(attribute(child(element, "start"), "val"), 1, MOST)
            kind = attribute(child(element, "numFmt"), "val", "decimal")
            text = attribute(child(element, "lvlText"), "val")
            yield number(attribute(element, "ilvl"), 0, LEVELS - 1), _Level(start, kind, text)


def _restarts(list_of: Element) -> Iterator[tuple[int, int]]:
    for element in list_of:
        start = (
            attribute(child(element, "startOverride"), "val")
            if local(element) == "lvlOverride"
            else ""
        )
        if start:
            yield number(attribute(element, "ilvl"), 0, LEVELS - 1), number(start, 1, MOST)


def _shown(levels: dict[int, _Level], counts: list[int], at: int) -> str:
    level = levels.get(at, _Level(1, "decimal", ""))
    return _formatted(counts[at] or level.start, level.format)


def _formatted(count: int, kind: str) -> str:
    if kind in ("lowerLetter", "upperLetter") and count > 0:
        letter = chr(ord("a") + (count - 1) % 26) * min(1 + (count - 1) // 26, 10)
        return letter.upper() if kind == "upperLetter" else letter
    if kind in ("lowerRoman", "upperRoman") and 0 < count <= _HIGHEST_ROMAN:
        roman = _roman(count)
        return roman.upper() if kind == "upperRoman" else roman
    return f"{count:02}" if kind == "decimalZero" else str(count)


def _roman(count: int) -> str:
    letters = ""
    for value, letter in _ROMAN:
        letters += letter * (count // value)
        count %= value
    return letters
