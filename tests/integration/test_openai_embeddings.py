"""The OpenAI embedding adapter against a real HTTP server that behaves well or badly."""

import math
import traceback
from collections.abc import AsyncIterator

import pytest

from runtime.errors import Poison, RateLimited, Unavailable
from runtime.models.ports import Embedder
from tests.support.openai_provider import DIMENSION, KEY, Provider, serving


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


async def embed(embedder: Embedder, texts: list[str]) -> list[tuple[float, ...]]:
    try:
        return await embedder.embed(texts)
    finally:
        await embedder.close()


@pytest.mark.parametrize("mode", ["good", "shuffled"])
async def test_vectors_come_in_the_order_of_the_texts_with_length_one(provider: Provider, mode: str) -> None:
    texts = ["x" * length for length in (3, 1, 5, 2, 4)]
    vectors = await embed(provider.embedder(mode, batch=2), texts)
    assert [round(vector[0] / vector[1]) for vector in vectors] == [3, 1, 5, 2, 4]
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
    assert sorted(len(request["input"]) for request in provider.requests) == [1, 2, 2]


async def test_blank_texts_are_sent_as_one_blank(provider: Provider) -> None:
    await embed(provider.embedder("good"), ["", "\n\t", "a\ud800"])
    assert provider.requests[0]["input"] == [" ", " ", "a?"]


async def test_no_texts_ask_nobody(provider: Provider) -> None:
    assert await embed(provider.embedder("good"), []) == []
    assert provider.requests == []


@pytest.mark.parametrize(
    "mode",
    ["wrong-dimension", "nan", "infinite", "zeros", "words", "missing", "short", "none", "status:400"],
)
async def test_useless_vectors_are_poison(provider: Provider, mode: str) -> None:
    with pytest.raises(Poison):
        await embed(provider.embedder(mode), ["a", "b"])


@pytest.mark.parametrize("mode", ["html", "garbage", "error200", "status:401"])
async def test_an_endpoint_that_is_no_embedder_is_unavailable(provider: Provider, mode: str) -> None:
    with pytest.raises(Unavailable) as caught:
        await embed(provider.embedder(mode), ["a"])
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_one_failed_batch_fails_the_call_and_stops_the_others(provider: Provider) -> None:
    with pytest.raises(Poison):
        await embed(provider.embedder("nan", batch=1, concurrency=1), ["a"] * 50)
    assert len(provider.requests) < 50


async def test_only_models_that_can_shorten_their_vectors_are_asked_to(provider: Provider) -> None:
    await embed(provider.embedder("text-embedding-3-small"), ["a"])
    await embed(provider.embedder("good"), ["a"])
    assert [request.get("dimensions") for request in provider.requests] == [DIMENSION, None]


async def test_a_rate_limit_says_how_long_to_wait_without_waiting(provider: Provider) -> None:
    with pytest.raises(RateLimited) as caught:
        await embed(provider.embedder("wait:30"), ["text"])
    assert caught.value.retry_after == 30
    assert len(provider.requests) == 1
