"""What a sheet of a workbook has beside values: merged cells, hidden rows and columns, formulas
nobody computed.
"""

import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.utils.cell import coordinate_to_tuple, range_boundaries

from runtime.parsing.office_parts import attribute, child, local

MAX_MERGED = 200_000
"""Cells that merged ranges fill at most."""

Place = tuple[int, int]
"""Row and column of a cell, counted from 1."""


@dataclass
class SheetExtras:
    """What one sheet has beside its values."""

    merged_cells: dict[Place, Place] = field(default_factory=dict[Place, Place])
    """A cell that a merged range covers → the first cell of the range."""
    formulas: dict[Place, str] = field(default_factory=dict[Place, str])
    """Formulas without a value in the file."""
    hidden_rows: int = 0
    hidden_columns: int = 0
    drawings: int = 0


def sheet_extras(archive: zipfile.ZipFile, path: str) -> SheetExtras:
    """Read the part of a sheet once, without keeping it. `path` is that of the part in the
    archive.
    """
    extras = SheetExtras()
    shared_formulas: dict[str, tuple[str, str]] = {}
    with archive.open(path.lstrip("/")) as file:
        # `check` let no document type pass, so no entity.
        for _, element in ElementTree.iterparse(file):  # noqa: S314
            name = local(element)
            if name == "c":
                _formula(element, extras, shared_formulas)
                element.clear()
            elif name == "row":
                extras.hidden_rows += attribute(element, "hidden") in ("1", "true")
                element.clear()
            elif name == "col" and attribute(element, "hidden") in ("1", "true"):
                extras.hidden_columns += _columns(
                    attribute(element, "min"), attribute(element, "max")
                )
            elif name == "mergeCell":
                extras.merged_cells.update(
                    _covered(attribute(element, "ref"), MAX_MERGED - len(extras.merged_cells))
                )
            elif name == "drawing":
                extras.drawings += 1
    return extras


def comments_of(archive: zipfile.ZipFile, path: str) -> dict[Place, str]:
    """Return the comments of a part of comments by their cells."""
    comments: dict[Place, list[str]] = defaultdict(list)
    root = ElementTree.fromstring(archive.read(path))  # noqa: S314
    for element in root.iter():
        if local(element) in ("comment", "threadedComment") and (
            reference := attribute(element, "ref")
        ):
            words = "".join(
                text_element.text or ""
                for text_element in element.iter()
                if local(text_element) in ("t", "text")
            )
            comments[coordinate_to_tuple(reference)].append(" ".join(words.split()))
    return {
        place: " ".join(filter(None, dict.fromkeys(words))) for place, words in comments.items()
    }


def _formula(
    cell: ElementTree.Element, extras: SheetExtras, shared_formulas: dict[str, tuple[str, str]]
) -> None:
    formula = child(cell, "f")
    reference = attribute(cell, "r")
    if formula is None or not reference:
        return
    group = attribute(formula, "si")
    words = formula.text or ""
    if group and words:
        shared_formulas[group] = (words, reference)
    value = child(cell, "v")
    if value is not None and value.text:
        return
    if not words and group in shared_formulas:
        words = _translated(*shared_formulas[group], reference)
    if words:
        extras.formulas[coordinate_to_tuple(reference)] = f"={words.lstrip('=')}"


def _translated(formula: str, origin: str, place: str) -> str:
    try:
        translator: Any = Translator(f"={formula}", origin=origin)
        return str(translator.translate_formula(place))
    except TranslatorError:
        return formula


def _columns(first: str, last_number: str) -> int:
    return int(last_number) - int(first) + 1 if first.isdecimal() and last_number.isdecimal() else 0


def _covered(reference: str, max_places: int) -> Iterator[tuple[Place, Place]]:
    left_column, top, right_column, bottom = range_boundaries(reference)
    if None in (left_column, top, right_column, bottom):
        return
    places = (
        (row, column)
        for row in range(top or 1, (bottom or 1) + 1)
        for column in range(left_column or 1, (right_column or 1) + 1)
    )
    for _, place in zip(range(max_places), places, strict=False):
        if place != (top, left_column):
            yield place, (top or 1, left_column or 1)
