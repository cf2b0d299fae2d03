"""How often the list of parked events is read while nothing is on it."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from runtime.bus.memory import MemoryParkedEvents
from runtime.bus.parking.port import ParkedRecord
from runtime.bus.parking.reader import ParkedReader
from runtime.errors import AwaitingBatch, BudgetSpent
from tests.support.events import added, sealed
from tests.unit.bus.test_parking import FailingHandler, parking


async def test_a_reader_with_nothing_to_try_asks_seldom_and_takes_up_at_once_what_is_parked_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.bus.parking.reader.QUIET_PAUSE", 600.0)
    monkeypatch.setattr("runtime.bus.parking.policy.WAITS", {"over-budget": 0.0})
    handle = FailingHandler("a", error=BudgetSpent("spent"))
    table, parked_events = parking(handle)
    looks = Counter[str]()
    ordinary = MemoryParkedEvents.changes

    async def counted(self: MemoryParkedEvents, *arguments: Any) -> list[ParkedRecord]:
        looks["list"] += 1
        return await ordinary(self, *arguments)

    monkeypatch.setattr(MemoryParkedEvents, "changes", counted)
    reading = asyncio.create_task(ParkedReader(table.processor, parked_events).run())
    try:
        async with asyncio.timeout(20):
            while not looks:
                await asyncio.sleep(0.01)
            quiet_looks = looks["list"]
            table.append(sealed(added("a"), id="a"))
            await table.deliver()
            handle.bad = ()
            while parked_events.records:
                await asyncio.sleep(0.01)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    assert quiet_looks == 1
    assert handle.tried["a"] == 2


async def test_what_waits_for_a_batch_is_parked_at_once_and_holds_nothing_up() -> None:
    handle = FailingHandler("a", "b", error=AwaitingBatch("waits", retry_after=0.0))
    table, parked_events = parking(handle)
    for name in ("a", "b"):
        table.append(sealed(added(name), id=name))
    await table.deliver()
    parked_now = [event for _, event in parked_events.records.values()]
    assert [(event.reason, dict(event.attempts)) for event in parked_now] == [
        ("awaiting-batch", {})
    ] * 2
    handle.bad = ("a",)
    reading = asyncio.create_task(ParkedReader(table.processor, parked_events).run())
    try:
        async with asyncio.timeout(20):
            while len(parked_events.records) > 1:
                await asyncio.sleep(0.01)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    [(_, waiting)] = parked_events.records.values()
    assert waiting.reason == "awaiting-batch"
    assert waiting.error == "AwaitingBatch: waits"
