"""Presentations to Markdown: slides with their titles, tables and notes. It runs in the sandbox
only.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, NamedTuple, cast
from xml.etree.ElementTree import Element, fromstring

from pptx.exc import PythonPptxError
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.shapes.picture import Movie, Picture
from pptx.slide import Slide
from pptx.text.text import TextFrame

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, paged
from runtime.parsing.drawings import alternative_text, chart_text, diagram_text, paragraphs
from runtime.parsing.figures import Figures, box_of, unkept
from runtime.parsing.office_parts import OfficeParts, attribute, local
from runtime.parsing.omissions import EMBEDDED, HIDDEN_SLIDE, MACROS, MEDIA, Omissions
from runtime.parsing.package import DAMAGE, check, damaged
from runtime.parsing.strict_office import transitional
from runtime.parsing.tables import cell, with_headers
from runtime.workarounds.python_pptx import opened_presentation

WHAT = "a presentation"


def text(data: bytes) -> Content:
    """Return the slides in their order; `pages` says where each begins. A hidden slide is read, and
    called hidden.

    Raises InvalidInput for a damaged file, a zip bomb and one without text.
    """
    check(data, WHAT)
    data = transitional(data)
    try:
        presentation: Any = opened_presentation(BytesIO(data))
        size = (int(presentation.slide_width or 0), int(presentation.slide_height or 0))
        omissions = Omissions()
        if OfficeParts(data).has_macros():
            omissions.note(MACROS)
        figures = Figures(omissions)
        texts = (
            _slide(slide, _Reading(number, omissions, figures, size))
            for number, slide in enumerate(presentation.slides, start=1)
        )
        content = paged(texts, omissions, figures)
    except (PythonPptxError, *DAMAGE):
        raise damaged(WHAT) from None
    if not content.text:
        raise InvalidInput("has no text in it (pictures only?): add the text as a file")
    return content


class _Reading(NamedTuple):
    """What a slide is read with: its number, and what pictures and omissions are noted in."""

    number: int
    omissions: Omissions
    figures: Figures
    size: tuple[int, int]
    """Width and height of a slide."""


def _slide(slide: Slide, reading: _Reading) -> str:
    """Return the text of a slide; empty when it has none, for its number alone says nothing."""
    title = slide.shapes.title
    head = " ".join(title.text_frame.text.split()) if title is not None else ""
    shapes = [shape for shape in slide.shapes if shape != title]
    blocks = [block for shape in shapes for block in _shape(shape, reading)]
    blocks += _of_newer_programs(slide)
    blocks += _comments(slide)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes and notes.text.strip():
        blocks.append(f"Notes: {_paragraphs(notes)}")
    if not head and not blocks:
        return ""
    is_hidden = slide.element.get("show") in {"0", "false"}
    reading.omissions.add(HIDDEN_SLIDE, int(is_hidden))
    hidden_note = " (hidden)" if is_hidden else ""
    return "\n\n".join(
        [f"## Slide {reading.number}{hidden_note}{': ' * bool(head)}{head}", *blocks]
    )


def _shape(shape: BaseShape, reading: _Reading) -> Iterator[str]:
    """Yield the texts of a shape, those of a group in their order."""
    if isinstance(shape, GroupShape):
        for inner in cast(Iterable[BaseShape], shape.shapes):
            yield from _shape(inner, reading)
    elif isinstance(shape, GraphicFrame):
        yield from _frame(shape, reading.omissions)
    elif isinstance(shape, Movie):
        reading.omissions.add(MEDIA)
    elif isinstance(shape, Picture):
        yield _picture(shape, reading)
    elif isinstance(shape, Shape) and (
        words := _paragraphs(shape.text_frame, is_listed=shape.is_placeholder)
    ):
        yield words


def _picture(shape: Picture, reading: _Reading) -> str:
    """Return what stands for a picture in the text."""
    words = alternative_text(_description(shape))
    try:
        data = shape.image.blob
    except (KeyError, ValueError):  # it is linked, or its part is missing
        return unkept(words, reading.omissions)
    width, height = reading.size
    edges = (shape.left, shape.top, shape.left + shape.width, shape.top + shape.height)
    box = box_of(edges, width, height)
    return reading.figures.place(data, words, reading.number, box)


def _frame(frame: GraphicFrame, omissions: Omissions) -> Iterator[str]:
    """Yield the table, the chart or the diagram in a frame; what is embedded otherwise is
    counted.
    """
    if frame.has_table:
        rows = [
            [cell(table_cell.text_frame.text) for table_cell in row.cells]
            for row in frame.table.rows
        ]
        if rows:
            yield from with_headers(rows)
        return
    if frame.has_chart:
        yield "\n\n".join(chart_text(_root(frame.chart_part.blob)))
        return
    ids = [attribute(element, "dm") for element in _tree(frame) if local(element) == "relIds"]
    if not ids:
        omissions.add(EMBEDDED)
    for id in ids:
        yield diagram_text(_root(frame.part.related_part(id).blob))


def _of_newer_programs(slide: Slide) -> Iterator[str]:
    """Yield the texts of shapes that are there in two ways, one of them for older programs; of each
    the first.
    """
    for element in _root(slide.part.blob).iter():
        if local(element) == "AlternateContent" and len(element) and local(element[0]) == "Choice":
            yield from filter(
                None, (paragraphs(body) for body in element[0].iter() if local(body) == "txBody")
            )


def _comments(slide: Slide) -> Iterator[str]:
    for relationship in slide.part.rels.values():
        if relationship.reltype.rpartition("/")[2] == "comments" and not relationship.is_external:
            for element in _root(relationship.target_part.blob).iter():
                words = (element.text or "").strip() if local(element) == "text" else ""
                words = paragraphs(element) if local(element) == "txBody" else words
                if words:
                    yield f"Comment: {words}"


def _description(shape: BaseShape) -> str:
    return next(
        (attribute(element, "descr") for element in _tree(shape) if local(element) == "cNvPr"), ""
    )


def _tree(shape: BaseShape) -> list[Element]:
    return list(_root(str(shape.element.xml)).iter())


def _root(blob: bytes | str) -> Element:
    return fromstring(blob)  # noqa: S314


def _paragraphs(frame: TextFrame, *, is_listed: bool = False) -> str:
    """Return the paragraphs, one a line: in the body of a slide (`is_listed`) a list, indented as
    there.
    """
    lines = [(paragraph.level, " ".join(paragraph.text.split())) for paragraph in frame.paragraphs]
    paragraphs = [(level, line) for level, line in lines if line]
    if not is_listed or len(paragraphs) < 2:
        return "\n".join(line for _, line in paragraphs)
    return "\n".join(f"{'  ' * level}- {line}" for level, line in paragraphs)
