"""Restricts a question to documents by their ids, tags, metadata, path and time."""

from dataclasses import dataclass
from datetime import datetime

from contracts.values import Scalar
from services.query.status.document_status import DocumentStatus

TAGS = "tags"
"""Metadata field with a document's tags, separated by commas."""


@dataclass(frozen=True)
class Scope:
    """Conditions on documents, all of which must hold. Without any it admits every document, and is False."""

    document_ids: tuple[str, ...] = ()
    """The document has one of these ids."""
    tags: tuple[str, ...] = ()
    """The document has all of these tags."""
    metadata: tuple[tuple[str, Scalar], ...] = ()
    """The document has all of these names and values."""
    file_path_prefix: str = ""
    added_from: datetime | None = None
    added_before: datetime | None = None

    def __bool__(self) -> bool:
        return self != EVERYTHING

    def admits(self, document: DocumentStatus) -> bool:
        """Return whether the document meets all conditions."""
        metadata = document.metadata
        return (
            (not self.document_ids or document.id in self.document_ids)
            and {*self.tags} <= {tag.strip() for tag in str(metadata.get(TAGS, "")).split(",")}
            and all(name in metadata and metadata[name] == value for name, value in self.metadata)
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
