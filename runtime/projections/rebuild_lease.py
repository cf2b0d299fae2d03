"""A lease on the bus of a stack: one rebuild at a time, wherever it was started, and how far that
one is.

The lease is renewed while its rebuild is alive. One that nobody renews any more is taken over,
after EXPIRES seconds or at once where its process is known to be gone. Correct switching does not
rest on it: a rebuild that was overtaken all the same finds other generation numbers than its own,
and switches nothing.
"""

import asyncio
import json
import os
import platform
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from contracts.graph import Projection
from runtime.bus.port import SharedValues
from runtime.errors import Busy, Retryable

KEY = "rebuild"
"""In the bucket of checkpoints."""

RENEWED = 3.0
"""Seconds between two renewals."""

EXPIRES = 20.0
"""Seconds without a renewal after which a rebuild counts as dead. They are counted by whoever
waits: clocks differ.
"""


@dataclass
class RunningRebuild:
    """A rebuild under way. `progress` has what it reported last: events, entities and relations,
    vectors.
    """

    projections: Sequence[Projection]
    host: str = field(default_factory=platform.node)
    pid: int = field(default_factory=os.getpid)
    machine: str = field(default_factory=lambda: _machine())
    """Where that process id means something; empty where that cannot be told."""
    started: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    id: str = field(default_factory=lambda: uuid4().hex)
    progress: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reason: str = ""

    def __str__(self) -> str:
        return (
            f"rebuild of {', '.join(self.projections)}, process {self.pid} on {self.host}, since "
            f"{self.started}"
        )


@asynccontextmanager
async def hold(
    values: SharedValues, projections: Sequence[Projection], reason: str = ""
) -> AsyncGenerator[RunningRebuild]:
    """Hold the lease; what is put into `progress` of the value is shown to others. Raises `Busy`,
    `Unavailable`.
    """
    mine = RunningRebuild(tuple(projections), reason=reason)
    await _acquire(values, mine)
    renewing = asyncio.create_task(_renew(values, mine))
    try:
        yield mine
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        # One that cannot be given back now expires.
        with suppress(Retryable):
            await _replace(values, mine, b"")


async def running(values: SharedValues) -> RunningRebuild | None:
    """Return who holds the lease, at once: it may be one on another machine that has died. Raises
    `Unavailable`.
    """
    value, _ = await values.read(KEY)
    work = RunningRebuild(**json.loads(value)) if value else None
    return None if work is None or _is_gone(work) else work


async def alive(values: SharedValues) -> tuple[RunningRebuild | None, int]:
    """Return the rebuild that renews the lease, None without one, and the revision of the lease.
    Raises `Unavailable`.

    Takes as long as one renewal, or EXPIRES seconds for one that nobody renews.
    """
    seen_revision = 0
    since = time.monotonic()
    while True:
        value, revision = await values.read(KEY)
        work = RunningRebuild(**json.loads(value)) if value else None
        if (
            work is None
            or _is_gone(work)
            or (revision == seen_revision and time.monotonic() - since >= EXPIRES)
        ):
            return None, revision
        if seen_revision and revision != seen_revision:
            return work, revision
        seen_revision = revision
        await asyncio.sleep(RENEWED / 4)


async def _acquire(values: SharedValues, mine: RunningRebuild) -> None:
    other_rebuild, revision = await alive(values)
    if other_rebuild:
        raise Busy(
            f"there is a {other_rebuild} under way: `lightstream projections list` shows how "
            "far it is"
        )
    if not await values.write(KEY, json.dumps(asdict(mine)).encode(), revision):
        raise Busy("another rebuild began at the same moment")


async def _renew(values: SharedValues, mine: RunningRebuild) -> None:
    """Renew until somebody else has taken over; a bus that is away for a moment is asked again."""
    while True:
        await asyncio.sleep(RENEWED)
        with suppress(Retryable):
            if not await _replace(values, mine, json.dumps(asdict(mine)).encode()):
                return


async def _replace(values: SharedValues, mine: RunningRebuild, new_value: bytes) -> bool:
    """Write the new value if the lease is still mine."""
    value, revision = await values.read(KEY)
    return (
        bool(value)
        and json.loads(value)["id"] == mine.id
        and await values.write(KEY, new_value, revision)
    )


def _is_gone(other_rebuild: RunningRebuild) -> bool:
    """Return whether it was a process of this machine, and has ended."""
    return (
        bool(other_rebuild.machine)
        and other_rebuild.machine == _machine()
        and not Path(f"/proc/{other_rebuild.pid}").exists()
    )


def _machine() -> str:
    """Return a name of this boot of this machine, or container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""
