"""Events of workspaces with vectors of their own go to their own generation, in their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from contracts.graph import Generations
from runtime.bus.port import Delivery
from services.indexer.own_generations import handle_by_generation


@dataclass
class Arrival:
    """What is read of a delivery."""

    workspace: str
    sequence: int


async def test_each_generation_is_handled_by_itself_and_results_keep_the_order() -> None:
    names = ("a", "handbuch", "a", "handbuch..branch", "b")
    batch = [Arrival(name, sequence) for sequence, name in enumerate(names, start=1)]
    calls: list[tuple[int, list[int]]] = []

    async def handle(part: Sequence[Delivery[Any]], generations: Generations) -> list[str]:
        calls.append((generations.vectors, [delivery.sequence for delivery in part]))
        return [f"{delivery.workspace} in {generations.vectors}" for delivery in part]

    generations = Generations(1, 1, 5, {"handbuch": 7})
    results = await handle_by_generation(cast("list[Delivery[Any]]", batch), generations, handle)
    assert calls == [(5, [1, 3, 5]), (7, [2, 4])]
    assert results == ["a in 5", "handbuch in 7", "a in 5", "handbuch..branch in 7", "b in 5"]
