"""Messages of the type `test`, which somebody asks for and whose outcome they are waiting for.

Only the process that sends webhooks has a way out. Where that is another one, the gateway leaves
the order for a trial beside the endpoint, and finds the outcome there.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from uuid import uuid4

from runtime.bus.port import SharedValues
from runtime.errors import NotFound, Retryable, Unavailable
from services.gateway.webhooks.delivery import Notification, Outcome, Webhooks, deliver
from services.gateway.webhooks.endpoints import Endpoint, timestamp
from services.gateway.webhooks.stored_values import replace_value

PREFIX = "trial."
"""What the key of an order begins with; the id of the endpoint follows."""

ANSWER_SECONDS = 25.0
"""How long an outcome is waited for."""

POLL_SECONDS = 0.2
"""How often it is asked for."""


class Trials(Protocol):
    """Sends messages of the type `test`."""

    async def send(self, endpoint: Endpoint) -> Outcome:
        """Send one now, and return how the receiver answered. Raises `Unavailable`."""
        ...


@dataclass(frozen=True)
class OwnTrials:
    """`Trials` of a process that sends webhooks itself."""

    webhooks: Webhooks

    async def send(self, endpoint: Endpoint) -> Outcome:
        """See `Trials.send`."""
        now = timestamp()
        message = Notification(
            f"test-{endpoint.id}-{now}", "test", now, {"workspace": endpoint.workspace}
        )
        async with self.webhooks.turn(endpoint.workspace):
            return await deliver(self.webhooks, endpoint, message)


@dataclass(frozen=True)
class OrderedTrials:
    """`Trials` that the sender makes in a process of its own."""

    values: SharedValues
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def send(self, endpoint: Endpoint) -> Outcome:
        """See `Trials.send`. A second order takes the place of the first."""
        key = PREFIX + endpoint.id
        order = {"id": uuid4().hex, "ordered_at": time.time()}
        await replace_value(self.values, key, json.dumps(order).encode())
        seconds = 0.0
        while seconds < ANSWER_SECONDS:
            await self.sleep(POLL_SECONDS)
            seconds += POLL_SECONDS
            value, revision = await self.values.read(key)
            fields: dict[str, Any] = json.loads(value) if value else {}
            if fields.get("id") != order["id"]:
                raise Unavailable("somebody else tests this webhook at the same time")
            if "outcome" in fields:
                await self.values.write(key, b"", revision)
                return Outcome(**fields["outcome"])
        await replace_value(self.values, key, b"")
        raise Unavailable(
            "no sender of webhooks answered: WEBHOOK_SENDER is apart, and none runs or it is slow"
        )


@dataclass(frozen=True)
class TrialOrders:
    """The orders, for the process that carries them out."""

    webhooks: Webhooks

    async def carry_out(self) -> None:
        """Carry out every order that no other sender has taken. Raises `Unavailable`."""
        values = self.webhooks.endpoints.values
        orders = [key for key in await values.keys() if key.startswith(PREFIX)]
        await asyncio.gather(*map(self._carry_out_order, orders))

    async def _carry_out_order(self, key: str) -> None:
        values = self.webhooks.endpoints.values
        value, revision = await values.read(key)
        order: dict[str, Any] = json.loads(value) if value else {}
        if not order or "taken" in order or time.time() - order["ordered_at"] > ANSWER_SECONDS:
            return
        order["taken"] = True
        if not await values.write(key, json.dumps(order).encode(), revision):
            return
        try:
            endpoint = await self.webhooks.endpoints.get(key.removeprefix(PREFIX))
        except NotFound:
            return
        outcome = await OwnTrials(self.webhooks).send(endpoint)
        newest_value, revision = await values.read(key)
        if newest_value and json.loads(newest_value)["id"] == order["id"]:
            order["outcome"] = asdict(outcome)
            await values.write(key, json.dumps(order).encode(), revision)

    async def keep_carrying_out(self) -> None:
        """Carry orders out until cancelled. A bus that is away is waited for."""
        while True:
            with suppress(Retryable):
                await self.carry_out()
            await asyncio.sleep(1.0)
