"""Qdrant searches a small workspace by comparing and asks its index about a large one."""

import math
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from runtime.stores.vectors.collection_names import collection_name
from runtime.stores.vectors.qdrant.points import INDEXES
from runtime.stores.vectors.qdrant.store import QdrantVectors
from tests.support.partitions import fresh_partition
from tests.support.qdrant_server import QDRANTS
from tests.support.vector_stores import DIMENSION, MODEL, own_vector_store, row


@pytest.mark.parametrize("name", QDRANTS)
async def test_a_large_workspace_is_asked_of_the_index_and_a_half_made_collection_gets_its_own(
    name: str, tmp_path: Path
) -> None:
    partition = fresh_partition()
    async with own_vector_store(name, tmp_path) as store:
        client = AsyncQdrantClient(
            url=store.uri.replace("qdrant", "http"), timeout=30, check_compatibility=False
        )
        rows = [row(f"r{n:03}", math.cos(n / 64), math.sin(n / 64)) for n in range(100)]
        await store.client.put(partition, "chunks", rows)
        collection = collection_name(1, "chunks", MODEL, DIMENSION)
        await client.delete_payload_index(collection, "place")
        large = QdrantVectors(store.uri, model=MODEL, dimension=DIMENSION, exact_below=10)
        question = row("q", *rows[40].vector[:2]).vector
        assert await large.search(
            partition, "chunks", question, top_k=7
        ) == await store.client.search(partition, "chunks", question, top_k=7)
        assert set((await client.get_collection(collection)).payload_schema) == set(INDEXES)
        assert [r.id for r in await large.scan(partition, "chunks", "r096")] == [
            "r097",
            "r098",
            "r099",
        ]
        await large.close()
        await client.close()
