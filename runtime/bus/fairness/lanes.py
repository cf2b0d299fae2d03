"""Lanes: the events of small documents never stand behind those of a large one.

Each workspace has two. A document is large from the message on with which what is known of it
exceeds `LARGE_BYTES`. Of many documents that are all large, or all small, none is handled before
another: they are in one lane, which keeps the order of the log and its batches.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from contracts import subjects


class Addressed(Protocol):
    """A message as far as it is looked at here."""

    @property
    def subject(self) -> str: ...
    @property
    def data(self) -> bytes: ...


M = TypeVar("M", bound=Addressed)

LARGE_BYTES = 128 * 1024
"""Bytes of events of one type about a document from which on it waits behind smaller ones: those of
some thirty pages of text.
"""

MAX_DOCUMENTS = 10_000
"""Documents whose bytes are remembered, the longest untouched forgotten first."""


class Document(NamedTuple):
    """A document, by the tokens of its workspace and itself."""

    workspace: str
    id: str


class Lane(NamedTuple):
    """The small or the large documents of a workspace, by its token."""

    workspace: str
    is_large: bool = False


class LaneBatch(NamedTuple, Generic[M]):
    """Messages to be handled at once, all of small or all of large documents."""

    messages: list[M]
    lanes: frozenset[Lane]


class DocumentSizes:
    """Bytes of the messages about each document that one consumer has yet to handle."""

    def __init__(self) -> None:
        self._bytes: OrderedDict[Document, int] = OrderedDict()

    def is_large(self, document: Document) -> bool:
        """Return whether what is known of the document makes it a large one."""
        return self._bytes.get(document, 0) > LARGE_BYTES

    def add(self, document: Document, size: int) -> None:
        """Count a message about the document."""
        self._bytes[document] = self._bytes.get(document, 0) + size
        self._bytes.move_to_end(document)
        while len(self._bytes) > MAX_DOCUMENTS:
            self._bytes.popitem(last=False)

    def lane_of(self, subject: str, size: int) -> Lane:
        """Count a message of the backlog, and return its lane."""
        document = document_of(subject)
        self.add(document, size)
        return Lane(document.workspace, self.is_large(document))


def smaller_first(messages: Sequence[M], sizes: DocumentSizes) -> list[LaneBatch[M]]:
    """Return the messages in at most two batches: those of small documents, then those of large
    ones. What is large here is noted in `sizes`, for what follows of it.
    """
    of_batch = DocumentSizes()
    for message in messages:
        of_batch.add(document_of(message.subject), len(message.data))
    of_lane: dict[bool, list[M]] = {False: [], True: []}
    for message in messages:
        document = document_of(message.subject)
        if of_batch.is_large(document) and not sizes.is_large(document):
            sizes.add(document, LARGE_BYTES + 1)
        of_lane[sizes.is_large(document)].append(message)
    batches: list[LaneBatch[M]] = []
    for is_large, of_size in of_lane.items():
        workspaces = {subjects.workspace_token(message.subject) for message in of_size}
        lanes = frozenset(Lane(workspace, is_large) for workspace in workspaces)
        batches += [LaneBatch(of_size, lanes)] if of_size else []
    return batches


def document_of(subject: str) -> Document:
    """Return what a message with this subject is about."""
    return Document(subjects.workspace_token(subject), subjects.document_token(subject))
