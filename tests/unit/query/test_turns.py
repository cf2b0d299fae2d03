"""Many questions at once: so many look into the stores, the others wait, and none waits for ever."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runtime.errors import Unavailable
from runtime.models.ports import Vector
from services.query.turns import Turns
from tests.support.access import client
from tests.support.querying import World, library_of_two

QUESTION = {"query": "Who discovered radium?", "mode": "naive"}


def counting(world: World, inside: list[int]) -> Any:
    """Embeds slowly, and notes how many do so at once."""
    now = 0

    async def embed(texts: Sequence[str], /) -> list[Vector]:
        nonlocal now
        now += 1
        inside.append(now)
        await asyncio.sleep(0.01)
        now -= 1
        return await world.embedder.embed(texts)

    return embed


async def test_a_few_questions_look_into_the_stores_at_once_and_all_are_answered() -> None:
    world, inside = await library_of_two(), list[int]()
    library = world.library(embed=counting(world, inside), turns=Turns(3))
    async with client(world.app(library=library)) as api:
        answers = await asyncio.gather(*(api.post("/query", json=QUESTION) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert (max(inside), len(inside)) == (3, 20)


async def test_who_waits_too_long_for_a_turn_is_asked_to_come_back() -> None:
    world = await library_of_two()
    library = world.library(turns=Turns(1, patience=0.01))
    async with library.turns.taken(), client(world.app(library=library)) as api:
        answer = await api.post("/query", json=QUESTION)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    async with client(world.app(library=library)) as api:
        assert (await api.post("/query", json=QUESTION)).status_code == 200


async def test_a_turn_that_is_waited_for_in_vain_is_not_lost() -> None:
    turns = Turns(1, patience=0.01)
    async with turns.taken():
        with pytest.raises(Unavailable):
            await turns.taken().__aenter__()
    async with turns.taken():
        pass
