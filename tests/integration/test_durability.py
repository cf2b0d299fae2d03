"""What the log has confirmed, it has: kill -9 of the server under load, and proof that it syncs
before it confirms.
"""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from contracts import subjects
from contracts.topology import DAY
from embedded.servers.nats import CONFIGURATION, Sync
from runtime.bus import topology
from runtime.bus.nats import log as bus
from runtime.bus.nats.log import NatsLog
from tests.support.nats_server import RunningNats, connected, reconnected, running_nats, until
from tests.support.trial_service import document

KILLS = 3
PUBLISHERS = 16


class Publishers:
    """Publishers that go on until told to stop, and what the log confirmed to them: sequence by
    document.
    """

    def __init__(self, log: NatsLog) -> None:
        self.log = log
        self.confirmed: dict[str, int] = {}
        self.going = True

    async def publish(self, publisher: int) -> None:
        number = 0
        while self.going:
            name = f"doc-{publisher}-{number}"
            self.confirmed[name] = await self.log.publish(document(name))
            number += 1

    async def until_more(self, count: int) -> None:
        goal = len(self.confirmed) + count

        async def reached() -> bool:
            return len(self.confirmed) >= goal

        await until(reached, f"{count} more events confirmed")


async def stored(log: NatsLog) -> dict[str, int]:
    """Sequence by document token of everything in the log; fails when a document is there twice."""
    result: dict[str, int] = {}
    async for page in log.read():
        for message in page:
            _, name, _ = subjects.split(message.subject)
            assert name not in result, (
                f"{name} is stored at {result[name]} and at {message.sequence}"
            )
            result[name] = message.sequence
    return result


@pytest.mark.parametrize("sync", ["always", "default"])
async def test_no_confirmed_event_is_lost_and_none_is_stored_twice_when_the_server_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: Sync
) -> None:
    """Publishers repeat what was not confirmed, with the same id. A killed process loses no page
    the kernel has.
    """
    monkeypatch.setattr(bus, "PUBLISH_TIMEOUT", 1.0)
    async with running_nats(tmp_path, sync=sync) as server, connected(server) as client:
        await topology.apply(client.jetstream())
        load = Publishers(NatsLog(client.jetstream()))
        publishers = [asyncio.create_task(load.publish(number)) for number in range(PUBLISHERS)]
        for _ in range(KILLS):
            await load.until_more(100)
            os.kill(server.process.pid, signal.SIGKILL)
            await server.process.wait()
            await server.restart()
            await reconnected(client)
        await load.until_more(PUBLISHERS)
        load.going = False
        await asyncio.gather(*publishers)
        assert await stored(load.log) == load.confirmed
        assert len(load.confirmed) > KILLS * 100


async def test_the_duplicate_window_survives_a_kill(tmp_path: Path) -> None:
    """A retry that comes after the restart still finds the first one."""
    async with running_nats(tmp_path) as server, connected(server) as client:
        await topology.apply(client.jetstream())
        log = NatsLog(client.jetstream())
        first = [await log.publish(document(f"doc-{number}")) for number in range(20)]
        await server.kill()
        await server.restart()
        await reconnected(client)
        assert [await log.publish(document(f"doc-{number}")) for number in range(20)] == first
        info = await client.jetstream().stream_info("KB_EVENTS")
        assert (info.state.messages, info.config.duplicate_window) == (20, DAY)


async def varz(server: RunningNats) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False) as http:
        return json.loads((await http.get(f"{server.monitor_url}/varz")).content)


async def test_the_server_of_the_product_syncs_every_message_before_it_confirms(
    tmp_path: Path,
) -> None:
    """As the running server itself says, from the file that the product writes when it is asked for
    nothing else.
    """
    async with running_nats(tmp_path, sync="always", monitor=True) as server:
        page = await varz(server)
    assert page["jetstream"]["config"]["sync_always"] is True
    assert Path(page["jetstream"]["config"]["store_dir"]).is_relative_to(
        server.folder / "jetstream"
    )
    assert page["max_payload"] == 8 * 1024 * 1024
    assert (page["host"], page["http_host"]) == ("127.0.0.1", "127.0.0.1")
    assert "sync_interval: always" in (server.folder / CONFIGURATION).read_text()


async def test_only_a_test_that_asks_for_speed_gets_a_server_that_syncs_later(
    tmp_path: Path,
) -> None:
    """The monitoring page tells the two apart, so the proof above proves something."""
    async with running_nats(tmp_path, sync="default", monitor=True) as server:
        page = await varz(server)
    assert not page["jetstream"]["config"].get("sync_always")
