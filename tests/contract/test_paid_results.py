"""What was paid for is neither lost nor paid twice when its cache takes nothing: on a SQLite file
that is locked.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.graph import Partition
from contracts.values import TokenUsage
from knowledge.descriptions import Group
from runtime.errors import Unavailable
from runtime.models.port import Completion, Message, Vector
from runtime.models.scripted import ScriptedChat
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents import write_behind
from runtime.stores.documents.port import Row, Table
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.documents.write_behind import WriteBehind
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.domain.extraction import Extraction
from services.merger.adapters.summarizer import ModelSummarizer
from services.query.adapters.models import ModelKeywordExtractor
from services.query.adapters.row_cache import RowCache

MADE = Extraction((), (), TokenUsage(prompt=10, completion=3))
TABLE = Table("extractions", Partition("w", 0))


class WritingProcess:
    """Another process that writes for as long as it is held."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)

    def hold(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def release(self) -> None:
        self.connection.execute("ROLLBACK")


@pytest_asyncio.fixture
async def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteRows]:
    """A store that waits for a lock shortly, and is asked again at once."""
    monkeypatch.setattr(write_behind, "RETRY", 0.0)
    rows = SqliteRows(tmp_path / "rows.sqlite", timeout=0.1)
    await rows.prepare()
    yield rows
    await rows.close()


@pytest.fixture
def lock(tmp_path: Path, rows: SqliteRows) -> WritingProcess:
    return WritingProcess(tmp_path / "rows.sqlite")


class CountingExtractor:
    """Makes extractions, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    async def __call__(self) -> Extraction:
        self.made += 1
        return MADE


async def test_an_extraction_that_cannot_be_written_is_given_and_not_paid_again(
    rows: SqliteRows, lock: WritingProcess
) -> None:
    cache = ExtractionCache(rows)
    pay = CountingExtractor()
    lock.hold()
    assert await cache.once("w", "key", pay) == (MADE, False)
    assert await cache.once("w", "key", pay) == (MADE, True)
    assert pay.made == 1
    lock.release()
    await cache.once("w", "another", pay)
    assert set(await ExtractionCache(rows).get("w", ["key", "another"])) == {"key", "another"}, (
        "written with the next"
    )


async def test_embeddings_that_cannot_be_written_are_given_and_not_paid_again(
    rows: SqliteRows, lock: WritingProcess
) -> None:
    class Embedder:
        model = "m"
        dimension = 2
        embedded = 0

        async def embed(self, texts: Sequence[str]) -> list[Vector]:
            self.embedded += len(texts)
            return [(1.0, 0.0) for _ in texts]

        async def close(self) -> None: ...

    inner = Embedder()
    embeddings = CachedEmbeddings(rows, inner, group=2)
    lock.hold()
    for _ in range(2):
        assert len(await embeddings.embed("w", ["a", "b", "c"])) == 3
    assert inner.embedded == 3
    lock.release()
    await embeddings.embed("w", ["d"])
    await CachedEmbeddings(rows, inner).embed("w", ["a", "b", "c", "d"])
    assert inner.embedded == 4


async def test_a_summary_that_cannot_be_written_is_given_and_not_paid_again(
    rows: SqliteRows, lock: WritingProcess
) -> None:
    def answer(messages: Sequence[Message]) -> Completion:
        return Completion("in short", TokenUsage())

    chat = ScriptedChat(answer)
    summarizer = ModelSummarizer(chat, rows, language="English", context=10_000, length=100)
    lock.hold()
    for _ in range(2):
        assert (await summarizer.summarize("w", Group(("Ada",), ("one", "two")))).text == "in short"
    assert len(chat.calls) == 1


async def test_when_no_more_can_be_kept_nothing_more_is_paid_for(
    rows: SqliteRows, lock: WritingProcess
) -> None:
    write_behind = WriteBehind(rows, max_rows=2)
    lock.hold()
    for number in range(2):
        await write_behind.ready()
        await write_behind.put(TABLE, {f"k{number}": {"text": "t"}})
    with pytest.raises(Unavailable):
        await write_behind.ready()
    assert set(await write_behind.get(TABLE, ["k0", "k1", "k2"])) == {"k0", "k1"}
    lock.release()
    await write_behind.ready()
    assert set(await rows.get(TABLE, ["k0", "k1"])) == {"k0", "k1"}


async def test_while_the_store_takes_nothing_not_every_row_waits_for_it(
    rows: SqliteRows, lock: WritingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_behind, "RETRY", 60.0)
    writes = 0
    put = rows.put

    async def counted(*arguments: object) -> None:
        nonlocal writes
        writes += 1
        await put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "put", counted)
    pending_rows = WriteBehind(rows)
    lock.hold()
    for number in range(5):
        await pending_rows.put(TABLE, {f"k{number}": {"text": "t"}})
    assert writes == 1


async def test_keywords_of_a_question_are_used_at_once_and_remembered_although_they_cannot_be_stored(  # noqa: E501
    rows: SqliteRows, lock: WritingProcess
) -> None:
    chat = ScriptedChat(['{"high_level_keywords": ["trade"], "low_level_keywords": ["salt"]}'] * 2)
    keywords = ModelKeywordExtractor(chat, "English", RowCache(rows, "keywords"))
    lock.hold()
    assert (await keywords.extract("w", "Who sold salt?")).low == ("salt",)
    assert (await keywords.extract("w", "Who sold salt?")).low == ("salt",)
    await keywords.close()
    lock.release()
    assert (await keywords.extract("w", "Who sold salt?")).low == ("salt",)
    assert len(chat.calls) == 1


async def test_keywords_are_stored_when_the_service_ends(rows: SqliteRows) -> None:
    chat = ScriptedChat(['{"high_level_keywords": ["trade"], "low_level_keywords": ["salt"]}'])
    keywords = ModelKeywordExtractor(chat, "English", RowCache(rows, "keywords"))
    assert await keywords.extract("w", "Who sold salt?")
    await keywords.close()
    again = ModelKeywordExtractor(chat, "English", RowCache(rows, "keywords"))
    assert (await again.extract("w", "Who sold salt?")).low == ("salt",)
    assert len(chat.calls) == 1


async def test_rows_that_come_during_a_write_are_written_once_and_together(
    rows: SqliteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[set[str]] = []
    put = rows.put

    async def noted(table: Table, values: Mapping[str, Row]) -> None:
        writes.append(set(values))
        await put(table, values)

    monkeypatch.setattr(rows, "put", noted)
    write_behind = WriteBehind(rows)
    await asyncio.gather(
        *(write_behind.put(TABLE, {f"k{number}": {"text": "t"}}) for number in range(20))
    )
    assert len(writes) <= 2
    assert sorted(key for keys in writes for key in keys) == sorted(
        f"k{number}" for number in range(20)
    )


async def test_reads_that_come_during_a_read_are_one(
    rows: SqliteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rows.put(TABLE, {f"k{number}": {"text": f"t{number}"} for number in range(0, 20, 2)})
    reads: list[Sequence[str]] = []
    get = rows.get

    async def noted(table: Table, keys: Sequence[str]) -> dict[str, Row]:
        reads.append(keys)
        return await get(table, keys)

    monkeypatch.setattr(rows, "get", noted)
    write_behind = WriteBehind(rows)
    rows_of_each = await asyncio.gather(
        *(write_behind.get(TABLE, [f"k{number}", "k0"]) for number in range(20))
    )
    assert len(reads) == 1
    assert rows_of_each[3] == {"k0": {"text": "t0"}}
    assert rows_of_each[4] == {"k0": {"text": "t0"}, "k4": {"text": "t4"}}
