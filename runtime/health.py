"""The two health pages of every process: live and ready.

Ready means more than an open socket: every durable answers `consumer_info`, and while there is
work, some of it gets done. A deleted consumer or a closed connection shows here, where a ping would
still say all is well.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from runtime.activity import Activity
from runtime.metrics import instruments
from runtime.metrics.readings import Readings
from runtime.semantic_conventions import SERVICE

logger = structlog.get_logger(__name__)

Probe = Callable[[], Awaitable[str | None]]
"""A function that returns None when all is well, else what is wrong."""

STALLED = 180.0
"""Seconds without progress after which a durable counts as stuck: of messages that wait, or of a
batch in a handler.
"""


@dataclass
class Health:
    """The health of a process. `stage` says what it is doing while it is not ready."""

    service: str
    stage: str | None = "starting"
    probes: dict[str, Probe] = field(default_factory=dict[str, Probe])
    notes: dict[str, Probe] = field(default_factory=dict[str, Probe])
    """What operators should know though the process does its work, such as a provider that is
    waited for.
    """

    readings: Readings = field(default_factory=Readings)
    """What `/metrics` tells beside what was counted."""

    draining: bool = False
    """Whether it answers for the last seconds: nobody is to be sent here any more."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process is told to end: answers without an end must end then."""

    def __post_init__(self) -> None:
        self.readings.add("readiness", self._read_readiness)

    async def _read_readiness(self) -> None:
        instruments.ready_gauge.set(0 if await self.problems() else 1, {SERVICE: self.service})

    async def problems_of(self, part: str) -> dict[str, str]:
        """Return what keeps this part from being ready; nothing for a part that is not there."""
        return await _run_probes({part: self.probes[part]} if part in self.probes else {})

    async def problems(self) -> dict[str, str]:
        """Return, by part, what keeps the process from being ready."""
        messages = await _run_probes(self.probes)
        stage = "draining" if self.draining else self.stage
        return {"service": stage, **messages} if stage else messages

    def routes(self) -> list[Route]:
        """Return the routes `/health/live` (200) and `/health/ready` (200, or 503 with the
        problems; of one part with `?part=`, which asks no other).
        """

        async def live(_: Request) -> JSONResponse:
            return JSONResponse({"service": self.service})

        async def ready(request: Request) -> JSONResponse:
            part = request.query_params.get("part")
            problems = await (self.problems_of(part) if part else self.problems())
            notes = await _run_probes({} if part else self.notes)
            body = {
                "service": self.service,
                "problems": problems,
                **({"notes": notes} if notes else {}),
            }
            return JSONResponse(body, 503 if problems else 200)

        return [Route("/health/live", live), Route("/health/ready", ready)]


async def _run_probes(probes: dict[str, Probe]) -> dict[str, str]:
    """Return what the probes say that there are now: a service that starts adds others
    meanwhile.
    """
    results = {name: await _run_probe(name, probe) for name, probe in tuple(probes.items())}
    return {name: text for name, text in results.items() if text}


async def _run_probe(name: str, probe: Probe) -> str | None:
    try:
        return await probe()
    except Exception as error:
        logger.exception("a part could not be examined", part=name)
        return f"it could not be examined ({type(error).__name__})"


@dataclass
class Progress:
    """Whether a durable makes progress, compared from one reading to the next.

    `public`: anybody may read the problems, so they name no document.
    """

    activity: Activity = field(default_factory=Activity)
    public: bool = False
    handled_count: int = -1
    since: float = field(default_factory=time.monotonic)

    def stalled(self, *, handled_count: int, waiting: int, busy: int) -> str | None:
        """Return a problem when a handler makes no progress for `STALLED` seconds, or messages wait
        that long.
        """
        if stall := self.activity.stalled(STALLED, public=self.public):
            return stall
        now = time.monotonic()
        if handled_count != self.handled_count or busy or not waiting:
            self.handled_count = handled_count
            self.since = now
        idle = now - self.since
        return (
            f"{waiting} messages wait and none was handled for {idle:.0f} s"
            if idle > STALLED
            else None
        )
