"""Which documents a question is about, by what their publishers said of them."""

from dataclasses import dataclass
from datetime import datetime

from contracts.values import Scalar
from services.query.status.document_status import DocumentStatus

TAGS = "tags"
"""The metadata that holds a document's tags, with commas between them."""


@dataclass(frozen=True)
class Scope:
    """Every condition that is given must hold. Without any it holds all documents, and is False."""

    document_ids: tuple[str, ...] = ()
    """Any of these."""
    tags: tuple[str, ...] = ()
    """All of these."""
    metadata: tuple[tuple[str, Scalar], ...] = ()
    """All of these names and values."""
    file_path_prefix: str = ""
    added_from: datetime | None = None
    added_before: datetime | None = None

    def __bool__(self) -> bool:
        return self != EVERYTHING

    def admits(self, document: DocumentStatus) -> bool:
        """Whether the document is within."""
        said = document.metadata
        return (
            (not self.document_ids or document.id in self.document_ids)
            and {*self.tags} <= {tag.strip() for tag in str(said.get(TAGS, "")).split(",")}
            and all(name in said and said[name] == value for name, value in self.metadata)
            and document.file_path.startswith(self.file_path_prefix)
            and self._in_time(document)
        )

    def _in_time(self, document: DocumentStatus) -> bool:
        if not (self.added_from or self.added_before):
            return True
        added = datetime.fromisoformat(document.created_at)
        return not (self.added_from and added < self.added_from) and not (
            self.added_before and added >= self.added_before
        )


EVERYTHING = Scope()
