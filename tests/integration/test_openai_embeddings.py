"""The OpenAI embedding adapter against a real HTTP server that behaves well or badly."""

import asyncio
import math
import traceback
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.responses import Response

from offline.embeddings.lexical import LexicalEmbedder
from runtime.errors import Poison, RateLimited, ServiceError, Unavailable
from runtime.models.embedder import CONTROL
from runtime.models.limits import FAILURES_TO_OPEN, Limits
from runtime.models.port import Embedder
from runtime.models.rate_limiter import RateLimiter
from runtime.models.scripted import CountingEmbedder
from runtime.models.truncation import cutter
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
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


@pytest.mark.parametrize("mode", ["good", "shuffled", "no-index"])
async def test_vectors_come_in_the_order_of_the_texts_with_length_one(
    provider: Provider, mode: str
) -> None:
    texts = ["x" * length for length in (3, 1, 5, 2, 4)]
    vectors = await embed(provider.embedder(mode, batch=2), texts)
    assert [round(vector[0] / vector[1]) for vector in vectors] == [3, 1, 5, 2, 4]
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
    assert sorted(len(request["input"]) for request in provider.requests) == [1, 2, 2]


async def test_blank_texts_are_sent_as_one_blank(provider: Provider) -> None:
    await embed(provider.embedder("good"), ["", "\n\t", "a\ud800"])
    assert provider.requests[0]["input"] == [" ", "a?"]


async def test_no_texts_ask_nobody(provider: Provider) -> None:
    assert await embed(provider.embedder("good"), []) == []
    assert provider.requests == []


USELESS = ["nan", "infinite", "zeros", "words", "short", "long", "none", "all:not-json"]


@pytest.mark.parametrize("texts", [["a"], ["a", "b", "c"]], ids=len)
@pytest.mark.parametrize("mode", USELESS)
async def test_a_provider_whose_vectors_are_useless_is_to_blame_for_it(
    provider: Provider, mode: str, texts: list[str]
) -> None:
    with pytest.raises(Unavailable, match=f"{mode}|HTTP 500: failed to encode") as caught:
        await embed(provider.embedder(mode), texts)
    inputs = [request["input"] for request in provider.requests]
    # A server that breaks is asked for the control in each form that there is.
    assert inputs == [texts, *[[CONTROL]] * (3 if mode == "all:not-json" else 1)]
    assert "EMBEDDING_" in str(caught.value) or "HTTP 500" in str(caught.value)


@pytest.mark.parametrize("mode", [*USELESS, "wrong-dimension", "missing"])
async def test_a_provider_whose_vectors_are_useless_is_paused(
    provider: Provider, mode: str
) -> None:
    limiter = RateLimiter("m", Limits(calls=2))
    embedder = provider.embedder(mode, limiter=limiter)
    for number in range(FAILURES_TO_OPEN):
        with pytest.raises(Unavailable):
            await embedder.embed([f"text {number}", "another"])
    note = await limiter.note()
    request_count = len(provider.requests)
    assert note and "is paused since" in note
    with pytest.raises(RateLimited):
        await embedder.embed(["a"])
    await embedder.close()
    assert len(provider.requests) == request_count


@pytest.mark.parametrize("how", ["nan", "infinite", "zeros", "short"])
async def test_a_text_that_fails_alone_while_others_do_not_is_poison(
    provider: Provider, how: str
) -> None:
    provider.bad, limiter = "bitcoin", RateLimiter("m", Limits(calls=2))
    embedder = provider.embedder(f"picky:{how}", limiter=limiter, batch=5)
    for _ in range(FAILURES_TO_OPEN + 1):
        with pytest.raises(Poison, match=r"other texts it embeds, and not 'about bitcoin'"):
            await embedder.embed(["a", "about bitcoin", "b"])
    provider.requests.clear()
    with pytest.raises(Poison):
        await embedder.embed(["about bitcoin"])
    inputs = [request["input"] for request in provider.requests]
    assert inputs == [["about bitcoin"], ["about bitcoin"], [CONTROL]]
    assert await limiter.note() is None, "the provider is well"
    assert len(await embedder.embed(["a", "b"])) == 2
    await embedder.close()


async def test_one_bad_moment_of_a_provider_fails_no_text(provider: Provider) -> None:
    provider.bad = "text"
    embedder = provider.embedder("picky:nan")
    handle = provider.embeddings

    def once(body: dict[str, Any]) -> Response:
        answer = handle(body)
        provider.bad = "\0"
        return answer

    provider.embeddings = once  # type: ignore[method-assign]
    (vector,) = await embed(embedder, ["text"])
    assert math.isclose(math.hypot(*vector), 1.0)
    assert len(provider.requests) == 3


@pytest.mark.parametrize("mode", ["batches", "same-index", "odd-index"])
async def test_a_provider_that_takes_one_text_a_call_is_given_one(
    provider: Provider, mode: str
) -> None:
    vectors = await embed(provider.embedder(mode), ["x", "xx", "xxx"])
    assert [round(vector[0] / vector[1]) for vector in vectors] == [1, 2, 3]
    assert len(provider.requests) == 1 + 1 + 1 + 3


async def test_numbers_no_float_can_hold_are_useless(provider: Provider) -> None:
    for body in (b'{"data": [{"embedding": [1%s, 0, 0, 0]}]}' % (b"0" * 400), b"[" * 100_000):
        provider.embeddings = lambda _, body=body: Response(body, media_type="application/json")  # type: ignore
        with pytest.raises(Unavailable):
            await embed(provider.embedder("good"), ["a"])


@pytest.mark.parametrize(
    ("mode", "numbers"), [("wrong-dimension", "3 numbers"), ("missing", "no numbers")]
)
async def test_a_wrong_dimension_waits_for_the_right_setting(
    provider: Provider, mode: str, numbers: str
) -> None:
    with pytest.raises(Unavailable, match=f"{mode} gave {numbers}, not 4: set EMBEDDING_DIM"):
        await embed(provider.embedder(mode), ["a", "b"])


async def test_a_text_the_provider_does_not_take_is_poison(provider: Provider) -> None:
    with pytest.raises(Poison, match="takes no text of this length"):
        await embed(provider.embedder("code:400:context_length_exceeded"), ["a"])


@pytest.mark.parametrize("mode", ["nan", "short", "wrong-dimension"])
async def test_nothing_of_a_failed_batch_is_written(provider: Provider, mode: str) -> None:
    rows = MemoryRows()
    embedder = provider.embedder(mode, batch=2)
    with pytest.raises(ServiceError):
        await CachedEmbeddings(rows, embedder).embed("w", ["a", "bb", "ccc"])
    await embedder.close()
    counting = CountingEmbedder(LexicalEmbedder(DIMENSION))
    counting.model = mode
    await CachedEmbeddings(rows, counting).embed("w", ["a", "bb", "ccc"])
    assert counting.texts == ["a", "bb", "ccc"]


async def test_what_came_before_a_wait_is_not_paid_for_again(provider: Provider) -> None:
    rows = MemoryRows()
    texts = [f"text {number}" for number in range(60)]
    embedder = provider.embedder("good", batch=5, limiter=RateLimiter("m", Limits(calls=1)))
    embeddings = CachedEmbeddings(rows, embedder, 10)
    provider.busy_after = 7
    with pytest.raises(RateLimited):
        await embeddings.embed("w", texts)
    provider.busy_until, provider.busy_after = 0.0, 0
    again = len(provider.requests)
    await asyncio.sleep(1.1)
    assert len(await embeddings.embed("w", texts)) == 60
    await embedder.close()
    assert again == 8
    assert len(provider.requests) - again <= 12 - 7 + 1


async def test_each_text_is_embedded_once_in_full_batches(provider: Provider) -> None:
    texts = ["x" * (1 + number % 25) for number in range(100)]
    vectors = await embed(provider.embedder("good", batch=10), texts)
    texts_sent = [text for request in provider.requests for text in request["input"]]
    assert sorted(texts_sent) == sorted(set(texts))
    assert sorted(len(request["input"]) for request in provider.requests) == [5, 10, 10]
    assert [round(vector[0] / vector[1]) for vector in vectors] == [len(text) for text in texts]


async def test_a_provider_that_refuses_many_texts_a_call_is_sent_fewer_from_then_on(
    provider: Provider,
) -> None:
    texts = [f"{'x' * number}!" for number in range(32)]
    embedder = provider.embedder("few")
    vectors = await embedder.embed(texts)
    assert [round(vector[0] / vector[1]) for vector in vectors] == [len(text) for text in texts]
    assert [len(request["input"]) for request in provider.requests] == [32, 1, 16, 1, 8, 8, 8, 8]
    provider.requests.clear()
    await embed(embedder, [f"{text}?" for text in texts])
    assert [len(request["input"]) for request in provider.requests] == [8, 8, 8, 8]


async def test_a_call_has_fewer_long_texts(provider: Provider) -> None:
    await embed(provider.embedder("good"), [f"{number:05000d}" for number in range(20)])
    assert sorted(len(request["input"]) for request in provider.requests) == [2, 9, 9]


async def test_texts_are_cut_before_they_are_sent(provider: Provider) -> None:
    await embed(
        provider.embedder("good", cut=cutter(0, 10)), ["居里夫人和居里先生", "short", "居里夫人"]
    )
    assert provider.requests[0]["input"] == ["居里夫", "short"]


async def test_no_more_calls_run_at_once_than_the_limit(provider: Provider) -> None:
    await embed(
        provider.embedder("slow", batch=1, limiter=RateLimiter("m", Limits(calls=3))),
        list("abcdefghi"),
    )
    assert provider.most_running == 3


@pytest.mark.parametrize("mode", ["html", "garbage", "error200", "status:401"])
async def test_an_endpoint_that_is_no_embedder_is_unavailable(
    provider: Provider, mode: str
) -> None:
    with pytest.raises(Unavailable) as caught:
        await embed(provider.embedder(mode), ["a"])
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_one_failed_batch_fails_the_call_and_stops_the_others(provider: Provider) -> None:
    with pytest.raises(Unavailable):
        await embed(
            provider.embedder("nan", batch=1, limiter=RateLimiter("m", Limits(calls=1))),
            [str(n) for n in range(50)],
        )
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
