"""What indexing asks of its stores: calls per batch and bytes per vector, which no machine's speed
changes.
"""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from contracts.graph import Entity, Generations, Partition, Relation
from contracts.ids import sha256
from offline.embeddings.lexical import LexicalEmbedder
from runtime.models.scripted import CountingEmbedder
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.projections.embedding_keys import embedding_key
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.indexer.graph_index import GraphKeys, index_graph

SPACE = Partition("w", 1)
NAMES = {f"name {n}" for n in range(50)}
PAIRS = {("name 0", f"name {n}") for n in range(1, 50)}


@dataclass
class Counted:
    """A store whose calls are counted, with the number of things that they name."""

    store: Any
    calls: Counter[str] = field(default_factory=Counter[str])
    named: Counter[str] = field(default_factory=Counter[str])

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)
        if not callable(method):
            return method

        async def call(*arguments: Any, **options: Any) -> Any:
            self.calls[name] += 1
            self.named[name] += sum(
                len(keys) for keys in arguments[1:] if not isinstance(keys, str | int)
            )
            return await method(*arguments, **options)

        return call


async def indexed(
    revision: int, *, again: bool = False
) -> tuple[Counted, Counted, CountingEmbedder]:
    """Index a graph of this revision for the first time, or after the first time."""
    embedder = CountingEmbedder(LexicalEmbedder(16))
    graph = MemoryGraph()
    vectors = MemoryVectors("m", 16)
    embeddings = CachedEmbeddings(MemoryRows(), embedder)
    stores = Counted(graph), Counted(vectors)
    for number in (revision, revision + 1)[: 1 + again]:
        for store in stores:
            store.calls.clear(), store.named.clear()
        embedder.calls = 0
        entities = [Entity(name, number, description="text") for name in sorted(NAMES)]
        await graph.put(
            SPACE, entities, [Relation(*pair, number, description="text") for pair in sorted(PAIRS)]
        )
        await index_graph(
            "w", GraphKeys(NAMES, PAIRS), Generations(), stores[0], stores[1], embeddings
        )
    return *stores, embedder


async def test_new_keys_are_read_written_and_checked_once() -> None:
    graph, vectors, embedder = await indexed(1)
    assert graph.calls == {"excerpts": 2}
    assert graph.named["excerpts"] == 2 * 99
    assert vectors.calls["put"] == 2
    assert vectors.named["versions"] == 0
    assert embedder.calls == 2  # 99 texts in groups of 80


async def test_keys_that_may_be_there_are_compared_first() -> None:
    _, vectors, _ = await indexed(2)
    assert vectors.named["versions"] == 99
    assert vectors.calls["put"] == 2


async def test_what_has_not_changed_is_neither_written_nor_checked() -> None:
    graph, vectors, embedder = await indexed(1, again=True)
    assert graph.calls == {"excerpts": 1}
    assert vectors.calls["put"] == 0
    assert embedder.calls == 0


async def test_a_cached_embedding_takes_less_than_two_bytes_a_number_and_older_ones_are_read() -> (
    None
):
    rows = MemoryRows()
    embedder = CountingEmbedder(LexicalEmbedder(384))
    embeddings = CachedEmbeddings(rows, embedder)
    table = Table("embeddings", Partition("w", 0))
    (vector,) = await embeddings.embed("w", ["text"])
    ((key, row),) = await rows.scan(table)
    assert len(row["f16z"]) < 1.9 * 384
    # Whoever is first gets what everybody gets afterwards, and a rebuild too.
    (again,) = await embeddings.embed("w", ["text"])
    assert list(vector) == list(again)
    (exact_vector,) = await LexicalEmbedder(384).embed(["text"])
    assert max(abs(a - b) for a, b in zip(vector, exact_vector, strict=True)) < 0.0005
    assert embedder.calls == 1
    assert key == embedding_key(embedder.model, 384, "text")
    assert len(key) == 23


async def test_embeddings_that_older_versions_cached_are_read_as_they_are() -> None:
    rows = MemoryRows()
    embedder = CountingEmbedder(LexicalEmbedder(384))
    table = Table("embeddings", Partition("w", 0))
    of_texts = {
        "old": {"f16": np.full(384, 0.1, "<f2").tobytes()},
        "older": {"f32": array("f", [0.1] * 384).tobytes()},
        "oldest": {"vector": [0.1] * 384},
    }
    await rows.put(
        table,
        {
            sha256(f"{embedder.model}\x1f384\x1f{text}"): cached_row
            for text, cached_row in of_texts.items()
        },
    )
    embeddings = CachedEmbeddings(rows, embedder)
    new_vector, *cached_vectors = await embeddings.embed("w", ["new", *of_texts])
    for vector in cached_vectors:
        assert list(vector) == pytest.approx([0.1] * 384, abs=5e-5)
    assert embedder.calls == 1
    assert list(new_vector) == list((await embeddings.embed("w", ["new"]))[0])
    assert embedder.calls == 1


async def test_a_branch_takes_the_vectors_of_its_origin_and_keeps_them() -> None:
    rows = MemoryRows()
    embedder = CountingEmbedder(LexicalEmbedder(16))
    embeddings = CachedEmbeddings(rows, embedder)
    expected = await embeddings.embed("w", ["text"])
    assert await embeddings.embed("w..b", ["text"]) == expected
    await rows.drop(Table("embeddings", Partition("w", 0)))
    assert await embeddings.embed("w..b", ["text"]) == expected
    assert embedder.calls == 1
