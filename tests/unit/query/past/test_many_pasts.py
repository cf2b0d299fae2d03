"""One workspace's past holds up nobody else's.

Sizes are known before anything is read, workspaces do not wait for each other, and reading ends
when nobody waits.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import httpx
import pytest

from knowledge.descriptions import SummaryLimits
from runtime.bus.memory import MemoryLog
from runtime.bus.port import Message
from services.query.errors import TooLarge
from services.query.past import events as past_events
from services.query.past import reading, turns
from services.query.past.reading import Past
from services.query.past.sizes import EventSizes
from tests.support.events import added, document, entity, extracted, relation, sealed
from tests.support.querying import QueryHarness
from tests.support.served import served
from tests.support.waiting import PATIENCE

LIMITS = SummaryLimits()


@dataclass
class HeldLog(MemoryLog):
    """A log that yields no event of the workspace `held` until it is told to; it counts what is
    read.
    """

    held: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)
    reading: int = 0
    read_messages: int = 0

    async def history(
        self, workspace: str, about: str | None, event_type: str, after: int = 0
    ) -> AsyncGenerator[Message]:
        self.reading += 1
        try:
            if workspace == self.held:
                await self.released.wait()
            async for message in super().history(workspace, about, event_type, after):
                self.read_messages += 1
                yield message
        finally:
            self.reading -= 1


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def filled(log: MemoryLog, *workspaces: str) -> None:
    for workspace in workspaces:
        first = document("one", 1, file_path="one.txt")
        says = extracted(
            first, 0, [entity("Ada"), entity("Elm")], [relation("Ada", "Elm", "lives")]
        )
        for number, event in enumerate((added("one"), says)):
            await log.publish(sealed(event, id=f"{workspace}-{number}", workspace=workspace))


async def test_a_past_that_is_read_slowly_keeps_no_other_workspace_waiting() -> None:
    log = HeldLog(held="slow")
    await filled(log, "slow", "quick")
    past = Past(log, LIMITS)
    slow = asyncio.create_task(past.states("slow", 4))
    await until(lambda: log.reading > 0)
    (state,) = await past.states("quick", 4)
    assert set(state.entities) == {"Ada", "Elm"} and not slow.done()
    log.released.set()
    assert set((await slow)[0].entities) == {"Ada", "Elm"}


async def test_large_pasts_take_turns_and_small_ones_wait_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"large-1": 10, "large-2": 10, "large-3": 10, "small": 9}
    monkeypatch.setattr(turns, "LARGE", 10)
    order = turns.PastTurns()
    readings: list[str] = []
    end = asyncio.Event()

    async def read(workspace: str) -> None:
        async with order.of_size(workspace, sizes[workspace]):
            readings.append(workspace)
            await end.wait()

    readers = [asyncio.create_task(read(workspace)) for workspace in sizes]
    await until(lambda: "small" in readings)
    assert sorted(readings) == ["large-1", "large-2", "small"]
    end.set()
    await asyncio.gather(*readers)
    assert sorted(readings) == sorted(sizes)


async def test_sizes_are_counted_once_and_as_far_as_the_limit() -> None:
    log = MemoryLog()
    await filled(log, "w", "other", "w2")
    lengths = [len(message.data) for message in log.messages]
    sizes = EventSizes(log, 10_000_000)
    assert await sizes.until("w", 1) == lengths[0]
    assert await sizes.until("w", 6) == lengths[0] + lengths[1]
    small_sizes = EventSizes(log, lengths[0])
    assert await small_sizes.until("w", 1) <= lengths[0]
    assert await small_sizes.until("w", 2) > lengths[0]
    assert await small_sizes.until("w", 1) <= lengths[0]


async def test_a_past_that_is_too_large_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = QueryHarness()
    log = HeldLog()
    await filled(log, "w")
    monkeypatch.setattr(reading, "MAX_BYTES", len(log.messages[0].data))
    harness.log = log
    async with served(harness.app()) as address, httpx.AsyncClient(base_url=address) as api:
        body = {"query": "Who lives there?", "as_of": "2"}
        for _ in range(2):
            answer = await api.post("/query", json=body, headers={"X-Workspace": "w"})
            assert answer.status_code == 413 and "ask of an earlier moment" in answer.text
        assert log.read_messages == 0
        answer = await api.post("/query", json={**body, "as_of": "1"}, headers={"X-Workspace": "w"})
        assert answer.status_code == 200


async def test_what_says_too_much_is_refused_again_without_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = HeldLog()
    await filled(log, "w")
    monkeypatch.setattr(past_events, "MAX_CONTRIBUTIONS", 1)
    past = Past(log, LIMITS)
    with pytest.raises(TooLarge):
        await past.states("w", 2)
    read_messages = log.read_messages
    with pytest.raises(TooLarge):
        await past.states("w", 2)
    assert log.read_messages == read_messages
    assert (await past.states("w", 1))[0].entities == {}


@pytest.mark.parametrize(
    ("method", "path", "params", "body"),
    [
        ("POST", "/query", {}, {"query": "Who?", "as_of": "2"}),
        ("POST", "/query/stream", {}, {"query": "Who?", "as_of": "2"}),
        ("POST", "/query/data", {}, {"query": "Who?", "as_of": "2"}),
        ("GET", "/graphs", {"label": "*", "as_of": "2"}, None),
        ("GET", "/graph/entity/history", {"name": "Ada"}, None),
        ("GET", "/operations/diff", {"from": "1"}, None),
    ],
)
async def test_an_abandoned_request_stops_reading(
    method: str, path: str, params: dict[str, str], body: dict[str, str] | None
) -> None:
    harness = QueryHarness()
    log = HeldLog(held="w")
    await filled(log, "w")
    harness.log = log
    async with served(harness.app()) as address:
        async with httpx.AsyncClient(base_url=address) as api:
            headers = {"X-Workspace": "w"}
            request = asyncio.create_task(
                api.request(method, path, params=params, json=body, headers=headers)
            )
            await until(lambda: log.reading > 0)
            request.cancel()
        await until(lambda: log.reading == 0)
    assert log.read_messages == 0
