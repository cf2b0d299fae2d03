"""A question whose leader is lost is asked again, and whoever answers first is heard."""

import asyncio

import pytest

from runtime.bus.nats import asking
from runtime.bus.nats.asking import first_answer


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "AGAIN", 0.001)


async def test_what_a_lost_leader_was_asked_the_next_one_answers() -> None:
    leader_lost = asyncio.Event()

    async def ask() -> str:
        if not leader_lost.is_set():
            leader_lost.set()
            await asyncio.Event().wait()
        return "the next one"

    assert await first_answer(ask) == "the next one"
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_late_answer_to_the_first_question_counts() -> None:
    again = asyncio.Event()
    number = 0

    async def ask() -> int:
        nonlocal number
        number += 1
        if number == 1:
            await again.wait()
            return 1
        again.set()
        await asyncio.Event().wait()
        return number

    assert await first_answer(ask) == 1


async def test_a_refusal_is_an_answer() -> None:
    async def ask() -> None:
        raise KeyError("nothing there")

    with pytest.raises(KeyError):
        await first_answer(ask)


async def test_who_gives_up_leaves_no_question_behind() -> None:
    question_sent = asyncio.Event()

    async def ask() -> None:
        question_sent.set()
        await asyncio.Event().wait()

    waiting = asyncio.create_task(first_answer(ask))
    await question_sent.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
