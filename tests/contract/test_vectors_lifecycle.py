"""The contract of the vector store over time: generations, models, servers that freeze, die or were
left half made.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import grpc
import pytest
import pytest_asyncio
from pymilvus import DataType, MilvusClient
from pymilvus.exceptions import MilvusException

from contracts.graph import (
    VECTOR_KINDS,
    EmbeddingModel,
    Entity,
    Generations,
    Partition,
    Relation,
    VectorRow,
)
from offline.embeddings.lexical import LexicalEmbedder
from runtime.errors import ModelChanged, OutdatedVectors, Unavailable
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors import collection_names, model_collections
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.collection_names import collection_name, model_text
from runtime.stores.vectors.milvus.collections import NotServed, translated
from runtime.stores.vectors.port import Vectors
from services.indexer.graph_index import GraphKeys, index_graph
from tests.support.freezing import freeze, thaw
from tests.support.partitions import fresh_partition
from tests.support.vector_stores import (
    DIMENSION,
    KEPT_STORES,
    MODEL,
    SERVERS,
    STORES,
    VectorStore,
    ids,
    own_vector_store,
    row,
)
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")
outlives_us = pytest.mark.parametrize("vector_server", KEPT_STORES, indirect=True)
servers_only = pytest.mark.parametrize("vector_server", SERVERS, indirect=True)
milvus_only = pytest.mark.parametrize("vector_server", ["milvus-lite", "milvus"], indirect=True)

OTHER_MODEL = "example/嵌入器-large"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=STORES)
async def vector_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[VectorStore]:
    async with own_vector_store(request.param, tmp_path_factory.mktemp("vectors")) as running:
        await running.client.prepare(1)
        yield running


async def test_what_a_generation_lacks_is_named_until_it_is_prepared(vectors: Vectors) -> None:
    lacks = await vectors.missing(907)
    assert [next(kind for kind in VECTOR_KINDS if kind in line) for line in lacks] == list(
        VECTOR_KINDS
    )
    assert 907 not in await vectors.generations()
    await vectors.prepare(907)
    assert await vectors.missing(907) == []
    await vectors.drop(907)


async def test_reading_a_generation_that_nobody_made_finds_nothing_and_makes_nothing(
    vectors: Vectors,
) -> None:
    unmade = fresh_partition(generation=78)
    assert await vectors.get(unmade, "chunks", ["a"]) == {}
    assert await vectors.search(unmade, "chunks", row("q").vector, top_k=5) == []
    assert await vectors.scan(unmade, "chunks") == []
    assert await vectors.count(unmade, "chunks") == 0
    await vectors.delete(unmade, "chunks", ["a"])
    assert 78 not in await vectors.generations()


async def test_generations_are_made_on_need_kept_apart_and_dropped_whole(
    vector_server: VectorStore, partition: Partition
) -> None:
    vectors = vector_server.client
    other_model = vector_server.another(OTHER_MODEL, 16)
    await other_model.prepare(41)
    there = replace(partition, generation=42)
    await vectors.put(partition, "chunks", [row("a", text="old")])
    await asyncio.gather(
        *(
            client.put(there, "chunks", [row("a", text="new")])
            for client in (vectors, vector_server.another())
        )
    )
    assert {1, 41, 42} <= await vectors.generations()
    assert (await vectors.get(partition, "chunks", ["a"]))["a"].text == "old"
    assert (await vectors.get(there, "chunks", ["a"]))["a"].text == "new"
    for generation in (41, 42, 42, 43):
        await vectors.drop(generation)
    assert not {41, 42, 43} & await vectors.generations()
    assert await vectors.count(there, "chunks") == 0
    assert await ids(vectors, partition) == ["a"]


async def test_a_client_finds_out_that_another_one_dropped_the_generation(
    vector_server: VectorStore, partition: Partition
) -> None:
    vectors = vector_server.client
    other_client = vector_server.another()
    there = replace(partition, generation=51)
    await vectors.put(there, "chunks", [row("a"), row("b")])
    await other_client.drop(51)
    assert await vectors.get(there, "chunks", ["a"]) == {}
    await vectors.put(there, "chunks", [row("b")])
    await other_client.drop(51)
    await vectors.put(there, "chunks", [row("c")])
    assert await ids(vectors, there) == ["c"]
    await vectors.drop(51)


async def test_the_model_that_filled_a_generation_is_told_to_every_client(
    vector_server: VectorStore,
) -> None:
    vectors = vector_server.client
    other_model = vector_server.another(OTHER_MODEL, 16)
    assert await vectors.model_of(908) is None
    await other_model.prepare(908)
    for client in (vectors, other_model):
        assert await client.model_of(908) == EmbeddingModel(OTHER_MODEL, 16)
        assert await client.model_of(1) == EmbeddingModel(MODEL, DIMENSION)
    await vectors.drop(908)
    assert await other_model.model_of(908) is None


@pytest.mark.parametrize(("model", "dimension"), [(OTHER_MODEL, DIMENSION), (MODEL, 16)])
async def test_a_generation_that_another_model_filled_is_refused(
    vector_server: VectorStore, partition: Partition, model: str, dimension: int
) -> None:
    await vector_server.client.put(partition, "chunks", [row("a")])
    vectors = vector_server.another(model, dimension)
    fitting = VectorRow("b", "text", "hash", vector=(1.0,) * dimension)
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: vectors.prepare(1),
        lambda: vectors.put(partition, "chunks", [fitting]),
        lambda: vectors.get(partition, "chunks", ["a"]),
        lambda: vectors.search(partition, "chunks", fitting.vector, top_k=1),
        lambda: vectors.delete(partition, "chunks", ["a"]),
        lambda: vectors.scan(partition, "chunks"),
        lambda: vectors.count(partition, "chunks"),
    ]
    for call in calls:
        with pytest.raises(ModelChanged, match="lightstream rebuild vectors") as refusal:
            await call()
        assert f"{MODEL} ({DIMENSION}" in str(refusal.value)
        assert f"{model} ({dimension}" in str(refusal.value)
    await vectors.ping()
    assert 1 in await vectors.generations()
    assert await ids(vector_server.client, partition) == ["a"]


@outlives_us
async def test_a_generation_with_ids_of_an_older_format_can_be_searched_and_not_written(
    vector_server: VectorStore, partition: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = replace(partition, generation=62)
    vectors = vector_server.another()
    with monkeypatch.context() as patch:
        for module in (model_collections, collection_names):
            patch.setattr(module, "VECTOR_FORMAT", 1)
        await vector_server.another().put(there, "relations", [row("rel-old", names=("A", "B"))])
    assert [
        hit.names for hit in await vectors.search(there, "relations", row("q").vector, top_k=1)
    ] == [("A", "B")]
    assert [result.id for result in await vectors.scan(there, "relations")] == ["rel-old"]
    assert await vectors.model_of(62) == EmbeddingModel(MODEL, DIMENSION)
    writes: list[Callable[[], Awaitable[Any]]] = [
        lambda: vectors.prepare(62),
        lambda: vectors.put(there, "relations", [row("rel-new")]),
        lambda: vectors.put(there, "chunks", [row("a")]),
        lambda: vectors.delete(there, "relations", ["rel-old"]),
    ]
    for write in writes:
        with pytest.raises(OutdatedVectors, match="lightstream rebuild vectors"):
            await write()
    assert await vectors.missing(62) == [await vectors.outdated(62)] != [None]
    assert await vectors.outdated(1) is None
    assert 62 in await vectors.generations()
    assert await vectors.count(there, "relations") == 1
    await vectors.drop(62)
    assert 62 not in await vectors.generations()
    assert await vectors.outdated(62) is None
    await vectors.put(there, "relations", [row("rel-new")])
    assert [result.id for result in await vectors.scan(there, "relations")] == ["rel-new"]
    await vectors.drop(62)


async def test_relations_whose_names_join_to_one_text_are_both_found(
    vector_server: VectorStore,
) -> None:
    generations = Generations(graph=1, vectors=63)
    graph = MemoryGraph()
    embeddings = CachedEmbeddings(MemoryRows(), LexicalEmbedder(DIMENSION))
    pairs = {("ZqA", "bcdyx"), ("ZqAb", "cdyx")}
    partition = Partition("joined", 63)
    relations = [
        Relation(*pair, 1, description=f"{pair[0]} knows {pair[1]}") for pair in sorted(pairs)
    ]
    await graph.put(
        Partition("joined", 1), [Entity(name, 1) for pair in pairs for name in pair], relations
    )
    for _ in range(2):
        await index_graph(
            "joined", GraphKeys(set(), pairs), generations, graph, vector_server.client, embeddings
        )
    assert {row.names for row in await vector_server.client.scan(partition, "relations")} == pairs
    await vector_server.client.drop(63)


@milvus_only
async def test_a_collection_whose_maker_died_halfway_is_finished(
    vector_server: VectorStore, partition: Partition
) -> None:
    there = replace(partition, generation=61)
    name = collection_name(61, "chunks", MODEL, DIMENSION)
    await asyncio.to_thread(make_half, vector_server.uri, name)
    await vector_server.client.put(there, "chunks", [row("a")])
    assert [
        hit.id
        for hit in await vector_server.another().search(there, "chunks", row("q").vector, top_k=1)
    ] == ["a"]
    await vector_server.client.drop(61)


def make_half(uri: str, name: str) -> None:
    """What a process that is killed while it makes a collection leaves behind: fields, but no
    index.
    """
    client: Any = MilvusClient(uri, dedicated=True)
    schema: Any = client.create_schema(description=model_text(MODEL, DIMENSION))
    schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=stored.KEY_BYTES)
    for field, max_length in stored.STRINGS.items():
        schema.add_field(field, DataType.VARCHAR, max_length=max_length)
    for field in stored.NUMBERS:
        schema.add_field(field, DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSION)
    client.create_collection(name, schema=schema)
    client.close()


@servers_only
async def test_a_server_that_freezes_is_unavailable_in_time_and_found_again(
    vector_server: VectorStore, partition: Partition
) -> None:
    vectors = vector_server.another(timeout=2.0)
    await vectors.put(partition, "chunks", [row("a")])
    freeze(vector_server.server.pid)
    try:
        start = time.monotonic()
        questions = [
            vectors.count(partition, "chunks"),
            vectors.put(partition, "chunks", [row("b")]),
            vectors.ping(),
        ]
        answers = await asyncio.gather(
            *questions, vector_server.another(timeout=2.0).ping(), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [Unavailable] * 4
        assert time.monotonic() - start < 8.0
    finally:
        thaw(vector_server.server.pid)
    await eventually(lambda: vectors.put(partition, "chunks", [row("b")]))
    assert sorted(await vectors.get(partition, "chunks", ["a", "b"])) == ["a", "b"]


@servers_only
async def test_a_server_that_was_killed_comes_back_with_all_that_it_acknowledged(
    vector_server: VectorStore, partition: Partition
) -> None:
    vectors = vector_server.client
    rows = [row(f"row-{n:04d}", n / 1024, 1.0) for n in range(1_200)]
    await vectors.put(partition, "chunks", rows)
    await vectors.delete(partition, "chunks", ["row-0000"])
    await vector_server.server.kill()
    for call in (
        vectors.ping,
        lambda: vectors.put(partition, "chunks", [row("a")]),
        lambda: vectors.count(partition, "chunks"),
    ):
        with pytest.raises(Unavailable):
            await call()
    await vector_server.server.start()
    assert await eventually(lambda: vectors.count(partition, "chunks")) == 1_199
    assert await eventually(lambda: vector_server.another().count(partition, "chunks")) == 1_199
    await vectors.put(partition, "chunks", [rows[0]])
    result = await vectors.get(
        partition, "chunks", [vector_row.id for vector_row in rows], vectors=True
    )
    assert result == {vector_row.id: vector_row for vector_row in rows}


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, "Retry run out", Unavailable),
        (2, "Fail connecting", Unavailable),
        (1, "service not ready[querycoord=3]: Initializing", Unavailable),
        (65535, "rpc error: code = Unavailable desc = connection refused", Unavailable),
        (503, "channel not available", Unavailable),
        (101, "collection not loaded", NotServed),
        (1, "list index out of range", MilvusException),
        (1100, "invalid parameter", MilvusException),
    ],
)
async def test_only_what_may_pass_is_unavailable(
    code: Any, message: str, kind: type[Exception]
) -> None:
    assert type(translated(MilvusException(code, message))) is kind
