"""The contract of the bus about generations and shared values."""

import asyncio
from dataclasses import replace

import pytest

from contracts.graph import PROJECTIONS, Generations
from runtime.bus.generations import GenerationState, OwnGeneration
from runtime.errors import Unavailable
from tests.support.buses import Bus

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_everything_is_in_its_first_generation_before_anybody_writes(bus: Bus) -> None:
    pointers, _ = await bus.pointers.read()
    assert pointers == {projection: GenerationState() for projection in PROJECTIONS}
    assert await bus.pointers.live() == Generations()


async def test_a_switch_is_seen_by_the_next_reader(bus: Bus) -> None:
    pointers, revision = await bus.pointers.read()
    graph = GenerationState(live=2, previous=1, highest=2)
    await bus.pointers.write({**pointers, "graph": graph}, revision)
    again, later = await bus.pointers.read()
    assert again == {**pointers, "graph": graph}
    assert later != revision
    assert await bus.pointers.live() == Generations(graph=2)


async def test_generations_of_workspaces_are_seen_by_the_next_reader(bus: Bus) -> None:
    pointers, revision = await bus.pointers.read()
    vectors = GenerationState(
        live=2,
        previous=1,
        highest=4,
        own_generations={"a": OwnGeneration(4, "lexical")},
        complete_to=7,
    )
    await bus.pointers.write({**pointers, "vectors": vectors}, revision)
    again, _ = await bus.pointers.read()
    assert again == {**pointers, "vectors": vectors}
    assert again["vectors"].kept_generations == {1, 2, 4}
    assert await bus.pointers.live() == Generations(vectors=2, own_vectors={"a": 4})


async def test_an_older_program_reads_pointers_without_generations_of_workspaces() -> None:
    assert GenerationState(2, 1, 2).fields() == {
        "live": 2,
        "previous": 1,
        "highest": 2,
        "complete_to": 0,
    }


async def test_of_two_that_switch_at_the_same_time_one_is_told_to_start_again(bus: Bus) -> None:
    pointers, first = await bus.pointers.read()
    await bus.pointers.write({**pointers, "graph": GenerationState(live=2, highest=2)}, first)
    with pytest.raises(Unavailable, match="start again"):
        await bus.pointers.write({**pointers, "vectors": GenerationState(live=5, highest=5)}, first)
    assert await bus.pointers.live() == Generations(graph=2)
    pointers, second = await bus.pointers.read()
    await bus.pointers.write({**pointers, "graph": replace(pointers["graph"], highest=3)}, second)
    with pytest.raises(Unavailable):
        await bus.pointers.write(pointers, second)


async def test_what_a_reader_does_to_its_pointers_changes_nothing(bus: Bus) -> None:
    pointers, _ = await bus.pointers.read()
    pointers["graph"] = GenerationState(live=9)
    assert await bus.pointers.live() == Generations()


async def test_a_shared_value_is_replaced_only_by_who_saw_it_last(bus: Bus) -> None:
    assert await bus.values.read("provider") == (b"", 0)
    assert await bus.values.keys() == []
    assert await bus.values.write("provider", b"one", 0)
    assert not await bus.values.write("provider", b"another", 0)
    value, revision = await bus.values.read("provider")
    assert value == b"one"
    assert await bus.values.write("other", b"", 0)
    assert await bus.values.write("provider", b"two", revision)
    assert not await bus.values.write("provider", b"three", revision)
    assert (await bus.values.read("provider"))[0] == b"two"
    assert await bus.values.keys() == ["other", "provider"]


async def test_of_many_writers_at_once_none_is_lost(bus: Bus) -> None:
    async def count() -> None:
        while True:
            value, revision = await bus.values.read("count")
            if await bus.values.write("count", str(int(value or b"0") + 1).encode(), revision):
                return

    await asyncio.gather(*(count() for _ in range(20)))
    assert (await bus.values.read("count"))[0] == b"20"
