"""A bus whose disk was full: services say that nothing is confirmed, and it is started again once
there is room.
"""

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext

from contracts import subjects
from embedded import bus_watch
from embedded.bus_watch import BusWatch, bus_confirms
from embedded.processes import Process, free_port
from embedded.servers.nats import nats_server, url
from embedded.supervisor import ChildRecords, supervise
from runtime.bus import topology
from runtime.bus.nats import log as nats_log
from runtime.concurrency.background import in_background
from tests.support.nats_server import RunningNats, connected, until
from tests.support.services import page
from tests.support.small_disk import fill, small_disk
from tests.support.trial_service import document, trial_service

ROOM_TO_START = 300_000
"""Bytes that a server needs to start."""


async def takes(jetstream: JetStreamContext, size: int = 64_000) -> bool:
    """Whether the log takes an event of that size within two seconds."""
    try:
        await jetstream.publish("kb.v1.w.d.DocumentDeleted", b"\0" * size, timeout=2)
    except (NatsTimeout, NatsError):
        return False
    return True


async def problems(service: Process) -> set[str]:
    """The parts that keep it from being ready."""
    _, body = await page(service, "ready")
    return set((body or {}).get("problems", {}))


async def test_a_bus_that_met_a_full_disk_works_again_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_watch, "INTERVAL", 0.5)
    monkeypatch.setattr(bus_watch, "TIMEOUT", 2.0)
    with small_disk(tmp_path / "disk", 24) as disk:
        port = free_port()
        lines = list[str]()
        bus = nats_server(disk / "bus", port=port, sync="default")
        server = RunningNats(bus, port, None, disk / "bus")
        async with supervise([bus], ChildRecords(lambda: None, lines.append)) as answers:
            await answers()
            async with connected(server) as client, AsyncExitStack() as stack:
                jetstream = client.jetstream()
                await topology.apply(jetstream)
                service = await stack.enter_async_context(
                    trial_service(url(port), tmp_path / "service")
                )
                await _full(jetstream, disk, service)
                (disk / "ballast").unlink()
                assert await bus_confirms(url(port), "trial") is False, "room alone does not help"
                assert "publishes" in await problems(service)
                health_ports = {"trial": int(service.env["PORT"])}
                watch = BusWatch(bus, url(port), health_ports, lines.append)
                async with in_background(watch.run()):
                    await until(lambda: takes(jetstream, 10), "the log takes events again")

                    async def ready() -> bool:
                        return not await problems(service)

                    await until(ready, "the service is ready again")
                assert any("confirms nothing" in line for line in lines)
                assert await jetstream.get_last_msg(
                    "KB_EVENTS", subjects.of_document("trial", "late")
                )


async def _full(jetstream: JetStreamContext, disk: Path, service: Process) -> None:
    """A full disk, met by the log, and a service that was to write when it was."""
    service.folder.joinpath("hold").touch()
    await nats_log.NatsLog(jetstream).publish(document("late"))
    fill(disk)
    while await takes(jetstream):
        await asyncio.sleep(0)
    service.folder.joinpath("hold").unlink()

    async def noticed() -> bool:
        return "publishes" in await problems(service)

    await until(noticed, "the service says that nothing is confirmed")


async def test_a_bus_that_starts_on_a_full_disk_takes_events_when_there_is_room(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path / "disk", 48) as disk:
        port = free_port()
        bus = nats_server(disk / "bus", port=port, sync="default")
        server = RunningNats(bus, port, None, disk / "bus")
        await bus.start()
        async with connected(server) as client:
            await topology.apply(client.jetstream())
        await bus.stop()
        fill(disk)
        with (disk / "ballast").open("r+b") as ballast:
            ballast.truncate((disk / "ballast").stat().st_size - ROOM_TO_START)
        await bus.start()
        (disk / "ballast").unlink()
        async with connected(server) as client:
            assert await takes(client.jetstream())
        await bus.stop()


async def test_an_idle_bus_with_room_is_left_alone(tmp_path: Path) -> None:
    port = free_port()
    lines = list[str]()
    bus = nats_server(tmp_path / "bus", port=port, sync="default")
    try:
        await bus.start()
        async with connected(RunningNats(bus, port, None, tmp_path / "bus")) as client:
            await topology.apply(client.jetstream())
            watch = BusWatch(bus, url(port), {}, lines.append)
            for _ in range(bus_watch.MAX_FAILURES + 1):
                await watch.check()
            assert (await client.jetstream().stream_info("KB_EVENTS")).state.messages == 0
            assert bus.alive
            assert not lines
            assert await bus_confirms(url(port), "trial") is True
    finally:
        with suppress(ProcessLookupError):
            await bus.stop()
    assert await bus_confirms(url(port), "trial") is None
