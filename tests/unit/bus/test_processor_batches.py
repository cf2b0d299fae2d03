"""The event processor with batches: one bad event fails alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.events import Event
from contracts.graph import Generations
from runtime.bus.port import Delivery
from runtime.bus.processor import BATCH_ATTEMPTS
from runtime.errors import Poison, Retryable, Unavailable
from tests.support.events import added, chunked, document, sealed
from tests.support.processors import ProcessorBench, bench


@dataclass
class Recorder:
    """Handles whole batches, and fails those that hold a document named `bad`."""

    error: Exception
    sizes: list[int] = field(default_factory=list[int])

    async def __call__(
        self, batch: Sequence[Delivery[Any]], _: Generations, /
    ) -> Sequence[Sequence[Event]]:
        self.sizes.append(len(batch))
        if any(delivery.event.aggregate_id == "bad" for delivery in batch):
            raise self.error
        return [[chunked(document(delivery.event.aggregate_id), "text")] for delivery in batch]


def four(handle: Any) -> ProcessorBench:
    table = bench(handle)
    for name in ("a", "bad", "b", "c"):
        table.append(sealed(added(name), id=name))
    return table


async def test_a_batch_with_one_poison_is_handled_one_by_one_and_only_it_fails() -> None:
    handle = Recorder(Poison("no"))
    table = four(handle)
    await table.deliver()
    assert handle.sizes == [4, 1, 1, 1, 1]
    assert {event.data.aggregate_id for event in table.published("ChunksCreated")} == {
        "a",
        "b",
        "c",
    }
    assert [event.data.aggregate_id for event in table.published("StageFailed")] == ["bad"]
    assert table.unacknowledged == []


async def test_a_batch_with_one_that_waits_is_done_but_for_that_one() -> None:
    table = four(Recorder(Retryable("not yet")))
    await table.deliver()
    assert {event.data.aggregate_id for event in table.published()} == {"a", "b", "c"}
    assert table.unacknowledged == [2]


async def test_a_store_that_is_down_costs_a_batch_one_time_limit_not_one_for_each_message() -> None:
    handle = Recorder(Unavailable("the store is down"))
    table = four(handle)
    for _ in range(BATCH_ATTEMPTS - 1):
        await table.deliver()
    assert handle.sizes == [4] * (BATCH_ATTEMPTS - 1)
    assert table.unacknowledged == [1, 2, 3, 4]
    await table.deliver()
    assert table.unacknowledged == [2], "what only one message meets is found in the end"


async def test_a_sound_batch_is_handled_in_one_call() -> None:
    handle = Recorder(Poison("no"))
    table = bench(handle)
    for name in "abc":
        table.append(sealed(added(name), id=name))
    await table.deliver()
    assert handle.sizes == [3]
    assert table.processor.handled_count == 3
