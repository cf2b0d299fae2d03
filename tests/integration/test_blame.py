"""Who is to blame for a failed call: one text, which fails alone, or the provider, which is paused
for everybody.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from runtime.bus.memory import MemorySharedValues
from runtime.errors import (
    ModelRefused,
    ProviderPaused,
    RateLimited,
    ServiceError,
    TextFailure,
    Unavailable,
)
from runtime.models import blame
from runtime.models.call_scope import billed_calls, calls_for
from runtime.models.chat import EndpointChat
from runtime.models.failures import OVERLOAD_TRIES, TRIES
from runtime.models.limits import FAILURES_TO_OPEN, Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from tests.support.openai_provider import KEY, Provider, is_control, serving


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        provider.bad = "Mallory"
        yield provider


async def ask(chat: EndpointChat, text: str) -> str:
    return (await chat.complete([Message("user", text)])).text


async def failures(chat: EndpointChat, text: str, limit: int) -> list[ServiceError]:
    """The errors of a text that is asked again until it is refused."""
    result: list[ServiceError] = []
    while len(result) < limit and not (result and isinstance(result[-1], ModelRefused)):
        try:
            await ask(chat, text)
        except ServiceError as error:
            result.append(error)
    return result


def controls(provider: Provider) -> int:
    return sum(map(is_control, provider.requests))


VERDICTS = {
    "status:400": 1,
    "status:401": 1,
    "status:403": 1,
    "status:404": 1,
    "status:413": 1,
    "status:422": 1,
    "refused200": 1,
    "status:408": TRIES,
    "status:500": TRIES,
    "error200": TRIES,
    "no-choices": TRIES,
    "null": TRIES,
    "empty": TRIES,
    "garbage": TRIES,
    "html": TRIES,
    "status:503": OVERLOAD_TRIES,
}
"""How often a text fails, by the way in which it does, before it is given up."""


@pytest.mark.parametrize(("mode", "tries"), VERDICTS.items())
async def test_a_text_that_always_fails_is_given_up_and_the_provider_stays_well(
    provider: Provider, mode: str, tries: int
) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat(f"only:{mode}", limiter=limiter)
    errors = await failures(chat, "Then Mallory came.", 20)
    assert len(errors) == tries
    assert isinstance(errors[-1], ModelRefused)
    assert {type(error) for error in errors[:-1]} <= {TextFailure}
    assert KEY not in str(errors)
    assert await limiter.note() is None
    assert controls(provider) <= 2
    assert await ask(chat, "Then Ada came.") == "the answer"
    await chat.close()


@pytest.mark.parametrize("mode", VERDICTS)
async def test_verdicts_on_many_texts_of_one_workspace_never_stop_another(
    provider: Provider, mode: str
) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat(f"only:{mode}", limiter=limiter)
    for number in range(3 * FAILURES_TO_OPEN):
        with calls_for("a"), pytest.raises((ModelRefused, TextFailure)):
            await ask(chat, f"Mallory {number}")
    with calls_for("b"):
        assert await ask(chat, "Then Ada came.") == "the answer"
    assert await limiter.note() is None
    await chat.close()


@pytest.mark.parametrize(
    "mode", ["status:400", "status:401", "status:403", "status:500", "null", "refused200"]
)
async def test_a_provider_that_fails_for_the_control_as_well_is_paused_and_no_text_is_given_up(
    provider: Provider, mode: str
) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat(mode, limiter=limiter)
    kinds = Counter([type(error) for error in await failures(chat, "Then Mallory came.", 20)])
    assert kinds.keys() == {Unavailable, ProviderPaused}
    probes = kinds[Unavailable] - FAILURES_TO_OPEN
    assert "is paused since" in str(await limiter.note())
    assert len(provider.requests) == 2 * FAILURES_TO_OPEN + probes
    await chat.close()


async def test_a_key_that_is_revoked_under_way_costs_no_text(provider: Provider) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat("good", limiter=limiter)
    assert await ask(chat, "Ada") == "the answer"
    chat.model = "status:403"
    for number in range(FAILURES_TO_OPEN):
        with pytest.raises(Unavailable, match="refused the key"):
            await ask(chat, f"Ada {number}")
    assert "refused the key (HTTP 403" in str(await limiter.note())
    await chat.close()


async def test_an_outage_takes_no_tries_from_a_text(provider: Provider) -> None:
    chat = provider.chat("only:status:500")
    assert len(await failures(chat, "Mallory", TRIES - 1)) == TRIES - 1
    provider.down = True
    for _ in range(3):
        with pytest.raises(Unavailable):
            await ask(chat, "Mallory")
    provider.down = False
    assert isinstance((await failures(chat, "Mallory", 1))[0], ModelRefused)
    await chat.close()


async def test_an_answer_forgets_the_failures_of_a_text(provider: Provider) -> None:
    chat = provider.chat("only:status:500")
    assert len(await failures(chat, "Mallory", TRIES - 1)) == TRIES - 1
    provider.bad = "Trudy"
    assert await ask(chat, "Mallory") == "the answer"
    provider.bad = "Mallory"
    assert isinstance((await failures(chat, "Mallory", 1))[0], TextFailure)
    await chat.close()


async def test_a_text_that_was_given_up_is_tried_anew_when_it_comes_again(
    provider: Provider,
) -> None:
    chat = provider.chat("only:status:500")
    assert len(await failures(chat, "Mallory", 20)) == TRIES
    assert len(await failures(chat, "Mallory", 20)) == TRIES
    await chat.close()


async def test_without_answers_to_others_each_failure_asks_the_control(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "WELL", -1.0)
    chat = provider.chat("only:status:500")
    await failures(chat, "Mallory", 20)
    assert controls(provider) == TRIES
    await chat.close()


async def test_a_probing_call_with_a_text_that_always_fails_ends_the_pause(
    provider: Provider,
) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat("only:status:403", limiter=limiter)
    provider.down = True
    for _ in range(FAILURES_TO_OPEN):
        with pytest.raises(Unavailable):
            await ask(chat, "Mallory")
    provider.down = False
    (error,) = await failures(chat, "Mallory", 1)
    while isinstance(error, RateLimited):
        await asyncio.sleep(error.retry_after or 0.0)
        (error,) = await failures(chat, "Mallory", 1)
    assert isinstance(error, ModelRefused)
    assert await limiter.note() is None
    await chat.close()


async def test_what_the_control_took_is_billed(provider: Provider) -> None:
    chat = provider.chat("only:status:403")
    with billed_calls() as bill, pytest.raises(ModelRefused):
        await ask(chat, "Mallory")
    await chat.close()
    assert [(call.usage.calls, call.usage.prompt) for call in bill] == [(1, 7)]


async def test_a_stream_that_fails_for_one_text_pauses_nobody(provider: Provider) -> None:
    limiter = RateLimiter("m", Limits(calls=2), MemorySharedValues())
    chat = provider.chat("only:status:403", limiter=limiter)
    for _ in range(FAILURES_TO_OPEN + 1):
        with pytest.raises(ModelRefused, match="bad, with"):
            async for _ in chat.stream([Message("user", "Mallory")]):
                pass
    assert await limiter.note() is None
    await chat.close()
