"""Restricts a question to documents by their ids, tags, metadata, path and time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts.ids import sha256
from contracts.spelling import one_spelling
from contracts.values import Scalar
from services.query.status.document_status import TAGS, DocumentStatus

LABEL_LENGTH = 16
"""Characters of a label: 64 bits of a hash."""

TAG = "\0tag"
"""In place of a name of metadata: a tag."""


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
            and {*map(one_spelling, self.tags)} <= _tags_of(metadata)
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

    @property
    def labels(self) -> frozenset[str] | None:
        """Return the labels that a document has which meets the conditions on tags and metadata,
        and no other; None where its labels do not tell.
        """
        tags = {*map(one_spelling, self.tags)}
        if "" in tags:
            return None
        of_metadata = (_label(name, value) for name, value in self.metadata)
        return frozenset((*(_label(TAG, tag) for tag in tags), *of_metadata))

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


def labels_of(document: DocumentStatus) -> frozenset[str]:
    """Return a short text for each tag of a document, and for each name and value of its metadata:
    equal ones where a scope takes them for the same.
    """
    metadata = document.current_metadata
    tags = _tags_of(metadata) - {""}
    of_metadata = (_label(name, value) for name, value in metadata.items())
    return frozenset((*(_label(TAG, tag) for tag in tags), *of_metadata))


def _tags_of(metadata: Mapping[str, Scalar]) -> set[str]:
    return {tag.strip() for tag in one_spelling(str(metadata.get(TAGS, ""))).split(",")}


def _label(name: str, value: Scalar) -> str:
    if isinstance(value, str):
        shown_value = f"text {one_spelling(value)}"
    elif isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        shown_value = f"value {int(value)}"  # True, 1 and 1.0 are the same.
    else:
        shown_value = f"value {value}"
    return sha256(f"{name}\0{shown_value}")[:LABEL_LENGTH]


def _is_same(value: Scalar, expected_value: Scalar) -> bool:
    if isinstance(value, str) and isinstance(expected_value, str):
        return one_spelling(value) == one_spelling(expected_value)
    return value == expected_value


EVERYTHING = Scope()
