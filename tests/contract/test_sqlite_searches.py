"""Searches of the file of the vectors: the same hits from the file and from compressed vectors in
memory, whatever was written, replaced and deleted by whom, and whatever a processor rounds.
"""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.graph import Partition, VectorRow
from contracts.ids import chunk_vector_id
from runtime.stores.vectors.comparison import (
    ROUNDING,
    ROUNDING_NUMBERS,
    Question,
    VectorRows,
)
from runtime.stores.vectors.compressed import CompressedRows
from runtime.stores.vectors.memory import MemoryVectors
from runtime.stores.vectors.port import Vectors
from runtime.stores.vectors.sqlite import changes, nearest, vector_cache
from runtime.stores.vectors.sqlite import store as store_module
from runtime.stores.vectors.sqlite.schema import FORMAT
from runtime.stores.vectors.sqlite.store import SqliteVectors
from runtime.stores.vectors.sqlite.vector_cache import SEARCHES_BEFORE, VectorCache
from tests.support.older_vectors import make_older

HERE = Partition("w", 1)
DIMENSION = 80
FEW_DOCUMENTS = [f"d{number}" for number in range(40)]
MOST_DOCUMENTS = [f"d{number}" for number in range(10, 360)]


def store(path: Path, max_bytes: int = 10**8) -> SqliteVectors:
    vectors = SqliteVectors(path, model="m", dimension=DIMENSION)
    vectors.cache = VectorCache(max_bytes, min_rows=1)
    return vectors


def clustered(count: int) -> NDArray[np.float32]:
    """Vectors around some centres, as those of texts are, that half precision has exactly."""
    choice = np.random.default_rng(1)
    centres = choice.normal(size=(40, DIMENSION))
    noise = choice.normal(size=(count, DIMENSION))
    numbers = centres[choice.integers(0, 40, count)] + 1.2 * noise
    return numbers.astype(np.float16).astype(np.float32)


def rows_of(numbers: NDArray[np.float32], version: int = 1) -> list[VectorRow]:
    """Two chunks of each document, whose ids are in another order than they."""
    return [
        VectorRow(
            chunk_vector_id(f"d{place // 2}", place % 2),
            "text",
            "hash",
            version=version,
            vector=tuple(vector),
        )
        for place, vector in enumerate(numbers.tolist())
    ]


async def assert_same_hits(file: Vectors, memory: Vectors, questions: NDArray[np.float32]) -> None:
    """Ask each question of the file, and once its vectors are compressed in memory, of these."""
    ids = [chunk_vector_id(f"d{number}", 1) for number in range(0, 400, 9)]

    async def answers(vectors: Vectors, question: list[float]) -> object:
        return [
            await vectors.search(
                HERE, "chunks", question, top_k=top_k, min_score=min_score, documents=documents
            )
            for documents in (None, FEW_DOCUMENTS, MOST_DOCUMENTS)
            for top_k, min_score in ((8, 0.2), (40, -1.0))
        ] + [await vectors.likeness(HERE, "chunks", question, ids)]

    for question in questions.tolist():
        expected = await answers(memory, question)
        for _ in range(2):
            assert await answers(file, question) == expected


async def test_a_warm_workspace_is_searched_in_memory_from_the_first_search_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = clustered(300)
    vectors, memory = store(tmp_path / "v.sqlite"), MemoryVectors("m", DIMENSION)
    assert not await vectors.warm(HERE, "chunks")  # there is no collection
    for target in (vectors, memory):
        await target.put(HERE, "chunks", rows_of(numbers[:200]))
    assert await vectors.warm(HERE, "chunks")
    assert vectors.cache.workspaces == [HERE.workspace]
    await vectors.put(HERE, "entities", rows_of(numbers[:200]))
    assert not await vectors.warm(HERE, "entities")  # nobody compares these by id
    assert vectors.cache.workspaces == [HERE.workspace] * 2
    deleted_ids = [row.id for row in rows_of(numbers)[:160:7]]
    for target in (vectors, memory):
        await target.put(HERE, "chunks", rows_of(numbers)[150:])
        await target.delete(HERE, "chunks", deleted_ids)
    with monkeypatch.context() as patch:
        patch.setattr(nearest.blocks, "read_all", None)  # nothing reads the whole file
        patch.setattr(store_module.slotted_rows, "slots", None)  # nor looks an id up in it
        await assert_same_hits(vectors, memory, numbers[::90])
    precise_rows = [
        replace(row, vector=tuple(x + 1e-5 for x in row.vector)) for row in rows_of(numbers)[40:50]
    ]
    for target in (vectors, memory):
        await target.put(HERE, "chunks", precise_rows)
    await assert_same_hits(vectors, memory, numbers[::90])
    await vectors.close()


@pytest.mark.parametrize("max_bytes", [0, 10**8], ids=["from the file", "from memory"])
async def test_searches_see_what_was_written_by_any_process(tmp_path: Path, max_bytes: int) -> None:
    path = tmp_path / "v.sqlite"
    numbers = clustered(800)
    rows = rows_of(numbers)
    questions = numbers[::400]
    reader, writer = store(path, max_bytes), store(path)
    memory = MemoryVectors("m", DIMENSION)
    deleted_ids = random.Random(3).sample([row.id for row in rows], 700)
    single = [
        VectorRow(rows[5].id, "text", "hash", version=3, vector=(0.1, *rows[5].vector[1:])),
        *rows_of(numbers[::-1][:300], version=2)[200:],
    ]
    for written in (rows[:500], rows[500:], rows_of(numbers[::-1][:300], version=2), single):
        for vectors in (writer, memory):
            await vectors.put(HERE, "chunks", written)
        await assert_same_hits(reader, memory, questions)
    for part in (deleted_ids[:1], deleted_ids[1:300], deleted_ids[300:]):
        for vectors in (writer, memory):
            await vectors.delete(HERE, "chunks", part)
        await assert_same_hits(reader, memory, questions)
    await writer.drop(1)
    assert await reader.search(HERE, "chunks", questions[0].tolist(), top_k=3) == []
    await reader.close()
    await writer.close()


async def test_what_is_searched_again_stays_in_memory_while_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "UNUSED_AFTER", 5)
    path = tmp_path / "v.sqlite"
    numbers = clustered(300)
    rows = rows_of(numbers)
    size = CompressedRows.bytes_of(CompressedRows.with_room(300), DIMENSION)
    vectors = store(path, max_bytes=2 * size)
    question = numbers[0].tolist()
    workspaces = [Partition(name, 1) for name in ("a", "b", "c")]
    for partition in workspaces:
        await vectors.put(partition, "chunks", rows)
        for _ in range(SEARCHES_BEFORE):
            await vectors.search(partition, "chunks", question, top_k=3)
    assert vectors.cache.workspaces == []
    for _ in range(3):  # one after the other, as questions search kinds
        for partition in workspaces:
            await vectors.search(partition, "chunks", question, top_k=3)
        assert vectors.cache.workspaces == ["a", "b"]
    for _ in range(4):
        await vectors.search(workspaces[2], "chunks", question, top_k=3)
    assert vectors.cache.workspaces == ["b", "c"]
    await vectors.put(workspaces[2], "chunks", rows[:1])
    await vectors.search(workspaces[2], "chunks", question, top_k=3)
    assert vectors.cache.workspaces == ["b", "c"]
    await vectors.delete(workspaces[2], "chunks", [row.id for row in rows[1:]])
    hits = await vectors.search(workspaces[2], "chunks", question, top_k=3)
    assert [hit.id for hit in hits] == [rows[0].id]
    await vectors.close()


@pytest.mark.parametrize("write_count", [2, 4096], ids=["writes are forgotten", "all are there"])
async def test_vectors_in_memory_follow_what_others_write_and_drop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_count: int
) -> None:
    monkeypatch.setattr(changes, "LATEST", write_count)
    monkeypatch.setattr(changes, "REMOVED_TOGETHER", 1)
    path = tmp_path / "v.sqlite"
    reader, writer, memory = store(path), store(path), MemoryVectors("m", DIMENSION)
    numbers = clustered(900)
    rows = rows_of(numbers)
    other_workspace = Partition("of others", 1)
    for vectors in (writer, memory):
        await vectors.put(HERE, "chunks", rows[:300])
    await assert_same_hits(reader, memory, numbers[:1])
    for start in range(300, 900, 60):
        for vectors in (writer, memory):
            for part in (rows[start : start + 30], rows[start + 30 : start + 60]):
                await vectors.put(HERE, "chunks", part)
                await vectors.put(other_workspace, "chunks", rows[:5])
            new_versions = rows_of(numbers[::-1][:9], version=start)
            await vectors.put(HERE, "chunks", new_versions)
            await vectors.delete(HERE, "chunks", [row.id for row in rows[start - 5 : start + 3]])
        question = numbers[start].tolist()
        hits = await memory.search(HERE, "chunks", question, top_k=9)
        assert await reader.search(HERE, "chunks", question, top_k=9) == hits
        assert reader.cache.workspaces == ["w"]
    for vectors in (writer, memory):
        await vectors.drop(1)
        await vectors.put(HERE, "chunks", rows[100:400])
    await assert_same_hits(reader, memory, numbers[:1])
    await reader.close()
    await writer.close()


async def test_a_file_of_format_5_goes_on_and_records_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    numbers = clustered(200)
    rows = rows_of(numbers)
    first_store, memory = store(path), MemoryVectors("m", DIMENSION)
    for vectors in (first_store, memory):
        await vectors.put(HERE, "chunks", rows[:150])
    await first_store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE changes")
        connection.execute("PRAGMA user_version = 5")
    reader, writer = store(path), store(path)
    await assert_same_hits(reader, memory, numbers[:1])
    for vectors in (writer, memory):
        await vectors.put(HERE, "chunks", rows[150:])
    await assert_same_hits(reader, memory, numbers[150:151])
    await reader.close()
    await writer.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)


async def test_hits_do_not_depend_on_what_a_processor_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that are wrong by as much as they may be choose the same hits: of many rows that are
    nearly as near as one another.
    """
    numbers = np.repeat(clustered(60), 20, axis=0)
    choice = np.random.default_rng(5)
    numbers[:, 7] *= choice.choice([1.0, 1 + 2.0**-10, 1 - 2.0**-10], len(numbers))
    numbers = numbers.astype(np.float16).astype(np.float32)
    rows = rows_of(numbers)
    memory = MemoryVectors("m", DIMENSION)
    scores = VectorRows.scores
    worst_error = ROUNDING * (DIMENSION + ROUNDING_NUMBERS)

    def wrong_scores(rows: VectorRows, question: Question) -> NDArray[np.float32]:
        errors = choice.choice([-worst_error, worst_error], len(rows))
        return (scores(rows, question) + errors).astype(np.float32)

    monkeypatch.setattr(VectorRows, "scores", wrong_scores)
    file = store(tmp_path / "v.sqlite")
    for vectors in (file, memory):
        await vectors.put(HERE, "chunks", rows)
    await assert_same_hits(file, memory, numbers[::240])
    await file.close()


async def test_a_file_with_sketches_goes_on_without_them(tmp_path: Path) -> None:
    """Format 3 had a table of them beside the blocks of large workspaces."""
    path = tmp_path / "v.sqlite"
    numbers = clustered(200)
    rows = rows_of(numbers)
    old, memory = store(path), MemoryVectors("m", DIMENSION)
    for vectors in (old, memory):
        await vectors.put(HERE, "chunks", rows)
    await old.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        name = make_older(connection, 3)
        connection.execute(
            f"CREATE TABLE {name}_sketches (workspace TEXT NOT NULL, number INTEGER NOT NULL, "
            "sketches BLOB NOT NULL, PRIMARY KEY (workspace, number))"
        )
        connection.execute(f"INSERT INTO {name}_sketches VALUES ('w', 0, x'00')")

    file = store(path)
    await assert_same_hits(file, memory, numbers[::100])
    for vectors in (file, memory):
        await vectors.delete(HERE, "chunks", [row.id for row in rows[:50]])
    await assert_same_hits(file, memory, numbers[::100])
    tables = [f"{name}{part}" for part in ("", "_blocks", "_keys", "_runs")]
    with closing(sqlite3.connect(path)) as connection:
        records = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert sorted(name for (name,) in records) == [
            *("changes", "collections"),
            *tables,
            "workspaces",
        ]
    await file.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
