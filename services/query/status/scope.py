"""Restricts a question to documents by their ids, tags, metadata, path and time."""

from dataclasses import dataclass
from datetime import datetime

from contracts.spelling import one_spelling
from contracts.values import Scalar
from services.query.status.document_status import TAGS, DocumentStatus


@dataclass(frozen=True)
class Scope:
    """Conditions on documents, all of which must hold. Without any it admits every document, and is
    False.
    """

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
        metadata = document.current_metadata
        return (
            (not self.document_ids or document.id in self.document_ids)
            and {*map(one_spelling, self.tags)}
            <= {tag.strip() for tag in one_spelling(str(metadata.get(TAGS, ""))).split(",")}
            and all(
                name in metadata and _is_same(metadata[name], value)
                for name, value in self.metadata
            )
            and self.admits_path(document.file_path)
            and self.admits_time(document.created_at)
        )

    @property
    def is_of_contents(self) -> bool:
        """Return whether it has conditions on more than id, path and time."""
        return bool(self.tags or self.metadata)

    def admits_path(self, file_path: str) -> bool:
        """Return whether a document with this path meets the condition on paths."""
        return one_spelling(file_path).startswith(one_spelling(self.file_path_prefix))

    def admits_time(self, created_at: str) -> bool:
        """Return whether a document that was added then meets the conditions on time."""
        if not (self.added_from or self.added_before):
            return True
        added_at = datetime.fromisoformat(created_at)
        return not (self.added_from and added_at < self.added_from) and not (
            self.added_before and added_at >= self.added_before
        )


def _is_same(value: Scalar, expected_value: Scalar) -> bool:
    if isinstance(value, str) and isinstance(expected_value, str):
        return one_spelling(value) == one_spelling(expected_value)
    return value == expected_value


EVERYTHING = Scope()
