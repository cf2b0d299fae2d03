"""Presentations to Markdown: slides with their titles, tables and notes. It runs in the sandbox only."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import cast

from pptx import Presentation
from pptx.exc import PythonPptxError
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.text.text import TextFrame

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, paged
from runtime.parsing.package import DAMAGE, check, damaged
from runtime.parsing.tables import cell, markdown

WHAT = "a presentation"


def text(data: bytes) -> Content:
    """Return the slides in their order; `pages` says where each begins. A hidden slide is read, and called hidden.

    Raises InvalidInput for a damaged file, a zip bomb and one without text.
    """
    check(data, WHAT)
    try:
        slides = Presentation(BytesIO(data)).slides
        content = paged(_slide(number, slide) for number, slide in enumerate(slides, start=1))
    except (PythonPptxError, *DAMAGE):
        raise damaged(WHAT) from None
    if not content.text:
        raise InvalidInput("has no text in it (pictures only?): add the text as a file")
    return content


def _slide(number: int, slide: Slide) -> str:
    """Return the text of a slide; empty when it has none, for its number alone says nothing."""
    title = slide.shapes.title
    head = " ".join(title.text_frame.text.split()) if title is not None else ""
    blocks = [block for shape in slide.shapes if shape != title for block in _shape(shape)]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes and notes.text.strip():
        blocks.append(f"Notes: {_paragraphs(notes)}")
    if not head and not blocks:
        return ""
    hidden = " (hidden)" if slide.element.get("show") in {"0", "false"} else ""
    return "\n\n".join([f"## Slide {number}{hidden}{': ' * bool(head)}{head}", *blocks])


def _shape(shape: BaseShape) -> Iterator[str]:
    """Yield the texts of a shape, those of a group in their order."""
    if isinstance(shape, GroupShape):
        for inner in cast(Iterable[BaseShape], shape.shapes):
            yield from _shape(inner)
    elif isinstance(shape, GraphicFrame):
        if shape.has_table:
            yield markdown([[cell(each.text_frame.text) for each in row.cells] for row in shape.table.rows])
    elif isinstance(shape, Shape) and (words := _paragraphs(shape.text_frame, listed=shape.is_placeholder)):
        yield words


def _paragraphs(frame: TextFrame, *, listed: bool = False) -> str:
    """Return the paragraphs, one a line: in the body of a slide (`listed`) a list, indented as there."""
    lines = [(paragraph.level, " ".join(paragraph.text.split())) for paragraph in frame.paragraphs]
    paragraphs = [(level, line) for level, line in lines if line]
    if not listed or len(paragraphs) < 2:
        return "\n".join(line for _, line in paragraphs)
    return "\n".join(f"{'  ' * level}- {line}" for level, line in paragraphs)
