"""When the watcher of log and stores looks again."""

import asyncio
from typing import Any, cast

import pytest

from runtime.bus.write_status import WriteStatus
from runtime.errors import Unavailable
from runtime.health import Health
from runtime.projections import integrity
from runtime.projections.integrity import Integrity
from tests.support.waiting import PATIENCE


async def test_writes_wait_no_longer_than_the_log_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that lost a leader answers no look until it has another: the next look is soon, not
    as any other.
    """
    monkeypatch.setattr(integrity, "INTERVAL", 10 * PATIENCE)
    monkeypatch.setattr(integrity, "INTERVAL_OF_DOUBT", 0.01)
    writes, no_client, look_count = WriteStatus(), cast("Any", None), 0
    service = Integrity("query", no_client, no_client, no_client, writes)

    async def look() -> None:
        nonlocal look_count
        look_count += 1
        if look_count % 3:
            raise Unavailable("no leader")
        writes.log_check.set()

    monkeypatch.setattr(service, "look", look)
    async with asyncio.timeout(PATIENCE), service.watching(Health("query")):
        await writes.log_check.wait()
        assert look_count == 3
        await writes.disconnected()
        await writes.reconnected()
        await writes.allow("KB_EVENTS", PATIENCE)
        assert look_count == 6


async def test_a_stack_at_rest_is_looked_at_seldom_and_what_is_asked_then_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(integrity, "INTERVAL", 0.01)
    monkeypatch.setattr(integrity, "QUIET_INTERVAL", 10 * PATIENCE)
    writes, no_client = WriteStatus(), cast("Any", None)
    service = Integrity("query", no_client, no_client, no_client, writes)
    service.first_look.set()
    looks: asyncio.Queue[None] = asyncio.Queue()

    async def look() -> None:
        writes.log_check.set()
        looks.put_nowait(None)

    monkeypatch.setattr(service, "look", look)
    async with asyncio.timeout(PATIENCE), service.watching(Health("query")):
        await looks.get()
        # Ten intervals: the loop has had its turns, and nothing was asked.
        await asyncio.sleep(0.1)
        assert looks.empty()
        service.require()
        await looks.get()
        await writes.disconnected()
        await writes.reconnected()
        await looks.get()
