"""Lanes: which documents are large, and that a batch is divided no further than that."""

from dataclasses import dataclass

from runtime.bus.fairness import lanes
from runtime.bus.fairness.lanes import DocumentSizes, Lane, smaller_first


@dataclass(frozen=True)
class SizedMessage:
    """A message about a document, of so many bytes."""

    document: str
    size: int = 1000

    @property
    def subject(self) -> str:
        return f"kb.v1.w.{self.document}.ChunksCreated"

    @property
    def data(self) -> bytes:
        return b"x" * self.size


def documents(messages: list[SizedMessage], sizes: DocumentSizes) -> list[list[str]]:
    """The documents of each batch."""
    batches = smaller_first(messages, sizes)
    return [[message.document for message in batch.messages] for batch in batches]


BOOK = [SizedMessage("book", lanes.LARGE_BYTES // 3 + 1) for _ in range(3)]


def test_messages_of_small_documents_come_before_those_of_a_large_one() -> None:
    batch = [*BOOK, SizedMessage("note"), SizedMessage("letter")]
    assert documents(batch, DocumentSizes()) == [["note", "letter"], ["book"] * 3]


def test_a_batch_of_documents_that_are_all_small_or_all_large_is_not_divided() -> None:
    notes = [SizedMessage(f"note-{number}") for number in range(500)]
    assert [len(batch) for batch in documents(notes, DocumentSizes())] == [500]
    books = [SizedMessage(f"book-{number}", lanes.LARGE_BYTES + 1) for number in range(5)]
    assert [len(batch) for batch in documents(books, DocumentSizes())] == [5]


def test_what_follows_of_a_large_document_is_known_to_be_large() -> None:
    sizes = DocumentSizes()
    documents(BOOK, sizes)
    assert documents([BOOK[0], SizedMessage("note")], sizes) == [["note"], ["book"]]
    assert sizes.lane_of(BOOK[0].subject, 1) == Lane("w", is_large=True)
    assert sizes.lane_of(SizedMessage("note").subject, 1) == Lane("w")


def test_a_document_becomes_large_with_its_messages_in_the_backlog() -> None:
    sizes = DocumentSizes()
    of_parts = [sizes.lane_of(part.subject, part.size).is_large for part in [*BOOK, BOOK[0]]]
    assert of_parts == [False, False, True, True]


def test_a_bounded_number_of_documents_is_remembered() -> None:
    sizes = DocumentSizes()
    documents(BOOK, sizes)
    for number in range(lanes.MAX_DOCUMENTS):
        sizes.lane_of(SizedMessage(f"note-{number}").subject, 1)
    assert sizes.lane_of(BOOK[0].subject, 1) == Lane("w"), "the oldest is forgotten"
