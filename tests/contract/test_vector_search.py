"""The contract of the vector store about searches: the best first, bounded, and apart."""

import asyncio
import math
from dataclasses import replace

import pytest

from contracts.graph import Partition
from contracts.ids import chunk_vector_id, window_vector_id
from runtime.stores.vectors.port import Vectors
from tests.support.vector_stores import (
    DIMENSION,
    VectorStore,
    row,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

EAST = (1.0, 0.0)
NORTH = (0.0, 1.0)


async def test_the_best_come_first_with_their_cosine_similarity(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(
        partition,
        "chunks",
        [
            row("east", 5.0),
            row("north", 0.0, 2.0),
            row("northeast", 3.0, 3.0),
            row("southwest", -1.0, -1.0),
        ],
    )
    question = row("q", 0.5).vector
    hits = await vectors.search(partition, "chunks", question, top_k=10)
    assert [hit.id for hit in hits] == ["east", "northeast", "north", "southwest"]
    assert [hit.score for hit in hits] == pytest.approx(
        [1.0, math.sqrt(0.5), 0.0, -math.sqrt(0.5)], abs=1e-5
    )
    assert [hit.id for hit in await vectors.search(partition, "chunks", question, top_k=2)] == [
        "east",
        "northeast",
    ]
    assert await vectors.search(partition, "chunks", question, top_k=0) == []
    assert len(await vectors.search(partition, "chunks", question, top_k=1_000_000)) == 4


async def test_of_many_searches_at_once_each_has_its_own_hits(
    vectors: Vectors, partition: Partition
) -> None:
    angles = [number * math.pi / 40 for number in range(40)]
    rows = [
        row(f"r{number:02}", math.cos(angle), math.sin(angle))
        for number, angle in enumerate(angles)
    ]
    await vectors.put(partition, "chunks", rows)
    hit_lists = await asyncio.gather(
        *(vectors.search(partition, "chunks", vector_row.vector, top_k=3) for vector_row in rows)
    )
    assert [hits[0].id for hits in hit_lists] == [vector_row.id for vector_row in rows]
    assert hit_lists == [
        await vectors.search(partition, "chunks", vector_row.vector, top_k=3) for vector_row in rows
    ]


async def test_what_scores_the_least_score_or_less_is_left_out(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(
        partition, "chunks", [row("same", *EAST), row("across", *NORTH), row("near", 4.0, 3.0)]
    )
    question = row("q", *EAST).vector
    assert [
        hit.id
        for hit in await vectors.search(partition, "chunks", question, top_k=9, min_score=0.0)
    ] == [
        "same",
        "near",
    ]
    assert [
        hit.id
        for hit in await vectors.search(partition, "chunks", question, top_k=9, min_score=0.8)
    ] == ["same"]
    assert await vectors.search(partition, "chunks", question, top_k=9, min_score=1.0) == []


@pytest.mark.parametrize("other_documents", [0, 80])
async def test_a_search_may_be_held_to_the_chunks_of_some_documents(
    vectors: Vectors, partition: Partition, other_documents: int
) -> None:
    rows = [
        row(chunk_vector_id(f"doc {n}", order), n + order / 10, 1.0)
        for n in range(6)
        for order in range(3)
    ]
    window = row(window_vector_id(rows[12].id, 1), 9.0, 1.0)
    await vectors.put(partition, "chunks", [*rows, window])
    documents = ["doc 1", "doc 4", *(f"none {n}" for n in range(other_documents))]
    hits = await vectors.search(
        partition, "chunks", row("q", 1.0).vector, top_k=4, documents=documents
    )
    assert rows[12].id == chunk_vector_id("doc 4", 0)
    expected_ids = [window.id, *(chunk_vector_id("doc 4", order) for order in (2, 1, 0))]
    assert [hit.id for hit in hits] == expected_ids
    assert (
        await vectors.search(partition, "chunks", row("q", 1.0).vector, top_k=4, documents=[]) == []
    )


async def test_likeness_is_that_of_the_named_rows_whatever_else_is_nearer(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(
        partition,
        "chunks",
        [row("east", 1.0), row("north", 0.0, 2.0), row("west", -1.0), row("near", 1.0)],
    )
    result = await vectors.likeness(
        partition, "chunks", row("east", 3.0).vector, ["east", "north", "west", "none", "no id"]
    )
    assert result == {"east": 1.0, "north": 0.0, "west": -1.0}
    assert await vectors.likeness(partition, "chunks", row("east", 3.0).vector, []) == {}


async def test_a_vector_without_direction_is_kept_and_disturbs_no_search(
    vectors: Vectors, partition: Partition
) -> None:
    await vectors.put(partition, "chunks", [row("none", 0.0), row("same", *EAST)])
    assert (await vectors.get(partition, "chunks", ["none"], vectors=True))["none"].vector == (
        0.0,
    ) * DIMENSION
    hits = await vectors.search(partition, "chunks", row("q", *EAST).vector, top_k=9, min_score=0.0)
    assert [hit.id for hit in hits] == ["same"]
    assert all(
        hit.score == 0.0
        for hit in await vectors.search(partition, "chunks", row("q", 0.0).vector, top_k=9)
    )


async def test_equal_ones_come_by_id_also_where_the_list_ends(
    vectors: Vectors, partition: Partition
) -> None:
    names = [f"{n * 7919 % 10_000:04d}" for n in range(200)]
    await vectors.put(
        partition, "chunks", [row("best", *EAST)] + [row(f"eq-{name}", 3.0, 4.0) for name in names]
    )
    for top_k in (1, 2, 5, 50, 201):
        hits = await vectors.search(partition, "chunks", row("q", *EAST).vector, top_k=top_k)
        assert [hit.id for hit in hits] == ["best", *(f"eq-{name}" for name in sorted(names))][
            :top_k
        ]


async def test_a_write_is_found_by_every_reader_when_it_returns(
    vector_server: VectorStore, partition: Partition
) -> None:
    writer = vector_server.client
    reader = vector_server.another()
    for n in range(12):
        direction = row("q", math.cos(n), math.sin(n)).vector
        await writer.put(
            partition, "chunks", [replace(row(f"row-{n}", text=f"{n}"), vector=direction)]
        )
        (hit,) = await reader.search(partition, "chunks", direction, top_k=1)
        assert hit.id == f"row-{n}"
        assert (await reader.get(partition, "chunks", [f"row-{n}"]))[f"row-{n}"].text == f"{n}"
        assert await reader.count(partition, "chunks") == n + 1
    for n in range(12):
        await writer.delete(partition, "chunks", [f"row-{n}"])
        assert await reader.get(partition, "chunks", [f"row-{n}"]) == {}
        assert await reader.count(partition, "chunks") == 11 - n
