"""Takes orders for rebuilds from the bus and gives the command for each, one at a time, in a process of its own.

Its own, for a rebuild takes memory that only the end of a process gives back, and because what it is killed for must
not end a supervisor. An order has no say in the command but by fields that are checked.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, get_args

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.graph import PROJECTIONS
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import connected
from runtime.bus.port import SharedValues
from runtime.errors import ServiceError
from runtime.projections.rebuild_requests import RebuildOrder, RebuildOutcome, Step, write_outcome

GRACE = 10.0
"""Seconds a command may take to end when this process stops."""

MAX_LISTED = 20
"""Events of a newer version that an outcome lists."""


@dataclass
class OrderedRebuilds:
    """The orders of one stack. `options` are those of every command, such as its data folder."""

    values: SharedValues
    options: Sequence[str]
    report: Callable[[str], None]
    current: RebuildOrder | None = None
    work: asyncio.Task[None] | None = field(default=None, repr=False)

    async def answer(self, message: Msg) -> None:
        """Answer a request: an empty one with the order under way, an order by beginning it."""
        await message.respond(json.dumps(self._begin(message.data)).encode())

    def _begin(self, data: bytes) -> dict[str, Any]:
        if not data:
            return {"current": self.current.id if self.current else ""}
        if self.current:
            return {"busy": f"{self.current.step} {self.current.projection}, ordered by {self.current.who}"}
        order = RebuildOrder(**json.loads(data))
        command(order)  # refuses fields of no use before anything begins
        self.current = order
        self.work = asyncio.create_task(self._run(order))
        return {"accepted": order.id}

    async def _run(self, order: RebuildOrder) -> None:
        outcome = RebuildOutcome(order, "running", _now())
        self.report(f"rebuild {order.step} {order.projection}, ordered by {order.who}")
        try:
            await self._note(outcome)
            done = await self._give(order)
            self.report(f"rebuild {order.step} {order.projection}: {done.get('error') or 'done'}")
            await self._note(
                replace(
                    outcome, state="failed" if "error" in done else "done", ended=_now(), error=done.get("error", ""),
                    result={} if "error" in done else done,
                )
            )  # fmt: skip
        finally:
            self.current = None

    async def _give(self, order: RebuildOrder) -> dict[str, Any]:
        """Give the command, and return what it says, or `{"error": …}`."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "standalone.cli", *command(order), *self.options,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            said, _ = await child.communicate()
        finally:
            if child.returncode is None:
                child.terminate()
                with suppress(TimeoutError):
                    async with asyncio.timeout(GRACE):
                        await child.wait()
        return read_result(said, child.returncode or 0)

    async def _note(self, outcome: RebuildOutcome) -> None:
        # Whoever looks sees the projections, too: an outcome that cannot be noted is no reason to stop.
        with suppress(ServiceError):
            await write_outcome(self.values, outcome)

    async def stop(self) -> None:
        """End the command under way: a rebuild that was stopped is started again by another order."""
        if self.work:
            self.work.cancel()
            await asyncio.gather(self.work, return_exceptions=True)


def command(order: RebuildOrder) -> list[str]:
    """Return the arguments of `lightstream` for an order. Raises ValueError for an order that has no command."""
    if order.step not in get_args(Step) or order.projection not in (*PROJECTIONS, "all"):
        raise ValueError(f"no such step: {order.step!r} {order.projection!r}")
    step = [order.projection] if order.step == "run" else [order.step, order.projection]
    given = {
        "--events-per-second": order.events_per_second,
        "--embedding-model": order.embedding_model,
        "--embedding-dim": order.embedding_dim,
        "--reason": order.reason,
    }
    # As one word each: a value that begins with a hyphen is no option.
    return ["rebuild", *step, "--json", *(f"{name}={value}" for name, value in given.items() if value)]


def read_result(said: bytes, code: int) -> dict[str, Any]:
    """Return what a command printed with --json, or `{"error": …}` with the reason it did not succeed."""
    try:
        result: dict[str, Any] = json.loads(said)
    except ValueError:
        return {"error": f"the command ended with code {code} and said nothing that can be read"}
    if code:
        return {"error": str(result.get("error", {}).get("message", f"code {code}"))}
    if "newer" in result:
        result["newer"] = result["newer"][:MAX_LISTED]
    return result


@asynccontextmanager
async def take_orders(client: Client, options: Sequence[str], report: Callable[[str], None]) -> AsyncGenerator[None]:
    """Take orders for as long as the block lasts. Raises ConfigurationError without the bucket of checkpoints."""
    values = await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
    rebuilds = OrderedRebuilds(values, options, report)
    subscription = await client.subscribe(subjects.REBUILDS, queue="operator", cb=rebuilds.answer)
    try:
        yield
    finally:
        with suppress(Exception):  # the connection may be closed
            await subscription.unsubscribe()
        await rebuilds.stop()


@asynccontextmanager
async def take_orders_at(url: str, options: Sequence[str], report: Callable[[str], None]) -> AsyncGenerator[None]:
    """Take orders over a connection of its own. Raises ConfigurationError when the bus does not answer."""
    async with connected(url, name="lightstream-operator") as client, take_orders(client, options, report):
        yield


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
