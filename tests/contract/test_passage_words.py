"""The words of passages as a walk reads them: stored with the passage, gone with it, and made of
its text where an older program stored none.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.graph import DocumentBounds, Generations, Partition
from contracts.subjects import token
from operations.digest import Stores, digest
from runtime.stores.documents.port import Rows, Table
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.query.adapters.documents import WORDS_FIELD, RowPassages
from services.query.passage import Passage
from services.query.retrieval.passage_index.passage_words import words_of
from tests.support.rows import STORES, document_store
from tests.support.shared_servers import SharedServers


@pytest_asyncio.fixture(params=STORES)
async def rows(
    request: pytest.FixtureRequest, tmp_path: Path, shared_servers: SharedServers
) -> AsyncIterator[Rows]:
    async with document_store(request.param, tmp_path, shared_servers) as opener:
        rows = opener()
        await rows.prepare()
        yield rows
        await rows.close()


def passage(id: str, content: str, version: int = 1, order: int = 0) -> Passage:
    return Passage(id, "d", order, content, "The_Gull.txt", ("Ships", "Gray Gull"), 5, version)


TEXTS = (
    "Ada Marsh (born 1902) was a pilot. She flew\n\nthe Gray Gull; nobody else did!",
    "東京タワーは東京にある。Ærø’s ferry—sails.",
    "Its normal form \ufdfa has blanks in it.",
    "",
)


async def remove_words(rows: Rows, partition: Partition, id: str) -> None:
    """Leave a row as older programs wrote it."""
    table = Table("chunks", partition)
    row = (await rows.get(table, [token(id)]))[token(id)]
    del row[WORDS_FIELD]
    await rows.put(table, {token(id): row})


async def test_words_come_back_as_the_text_has_them(rows: Rows, partition: Partition) -> None:
    passages = RowPassages(rows)
    stored_passages = [passage(f"c{n}", text) for n, text in enumerate(TEXTS)]
    await passages.put(partition, stored_passages)
    words = await passages.words(partition, ["c0", "c1", "c2", "c3", "none"])
    assert {entry.id: entry for entry in words} == {
        passage.id: words_of(passage) for passage in stored_passages
    }


async def test_words_are_those_of_the_newest_version(rows: Rows, partition: Partition) -> None:
    passages = RowPassages(rows)
    for text, version in (("one", 1), ("three", 3), ("two", 2)):
        await passages.put(partition, [passage("c", text, version)])
    assert [entry.lines for entry in await passages.words(partition, ["c"])] == ["three"]


async def test_words_leave_with_their_passage(rows: Rows, partition: Partition) -> None:
    passages = RowPassages(rows)
    await passages.put(partition, [passage("c0", "secret"), passage("c1", "secret", order=1)])
    await passages.remove_obsolete(partition, {"d": DocumentBounds(2, 0)})
    assert await passages.words(partition, ["c0", "c1"]) == []
    assert await rows.scan(Table("chunks", partition)) == []


async def test_rows_of_older_programs_are_read_out_of_their_text(
    rows: Rows, partition: Partition
) -> None:
    passages = RowPassages(rows)
    stored = passage("c", TEXTS[0])
    await passages.put(partition, [stored])
    await remove_words(rows, partition, "c")
    assert await passages.words(partition, ["c"]) == [words_of(stored)]


async def test_digests_are_the_same_with_words_and_without(
    rows: Rows, partition: Partition
) -> None:
    passages = RowPassages(rows)
    await passages.put(partition, [passage("c", TEXTS[0])])
    stores = Stores(rows, MemoryGraph(), MemoryVectors("m", 2))
    generations = Generations(status=1)
    before = await digest("status", partition.workspace, generations, stores)
    await remove_words(rows, partition, "c")
    assert await digest("status", partition.workspace, generations, stores) == before
    assert before.counts == {"chunks": 1}
