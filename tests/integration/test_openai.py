"""The OpenAI chat adapter against a real HTTP server that behaves well or badly."""

import asyncio
import time
import traceback
from collections.abc import AsyncIterator

import pytest

from contracts.values import TokenUsage
from embedded.processes import free_port
from runtime.errors import (
    ConfigurationError,
    ModelRefused,
    Poison,
    RateLimited,
    Retryable,
    ServiceError,
    TextFailure,
    Unavailable,
)
from runtime.models import json_posts
from runtime.models.call_scope import billed_calls, calls_for
from runtime.models.limits import Limits
from runtime.models.port import Chat, Completion, Message
from runtime.models.rate_limiter import RateLimiter
from tests.support.openai_provider import KEY, Provider, chat_at, is_control, serving

QUESTION = [Message("system", "be brief"), Message("user", "what? \ud800")]


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


async def ask(chat: Chat) -> Completion:
    try:
        return await chat.complete(QUESTION)
    finally:
        await chat.close()


async def read(chat: Chat) -> str:
    try:
        return "".join([piece.text async for piece in chat.stream(QUESTION)])
    finally:
        await chat.close()


async def test_an_answer_comes_with_its_usage(provider: Provider) -> None:
    completion = await ask(provider.chat("good"))
    assert completion == Completion(
        "the answer", TokenUsage(prompt=7, completion=2, cached=5, calls=1)
    )
    assert provider.requests[0]["messages"][1] == {"role": "user", "content": "what? ?"}
    assert provider.keys == {f"Bearer {KEY}"}
    assert "response_format" not in provider.requests[0]


async def test_json_is_asked_for(provider: Provider) -> None:
    chat = provider.chat("good")
    await chat.complete(QUESTION, json=True)
    await chat.close()
    assert provider.requests[0]["response_format"] == {"type": "json_object"}


async def test_an_answer_at_its_length_limit_says_so(provider: Provider) -> None:
    assert (await ask(provider.chat("cut"))).cut


async def test_an_answer_without_usage_counts_nothing(provider: Provider) -> None:
    assert (await ask(provider.chat("bare"))).usage == TokenUsage(calls=1)


@pytest.mark.parametrize(
    ("mode", "error", "says"),
    [
        ("status:400", Unavailable, "400"),
        ("status:413", Unavailable, "413"),
        ("code:400:context_length_exceeded", ModelRefused, "length"),
        ("code:400:content_filter", ModelRefused, "refuses this content"),
        ("code:400:content_policy_violation", ModelRefused, "refuses this content"),
        ("azure", ModelRefused, "refuses this content"),
        ("used-up", ModelRefused, "length limit"),
        ("status:404", Unavailable, "LLM_MODEL"),
        ("code:400:model_not_found", Unavailable, "LLM_MODEL"),
        ("status:402", Unavailable, "quota"),
        ("code:429:insufficient_quota", Unavailable, "quota"),
        ("code:400:invalid_api_key", Unavailable, "LLM_API_KEY"),
        ("status:422", Unavailable, "422"),
        ("refusal", ModelRefused, "refuses"),
        ("filter", ModelRefused, "refuses"),
        ("status:401", Unavailable, "LLM_API_KEY"),
        ("status:403", Unavailable, "LLM_API_KEY"),
        ("status:408", Unavailable, "408"),
        ("status:409", Unavailable, "409"),
        ("status:500", Unavailable, "500"),
        ("status:503", Unavailable, "503"),
        ("status:429", RateLimited, "wait"),
        ("empty", Unavailable, "empty"),
        ("null", Unavailable, "empty"),
        ("html", Unavailable, "LLM_BASE_URL"),
        ("garbage", Unavailable, "read|format"),
        ("error200", Unavailable, "no"),
    ],
)
async def test_each_failure_has_its_error_and_none_shows_the_key(
    provider: Provider, mode: str, error: type[ServiceError], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        await ask(provider.chat(mode))
    assert type(caught.value) is error
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_rate_limits_say_how_long_to_wait_without_waiting(provider: Provider) -> None:
    begin = time.monotonic()
    with pytest.raises(RateLimited) as caught:
        await ask(provider.chat("wait:30", retries=1))
    assert caught.value.retry_after == 30
    with pytest.raises(RateLimited) as caught:
        await ask(provider.chat("date", retries=1))
    # A date has whole seconds, so that the wait may be one longer.
    assert 50 < (caught.value.retry_after or 0) <= 61
    assert time.monotonic() - begin < 20
    assert len(provider.requests) == 2


@pytest.mark.parametrize("code", [429, 500])
async def test_a_blip_is_retried_where_a_person_waits(provider: Provider, code: int) -> None:
    with pytest.raises(Retryable):
        await ask(provider.chat(f"once:{code}"))
    provider.requests.clear()
    assert (await ask(provider.chat(f"once:{code}", retries=2))).text == "the answer"
    assert 2 <= len(provider.requests) <= 3


async def test_what_comes_from_the_log_is_not_retried_but_by_the_log(provider: Provider) -> None:
    with pytest.raises(Unavailable):
        await ask(provider.chat("status:500"))
    assert [is_control(request) for request in provider.requests] == [False, True]


async def test_a_provider_that_hangs_is_given_up_in_time(provider: Provider) -> None:
    begin = time.monotonic()
    with pytest.raises(Unavailable, match=r"0\.3 s"):
        await ask(provider.chat("hang", timeout=0.3))
    assert time.monotonic() - begin < 3


async def test_nobody_at_the_address_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="LLM_BASE_URL"):
        await ask(chat_at(f"http://127.0.0.1:{free_port()}/v1", "m", KEY))


async def test_an_answer_too_long_to_read_is_cut_off(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_posts, "LARGEST_ANSWER", 100_000)
    with pytest.raises(Unavailable, match="more than 100000 bytes"):
        await ask(provider.chat("huge"))


async def test_a_key_that_cannot_be_sent_is_refused_at_the_start(provider: Provider) -> None:
    with pytest.raises(ConfigurationError, match="LLM_API_KEY") as caught:
        chat_at(provider.url, "m", "sk-sécret\nkey")
    assert "cret" not in str(caught.value)


async def test_no_key_is_needed_where_the_provider_wants_none(provider: Provider) -> None:
    assert (await ask(chat_at(provider.url, "good", ""))).text == "the answer"


async def test_a_password_of_the_address_is_in_no_message(provider: Provider) -> None:
    url = provider.url.replace("://", "://user:hunter2%21@")
    for mode in ("status:500", "html", "status:401", "status:404", "garbage"):
        with pytest.raises(Unavailable) as caught:
            await ask(chat_at(url, mode, KEY))
        assert "hunter2" not in "".join(traceback.format_exception(caught.value))


async def test_a_cancelled_call_frees_its_turn(provider: Provider) -> None:
    chat = provider.chat("hang", limiter=RateLimiter("m", Limits(calls=1)))
    hanging = asyncio.create_task(chat.complete(QUESTION))
    waiting = asyncio.create_task(chat.complete(QUESTION))
    async with asyncio.timeout(5):
        while not provider.requests:
            await asyncio.sleep(0.01)
    hanging.cancel()
    async with asyncio.timeout(2):
        while len(provider.requests) < 2:
            await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(hanging, waiting, return_exceptions=True)
    await chat.close()


async def test_calls_run_side_by_side_up_to_the_limit(provider: Provider) -> None:
    chat = provider.chat("slow", limiter=RateLimiter("m", Limits(calls=3)))
    await asyncio.gather(*(chat.complete(QUESTION) for _ in range(9)))
    await chat.close()
    assert provider.most_running == 3


async def test_a_streamed_answer_comes_in_pieces(provider: Provider) -> None:
    chat = provider.chat("good")
    assert [piece.text async for piece in chat.stream(QUESTION)] == ["the ", "whole ", "answer"]
    await chat.close()


@pytest.mark.parametrize(
    ("mode", "usage"),
    [
        ("counted", TokenUsage(prompt=7, completion=3, cached=5, calls=1)),
        ("good", TokenUsage(calls=1)),
        ("no-options", TokenUsage(calls=1)),
    ],
)
async def test_what_a_streamed_answer_took_is_billed(
    provider: Provider, mode: str, usage: TokenUsage
) -> None:
    with billed_calls() as bill, calls_for("harbour"):
        assert await read(provider.chat(mode)) == "the whole answer"
    assert [(call.workspace, call.purpose, call.model, call.usage) for call in bill] == [
        ("harbour", "chat", mode, usage)
    ]


async def test_closing_the_iterator_ends_the_providers_stream(provider: Provider) -> None:
    chat = provider.chat("endless", limiter=RateLimiter("m", Limits(calls=1)))
    stream = chat.stream(QUESTION)
    assert (await anext(stream)).text == "the "
    assert not provider.disconnected.is_set()
    await stream.aclose()
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    assert (await asyncio.wait_for(chat.complete(QUESTION), 5)).text == "the answer"
    await chat.close()


async def test_cancelling_the_reader_ends_the_providers_stream(provider: Provider) -> None:
    first_piece = asyncio.Event()
    chat = provider.chat("endless")

    async def reader() -> None:
        async for _ in chat.stream(QUESTION):
            first_piece.set()

    reading = asyncio.create_task(reader())
    await asyncio.wait_for(first_piece.wait(), 5)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await asyncio.wait_for(provider.disconnected.wait(), 5)
    await chat.close()


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("silent", TextFailure),
        ("broken", TextFailure),
        ("filter", Poison),
        ("only:status:400", Poison),
        ("status:400", Unavailable),
        ("status:429", RateLimited),
        ("status:401", Unavailable),
        ("html", Unavailable),
    ],
)
async def test_failures_of_a_stream_have_the_same_errors(
    provider: Provider, mode: str, error: type[ServiceError]
) -> None:
    with pytest.raises(error) as caught:
        await read(provider.chat(mode))
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_stream_that_falls_silent_is_given_up(provider: Provider) -> None:
    with pytest.raises(Unavailable, match=r"0\.3 s"):
        await read(provider.chat("hang", timeout=0.3))
