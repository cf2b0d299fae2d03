"""A chunk as it is read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Passage:
    """A passage of a document: where it came from and what it says."""

    id: str
    document_id: str
    order: int
    content: str
    file_path: str
    headings: tuple[str, ...] = ()
    tokens: int = 0
    version: int = 0
    start: int | None = None
    """Its first character in the document's sanitised text; `end` is the one behind its last."""
    end: int | None = None
    page: int | None = None
    """Where it begins; the first page is 1. None in documents without pages."""
