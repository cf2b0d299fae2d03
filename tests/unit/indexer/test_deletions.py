"""A backlog of deletions costs a call of the vector store for a batch, and leaves nothing however
it is interrupted.
"""

import pytest

from contracts.graph import DocumentBounds
from runtime.stores.vectors.memory import MemoryVectors
from tests.support.events import chunked, document
from tests.unit.indexer.test_costs import Counted
from tests.unit.indexer.test_handler import SPACE, Harness, deletion

DOCUMENTS = [f"d{number}" for number in range(16)]
AFTER_ALL = 100


class CountedHarness(Harness):
    """A harness whose vector store counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = Counted(self.vectors)
        self.vectors: MemoryVectors = self.counted  # pyright: ignore[reportAttributeAccessIssue]


async def filled() -> CountedHarness:
    """Sixteen documents of three chunks each, and one that stays."""
    harness = CountedHarness()
    parts = ("one", "two", "three")
    await harness.chunks(*(chunked(document(id, n), *parts) for n, id in enumerate(DOCUMENTS, 1)))
    await harness.chunks(chunked(document("stays", 20), "stays"))
    harness.counted.calls.clear()
    return harness


async def remaining(harness: CountedHarness) -> set[str]:
    """The documents that have vectors."""
    rows = await harness.vectors.scan(SPACE, "chunks")
    return {row.document_id for row in rows}


async def test_all_documents_that_a_batch_deletes_are_removed_in_one_call() -> None:
    harness = await filled()
    await harness.handle([deletion(id, AFTER_ALL + n) for n, id in enumerate(DOCUMENTS)])
    assert (harness.counted.calls["delete"], harness.counted.calls["scan"]) == (1, 0)
    assert await remaining(harness) == {"stays"}


async def test_a_document_added_after_another_of_the_batch_was_deleted_is_removed_too() -> None:
    harness = await filled()
    await harness.chunks(chunked(document("later", AFTER_ALL + 1), "later"))
    await harness.handle(
        [deletion("d0", AFTER_ALL), deletion("d1", AFTER_ALL + 2), deletion("later", AFTER_ALL + 3)]
    )
    assert await remaining(harness) == {*DOCUMENTS[2:], "stays"}


@pytest.mark.parametrize("deletions", [[AFTER_ALL], [AFTER_ALL, AFTER_ALL + 1]])
async def test_a_deletion_that_was_interrupted_finds_what_it_left(deletions: list[int]) -> None:
    """Its bounds are stored then, and its rows are not removed; perhaps it was deleted twice."""
    harness = await filled()
    await harness.extents.put(SPACE, {"d0": DocumentBounds(AFTER_ALL, 0)})
    await harness.handle([deletion("d0", place) for place in deletions])
    assert await remaining(harness) == {*DOCUMENTS[1:], "stays"}


async def test_a_document_that_was_added_again_stays() -> None:
    harness = await filled()
    await harness.chunks(chunked(document("d0", AFTER_ALL + 5), "anew"))
    await harness.handle([deletion("d0", AFTER_ALL), deletion("d1", AFTER_ALL + 1)])
    assert await remaining(harness) == {"d0", *DOCUMENTS[2:], "stays"}
