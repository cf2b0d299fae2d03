"""Chunks name the figures that stand in them, and passages keep them."""

from contracts.graph import Partition
from contracts.values import BlobRef, Chunk, Figure
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from services.chunker.domain.document import figures_in
from services.query.adapters.documents import RowPassages
from services.query.status.projection import passages_of
from tests.support.events import chunked, document

HASHES = ("a" * 64, "b" * 64)
FIGURES = tuple(
    Figure(
        number=number,
        sha256=sha256,
        blob=BlobRef(sha256=sha256, size=9, parts=1),
        media_type="image/png",
        width=200,
        height=100,
        caption="The catch",
        page=3,
    )
    for number, sha256 in enumerate(HASHES, 1)
)
TEXTS = ("Tide [Figure 2] and [Figure 1: The catch] [Figure 2]", "see Figure 1", "[Figure 7]")


def cut() -> list[Chunk]:
    return [
        Chunk(
            id=f"d-chunk-{order:03d}",
            order=order,
            tokens=5,
            content=text,
            figures=figures_in(text, FIGURES),
        )
        for order, text in enumerate(TEXTS)
    ]


def test_a_chunk_has_the_figures_that_its_text_names() -> None:
    assert [[figure.number for figure in chunk.figures] for chunk in cut()] == [[2, 1], [], []]


async def test_a_passage_keeps_its_figures_and_one_without_is_stored_as_ever() -> None:
    rows = MemoryRows()
    space = Partition("w", 1)
    event = chunked(document("d"), *TEXTS).model_copy(update={"chunks": tuple(cut())})
    passages = passages_of(event)
    await RowPassages(rows).put(space, passages)
    stored = await RowPassages(rows).get(space, [passage.id for passage in passages])
    assert stored[passages[0].id].figures == (FIGURES[1].ref, FIGURES[0].ref)
    assert stored[passages[1].id] == passages[1]
    tables = [row for _, row in await rows.scan(Table("chunks", space), "", 10)]
    assert ["figures" in row for row in tables] == [True, False, False]
