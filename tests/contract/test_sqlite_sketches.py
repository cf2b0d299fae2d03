"""Searches among many rows of the file of the vectors: what sketches choose, and that they are true
whatever was written, replaced and deleted.
"""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.graph import Partition, VectorRow
from contracts.ids import chunk_vector_id
from runtime.stores.vectors.fields import similarities
from runtime.stores.vectors.memory import MemoryVectors
from runtime.stores.vectors.sqlite import sketch_blocks
from runtime.stores.vectors.sqlite.sketches import nearest, sketch_bytes, sketches_of
from runtime.stores.vectors.sqlite.store import SqliteVectors

HERE = Partition("w", 1)
DIMENSION = 80
"""Of vectors whose sketches end within a word."""
LEAST_ROWS = 512


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_blocks, "LEAST_ROWS", LEAST_ROWS)


def store(path: Path) -> SqliteVectors:
    return SqliteVectors(path, model="m", dimension=DIMENSION)


def clustered(count: int, dimension: int, seed: int = 1) -> NDArray[np.float32]:
    """Vectors around some centres, as those of texts are, that half precision has exactly."""
    choice = np.random.default_rng(seed)
    centres = choice.normal(size=(40, dimension))
    noise = choice.normal(size=(count, dimension))
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


def assert_sketches_are_true(path: Path) -> int:
    """Compare each sketch in the file with its vector; return how many there are."""
    with closing(sqlite3.connect(path)) as connection:
        (table,) = (name for (name,) in connection.execute("SELECT name FROM collections"))
        sql = f"SELECT sketches FROM {table}_sketches WHERE workspace = 'w' ORDER BY number"
        content = b"".join(sketches for (sketches,) in connection.execute(sql))
        sql = f"SELECT vectors FROM {table}_blocks WHERE workspace = 'w' ORDER BY number"
        entries = b"".join(vectors for (vectors,) in connection.execute(sql))
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if not content:
        return 0
    numbers = np.frombuffer(entries, np.int16).reshape(-1, DIMENSION + 2)[:count, :DIMENSION]
    codes = sketches_of(numbers.copy().view(np.float16).astype(np.float32)).tobytes()
    assert content[: len(codes)] == codes
    assert not any(content[len(codes) :])
    return len(codes) // sketch_bytes(DIMENSION)


@pytest.mark.parametrize("mean", [0.0, 1.0], ids=["around zero", "with a direction in common"])
def test_sketches_choose_the_nearest_and_few_others(mean: float) -> None:
    """Vectors with a direction in common are what some embedders give: cosines of 0.4 and more."""
    numbers = clustered(9_000, 384) + np.float32(mean)
    rows = numbers[30:]
    questions = numbers[:30]
    codes = sketches_of(rows)
    comparisons = 0
    for question in questions:

        def score(
            places: NDArray[np.int64], question: NDArray[np.float32] = question
        ) -> list[float]:
            nonlocal comparisons
            comparisons += len(places)
            return similarities(rows[places], question)

        rows_found = nearest(codes, question, 10, -1.0, score)
        assert rows_found
        best = np.argsort(-np.array(similarities(rows, question)), kind="stable")[:10]
        assert set(best) <= set(rows_found.slots.tolist())
    assert comparisons / len(questions) < 700


def test_where_sketches_tell_nothing_all_rows_are_to_be_compared() -> None:
    rows = np.full((4_000, 64), 1.0, np.float32)
    rows[:, 0] += np.arange(4_000) / 4_000
    codes = sketches_of(rows)
    assert nearest(codes, rows[0], 10, -1.0, lambda slots: [1.0] * len(slots)) is None


async def test_searches_are_as_before_whatever_was_replaced_and_deleted(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    numbers = clustered(1_200, DIMENSION)
    rows = rows_of(numbers)
    file = store(path)
    memory = MemoryVectors("m", DIMENSION)
    for vectors in (file, memory):
        await vectors.put(HERE, "chunks", rows[:500])
    assert sketch_blocks.LEAST_ROWS > 500
    few_documents = [f"d{number}" for number in range(40)]
    most_documents = [f"d{number}" for number in range(10, 560)]

    async def compare() -> None:
        for place in range(0, 1_200, 150):
            for documents in (None, few_documents, most_documents):
                question = numbers[place].tolist()
                assert await file.search(
                    HERE, "chunks", question, top_k=8, min_score=0.2, documents=documents
                ) == await memory.search(
                    HERE, "chunks", question, top_k=8, min_score=0.2, documents=documents
                )

    ids = [row.id for row in rows]
    deleted_ids = random.Random(3).sample(ids, 1_000)
    for vectors in (file, memory):
        await vectors.put(HERE, "chunks", rows[500:])
        await vectors.put(HERE, "chunks", rows_of(numbers[::-1][:300], version=2))
    assert assert_sketches_are_true(path) == 1_200
    await compare()
    for part, left in (
        (deleted_ids[:1], 1_199),
        (deleted_ids[1:300], 900),
        (deleted_ids[300:800], 400),
    ):
        for vectors in (file, memory):
            await vectors.delete(HERE, "chunks", part)
        assert assert_sketches_are_true(path) == left
        await compare()
    for vectors in (file, memory):
        await vectors.delete(HERE, "chunks", deleted_ids[800:])
    assert assert_sketches_are_true(path) == 0
    await compare()
    for vectors in (file, memory):
        await vectors.put(HERE, "chunks", rows)
    assert assert_sketches_are_true(path) == 1_200
    await compare()
    await file.drop(1)
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    assert not [name for name in names if name.endswith("_sketches")]
    await file.close()


async def test_a_large_file_without_sketches_goes_on_and_gets_them_by_the_next_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.sqlite"
    numbers = clustered(800, DIMENSION)
    rows = rows_of(numbers)
    vectors = store(path)
    memory = MemoryVectors("m", DIMENSION)
    with monkeypatch.context() as patch:
        patch.setattr(sketch_blocks, "LEAST_ROWS", 10_000)
        await vectors.put(HERE, "chunks", rows)
    await memory.put(HERE, "chunks", rows)
    for write in ([], rows[7:8]):
        await vectors.put(HERE, "chunks", write)
        for row in rows[::100]:
            assert await vectors.search(HERE, "chunks", row.vector, top_k=8) == (
                await memory.search(HERE, "chunks", row.vector, top_k=8)
            )
    assert assert_sketches_are_true(path) == 800
    await vectors.close()
