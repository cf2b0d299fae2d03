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
