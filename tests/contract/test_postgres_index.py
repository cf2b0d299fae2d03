"""The index of a large workspace on PostgreSQL: it is made while rows are written, asked from then
on, and finds what comparing with every row finds.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import asyncpg
import numpy as np
import pytest

from contracts.graph import Partition, VectorRow
from contracts.ids import sha256
from runtime.stores.vectors.postgres.nearest import EXACT_BELOW
from runtime.stores.vectors.postgres.store import PostgresVectors
from tests.support.nats_server import until
from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.shared_servers import SharedServers

pytestmark = pytest.mark.nightly  # a minute; few rows are searched exactly: test_vectors.py

ROWS = 25_000
NEIGHBOURS = 5_000
DIMENSION = 128
CENTRES = 500
QUESTIONS = 100
WANTED = 10
RECALL = 0.95

Numbers = np.ndarray[Any, np.dtype[np.float64]]


@pytest.fixture
async def url(shared_servers: SharedServers) -> AsyncGenerator[str]:
    async with fresh_schema(shared_postgres(shared_servers)) as url:
        yield url


def clouds(random: np.random.Generator, centres: Numbers, count: int) -> Numbers:
    """Directions around centres, as texts of some subjects have them."""
    noise = random.normal(size=(count, DIMENSION)) / np.sqrt(DIMENSION)
    return unit(centres[random.integers(len(centres), size=count)] + noise)


def unit(vectors: Numbers) -> Numbers:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def put(vectors: PostgresVectors, workspace: str, directions: Numbers) -> None:
    rows = [
        VectorRow(f"chunk-{number:06d}", "text", sha256("text"), vector=tuple(direction.tolist()))
        for number, direction in enumerate(directions)
    ]
    for first in range(0, len(rows), 1000):
        await vectors.put(Partition(workspace, 1), "chunks", rows[first : first + 1000])


async def scans_of_the_index(url: str) -> Sequence[int]:
    """How often each index of vectors was asked, as the server counts."""
    server, _, schema = url.partition("?schema=")
    connection = await asyncpg.connect(server)
    try:
        records = await connection.fetch(
            "SELECT s.idx_scan FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid) "
            "WHERE s.schemaname = $1 AND s.indexrelname LIKE '%_hnsw' AND i.indisvalid",
            schema,
        )
        return [record[0] for record in records]
    finally:
        await connection.close()


async def test_the_index_of_a_large_workspace_finds_what_comparing_with_all_finds(url: str) -> None:
    random = np.random.default_rng(36)
    centres = unit(random.normal(size=(CENTRES, DIMENSION)))
    directions = clouds(random, centres, ROWS)
    questions = clouds(random, centres, QUESTIONS)
    vectors = PostgresVectors(url, model="example/embedder", dimension=DIMENSION, timeout=120)
    try:
        await vectors.prepare(1)
        # Rows of another workspace that are nearer than all others: the search has to go on.
        await put(vectors, "another", np.repeat(questions, NEIGHBOURS // QUESTIONS, axis=0))
        assert await scans_of_the_index(url) == []
        await put(vectors, "large", directions)
        assert ROWS > EXACT_BELOW
        await until(lambda: has_index(url), "the index is made", seconds=300)

        shared_hits = 0
        for question in questions:
            hits = await vectors.search(
                Partition("large", 1), "chunks", question.tolist(), top_k=WANTED
            )
            nearest = np.argsort(-(directions @ question))[:WANTED]
            shared_hits += len(
                {f"chunk-{number:06d}" for number in nearest} & {hit.id for hit in hits}
            )
        recall = shared_hits / (QUESTIONS * WANTED)
        print(f"\nrecall@{WANTED} of {ROWS} rows: {recall:.3f}")
        assert recall >= RECALL
        await until(lambda: index_answers(url), "the index was asked", seconds=30)
    finally:
        await vectors.close()


async def has_index(url: str) -> bool:
    return bool(await scans_of_the_index(url))


async def index_answers(url: str) -> bool:
    """Whether the index answered all questions; the server counts a second late."""
    return sum(await scans_of_the_index(url)) >= QUESTIONS
