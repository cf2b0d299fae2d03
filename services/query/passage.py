"""A chunk as questions read it."""

from dataclasses import dataclass

from contracts.values import FigureRef


@dataclass(frozen=True)
class Passage:
    """A passage of a document: its text and its place in the document."""

    id: str
    document_id: str
    order: int
    content: str
    file_path: str
    headings: tuple[str, ...] = ()
    tokens: int = 0
    version: int = 0
    start: int | None = None
    """Offset of its first character in the document's sanitised text; `end` is the offset after its
    last character.
    """
    end: int | None = None
    page: int | None = None
    """Page on which it begins, counted from 1. None in documents without pages."""
    page_breaks: tuple[int, ...] = ()
    """Characters of its text at which the next pages begin."""
    figures: tuple[FigureRef, ...] = ()
    """The figures that it names, in their order there."""
