"""A service with a backlog that is told to end: it does so in seconds, and what it had in hand is
delivered again.
"""

import asyncio
import signal
import time
from pathlib import Path

from contracts.events import DocumentDeleted
from runtime.bus import topology
from runtime.bus.nats.log import NatsLog
from tests.support.nats_server import connected, running_nats, until
from tests.support.trial_service import document, trial_service

SOON = 5.0
"""Seconds within which a service ends. Its handlers may go on for three of them."""

BACKLOG = 60


async def test_a_service_whose_handlers_hang_before_a_backlog_ends_within_seconds(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "service"
    folder.mkdir()
    (folder / "hold").touch()
    async with running_nats(tmp_path) as server, connected(server) as client:
        jetstream = client.jetstream()
        await topology.apply(jetstream)
        log = NatsLog(jetstream)
        for number in range(BACKLOG):
            await log.publish(document(f"d{number}"))
        async with trial_service(server.url, folder, workers=2) as process:

            async def begun() -> bool:
                return any(folder.glob("begun-*"))

            await until(begun, "a handler has begun")
            signal_time = time.monotonic()
            process.signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 60) == 0
            assert time.monotonic() - signal_time <= SOON
        (folder / "hold").unlink()
        async with trial_service(server.url, folder, workers=2):

            async def all_handled() -> bool:
                info = await jetstream.stream_info(
                    "KB_EVENTS", subjects_filter=f"kb.v1.*.*.{DocumentDeleted.type_name()}"
                )
                return len(info.state.subjects or {}) == BACKLOG

            await until(all_handled, "everything was handled")
