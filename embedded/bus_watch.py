"""Starts the embedded bus again when it confirms nothing although its disk has room.

A nats-server that met a full disk refuses every write to the stream that met it until it is started
again, and answers everything else as if all were well.
"""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import nats
from nats.errors import Error as NatsError
from nats.js.errors import APIError

from contracts import subjects
from embedded.local_http import local_client
from embedded.processes import Process
from embedded.supervisor import Report
from runtime.workarounds.httpx import httpx

INTERVAL = 10.0
"""Seconds between two checks."""

MIN_FREE_BYTES = 8 * 1024 * 1024
"""Bytes that must be free before a restart helps."""

TIMEOUT = 5.0
"""Seconds for the log to confirm a test message, and for a health page to answer."""

MAX_FAILURES = 2
HEALTH_PART = "publishes"
"""The part of a service's health page that says that the bus confirms nothing."""


@dataclass
class BusWatch:
    """Watches the disk of one bus, and what the health pages on `ports` report of it."""

    bus: Process
    url: str
    ports: Mapping[str, int]
    report: Report
    was_full: bool = False
    failures: int = 0
    probe_id: str = field(default_factory=lambda: uuid4().hex)

    async def run(self) -> None:
        """Check at every interval, for ever."""
        while True:
            await asyncio.sleep(INTERVAL)
            await self.check()

    async def check(self) -> None:
        """Check once; after two unconfirmed test messages stop the bus, which its supervisor then
        starts again.
        """
        if not self.bus.alive or not _has_room(self.bus.folder):
            self.was_full, self.failures = self.bus.alive, 0
            return
        if not self.was_full and not await self._is_reported_silent():
            return
        is_confirmed = await bus_confirms(self.url, self.probe_id)
        if is_confirmed:
            self.was_full, self.failures, self.probe_id = False, 0, uuid4().hex
            return
        # A bus without connections is starting, and ends by itself when it cannot.
        self.failures += is_confirmed is False
        if self.failures >= MAX_FAILURES:
            self.failures = 0
            self.report("the bus confirms nothing although its disk has room: it is started again")
            await self.bus.stop()

    async def _is_reported_silent(self) -> bool:
        """Return True if a service reports that the bus does not confirm its writes."""
        async with local_client(TIMEOUT) as client:
            reports = await asyncio.gather(
                *(_reports_silence(client, port) for port in self.ports.values())
            )
        return any(reports)


async def bus_confirms(url: str, probe_id: str) -> bool | None:
    """Return True if the log confirms or refuses an empty message, False if it is silent, None
    without a connection.

    The log keeps one of several messages with the same `probe_id`.
    """
    try:
        client = await nats.connect(
            url,
            connect_timeout=2,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            error_cb=_ignored,
        )
    except (NatsError, OSError, TimeoutError):
        return None
    try:
        headers = {"Nats-Msg-Id": f"trial:{probe_id}"}
        await client.jetstream().publish(subjects.PROBE, b"", timeout=TIMEOUT, headers=headers)
    except APIError:
        return True
    except (NatsError, TimeoutError):
        return False
    finally:
        await client.close()
    return True


def _has_room(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free >= MIN_FREE_BYTES
    except OSError:
        return False


async def _reports_silence(client: httpx.AsyncClient, port: int) -> bool:
    try:
        return HEALTH_PART in (
            (await client.get(f"http://127.0.0.1:{port}/health/ready?part={HEALTH_PART}"))
            .json()
            .get("problems")
            or {}
        )
    except (httpx.HTTPError, ValueError, AttributeError):
        return False


async def _ignored(error: Exception) -> None:
    """The call raises the same error."""
