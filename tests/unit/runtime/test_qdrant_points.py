"""Rows as points of Qdrant, and what a server answers that is not well."""

import base64
import string
from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from contracts.graph import VECTOR_KINDS, Partition, VectorKind, VectorRow
from contracts.ids import chunk_vector_id, entity_vector_id
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.vectors.qdrant import points
from runtime.stores.vectors.qdrant.store import QdrantVectors

IDS = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=64)
KEY = "an-api-key-that-nobody-may-read"


@given(st.sampled_from(VECTOR_KINDS), st.lists(IDS | IDS.map("chunk-".__add__)))
def test_places_are_ordered_as_ids_are(kind: VectorKind, ids: list[str]) -> None:
    places = [points.place_of(kind, id[:64]) for id in sorted(ids)]
    assert places == sorted(places)
    assert all(0 <= place < 2**50 for place in places)


def test_real_ids_are_told_apart_by_their_hashes() -> None:
    of_entities = {points.place_of("entities", entity_vector_id(f"E{n}")) for n in range(1000)}
    assert len(of_entities) == 1000
    of_chunks = {points.place_of("chunks", chunk_vector_id("a document", n)) for n in range(9)}
    assert len(of_chunks) == 1


def test_the_numbers_of_a_row_come_back_bit_by_bit() -> None:
    vector = np.random.default_rng(7).normal(size=64).astype(np.float32)
    point = points.to_point("w", "chunks", VectorRow("a", "t", "h", vector=tuple(vector.tolist())))
    assert point.payload is not None
    assert points.numbers_of(point.payload).tobytes() == vector.tobytes()
    assert len(base64.b64decode(point.payload[points.NUMBERS])) == 256


def test_a_row_is_never_longer_than_what_it_is_counted_as() -> None:
    odd = VectorRow("a", "\x00" * 999, "h", vector=(0.10000000149011612,) * 384, names=("\x01",))
    point = points.to_point("w", "chunks", odd)
    assert len(point.model_dump_json()) <= points.bytes_of(odd)


@pytest.mark.parametrize(
    "url", ["qdrant:///", "http://host:6333", "qdrant+ftp://host", f"qdrant://user:{KEY}@host:6333"]
)
def test_an_address_of_no_use_is_refused_without_its_key(url: str) -> None:
    with pytest.raises(ConfigurationError, match="Qdrant") as refusal:
        QdrantVectors(url, model="m", dimension=2)
    assert KEY not in str(refusal.value)


@pytest_asyncio.fixture
async def answering() -> AsyncIterator[tuple[str, list[web.Response], list[str]]]:
    """A server that gives the answers of a list: its URL, the list, and the keys it was shown."""
    answers: list[web.Response] = []
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers.get("api-key", ""))
        return answers.pop(0)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]
    yield f"qdrant://127.0.0.1:{port}", answers, keys
    await runner.cleanup()


NO_COLLECTIONS = {"result": {"collections": []}, "status": "ok", "time": 0.0}


async def test_the_key_is_sent_and_shown_to_nobody(
    answering: tuple[str, list[web.Response], list[str]], recwarn: pytest.WarningsRecorder
) -> None:
    url, answers, keys = answering
    vectors = QdrantVectors(url, model="m", dimension=2, api_key=KEY)
    answers += [web.json_response({}, status=403), web.json_response(NO_COLLECTIONS)]
    with pytest.raises(ConfigurationError, match="VECTORS_TOKEN") as refusal:
        await vectors.ping()
    assert KEY not in f"{refusal.value!r}{vectors!r}{refusal.value.__context__!r}"
    await vectors.ping()
    answers.append(web.json_response({}, status=401))
    with pytest.raises(Unavailable):  # it was allowed before: a key is being changed
        await vectors.ping()
    assert keys == [KEY] * 3
    assert not recwarn.list
    await vectors.close()


@pytest.mark.parametrize(
    ("answer", "error", "seconds"),
    [
        (web.Response(status=429, headers={"Retry-After": "7"}), Unavailable, 7),
        (web.Response(status=429), Unavailable, None),
        (web.Response(status=429, headers={"Retry-After": "soon"}), Unavailable, None),
        (web.Response(status=500, text="a secret of a document"), Unavailable, None),
        (web.Response(status=503), Unavailable, None),
        (web.Response(status=400, text="a secret of a document"), RuntimeError, None),
        (web.Response(text="<html>another server</html>"), Unavailable, None),
        (web.json_response({"result": {"anything": 1}}), Unavailable, None),
    ],
)
async def test_what_may_pass_is_unavailable_and_no_text_is_repeated(
    answering: tuple[str, list[web.Response], list[str]],
    answer: web.Response,
    error: type[Exception],
    seconds: float | None,
) -> None:
    url, answers, _ = answering
    vectors = QdrantVectors(url, model="m", dimension=2)
    answers.append(answer)
    with pytest.raises(error) as failure:
        await vectors.count(Partition("w", 1), "chunks")
    assert "secret" not in str(failure.value)
    assert getattr(failure.value, "retry_after", None) == seconds
    await vectors.close()
