"""Sends to every endpoint what its cursor has in front of it: one sender at a time for each, in the
order of the log.

A message that is not taken stays in front: the log keeps what comes behind it, so nothing is lost
or overtakes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import uuid4

import structlog

from runtime.bus.feed.port import EventFeed
from runtime.clock import Waits
from runtime.concurrency.events import first_of
from runtime.errors import NotFound, Retryable
from services.gateway.feeds.reading import EventFilter
from services.gateway.webhooks.delivery import Webhooks, deliver
from services.gateway.webhooks.endpoints import (
    Endpoint,
    Endpoints,
    EndpointState,
    StoredState,
    timestamp,
)
from services.gateway.webhooks.notifications import Notifier

logger = structlog.get_logger(__name__)

POLL = 2.0
"""Seconds between two looks for endpoints, and for events while there are none."""

QUIET_POLL = 10.0
"""The same while there is no endpoint, but for those that this process adds: they are seen at once.
"""

PAGE = 20
"""Events read at once; the cursor is written behind each page."""

FIRST_RETRY = 5.0
LONGEST_RETRY = 3600.0
"""Seconds to the second attempt, and at most between two."""

GIVE_UP = 3 * 24 * 3600.0
"""Seconds of failures after which an endpoint is disabled."""

LEAST_FAILURES = 12
"""Failures without which no endpoint is disabled: where the clock is set forward, days pass between
two of them.
"""

LEASE_EXPIRES = 60.0
"""Seconds without a renewal after which another process takes over; longer than an attempt."""


WITHOUT_CREDENTIALS = (
    "the key or user who registered this webhook is gone or may not write in the workspace any "
    "more: somebody who may can enable it"
)


@dataclass
class Lease:
    """Which process sends to an endpoint. It saves double sending; receivers are safe by the ids of
    messages.
    """

    endpoints: Endpoints
    id: str
    holder: str
    renewed_at: float = float("-inf")
    seen_revision: int = -1
    seen_at: float = 0.0

    async def hold(self) -> bool:
        """Take or renew it; False while another process holds it. Raises `Unavailable`."""
        key = f"lease.{self.id}"
        now = time.monotonic()
        if now - self.renewed_at < LEASE_EXPIRES / 3:
            return True
        value, revision = await self.endpoints.values.read(key)
        # Seconds are counted here from one revision to the next, for the clocks of two machines
        # differ.
        if value and value != self.holder.encode():
            if revision != self.seen_revision:
                self.seen_revision = revision
                self.seen_at = now
            if now - self.seen_at < LEASE_EXPIRES:
                return False
        is_held = await self.endpoints.values.write(key, self.holder.encode(), revision)
        self.renewed_at = now if is_held else float("-inf")
        return is_held

    async def give_back(self) -> None:
        """Let others have it at once; one that cannot be given back expires."""
        with suppress(Retryable):
            value, revision = await self.endpoints.values.read(f"lease.{self.id}")
            if value == self.holder.encode():
                await self.endpoints.values.write(f"lease.{self.id}", b"", revision)


def failed(state: EndpointState, error: str, now: float, *, is_gone: bool = False) -> EndpointState:
    """Return the state after a failed attempt: tried again later and later, disabled after days of
    failures.
    """
    since = state.failing_since or now
    return replace(
        state,
        failures=state.failures + 1,
        failing_since=since,
        next_attempt=now + _pause(state.failures + 1),
        last_error=error,
        disabled=is_gone or (now - since >= GIVE_UP and state.failures + 1 >= LEAST_FAILURES),
    )


def _pause(failures: int) -> float:
    """Return the seconds to the next attempt after so many failures in a row."""
    return min(FIRST_RETRY * 2 ** min(failures - 1, 20), LONGEST_RETRY)


async def nothing_to_refresh() -> None:
    """Do nothing: the process that knows the credentials learns of no others."""


@dataclass
class WebhookSender:
    """The senders of this process."""

    webhooks: Webhooks
    feed: EventFeed
    notifier: Notifier
    refresh_principals: Callable[[], Awaitable[None]] = nothing_to_refresh
    """Learns anew who may use webhooks, before each page of events."""
    stopping: bool = False
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    _waits: Waits = field(default_factory=Waits)

    @property
    def endpoints(self) -> Endpoints:
        """Return the endpoints of all workspaces."""
        return self.webhooks.endpoints

    @cached_property
    def holder(self) -> str:
        """Return the name of this process in leases."""
        return uuid4().hex

    async def run(self) -> None:
        """Send until cancelled. A bus that is away is waited for."""
        try:
            while True:
                self.endpoints.addition.clear()
                with suppress(Retryable):
                    for endpoint in await self.endpoints.all():
                        if endpoint.id not in self._tasks:
                            task = asyncio.create_task(self._send(endpoint.id, endpoint.workspace))
                            self._tasks[endpoint.id] = task
                            task.add_done_callback(
                                lambda _, id=endpoint.id: self._tasks.pop(id, None)
                            )
                await first_of([self.endpoints.addition], POLL if self._tasks else QUIET_POLL)
        finally:
            # A client in the middle of a fetch may swallow a cancellation: the loop asks then.
            self.stopping, tasks = True, list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, id: str, workspace: str) -> None:
        """Send to one endpoint until it is removed."""
        lease = Lease(self.endpoints, id, self.holder)
        try:
            while not self.stopping:
                busy = False
                try:
                    async with self.webhooks.turn(workspace):
                        busy = await lease.hold() and await self.step(id, lease)
                except Retryable as error:
                    logger.warning("webhook waits", webhook=id, error=str(error))
                except NotFound:
                    raise
                except Exception:  # of one endpoint, which must not end the others
                    logger.exception("webhook cannot be sent", webhook=id)
                if not busy:
                    await asyncio.sleep(POLL)
        except NotFound:
            return
        finally:
            await lease.give_back()

    async def step(self, id: str, lease: Lease) -> bool:
        """Send the next page of events; False when there is nothing to do now. Raises NotFound,
        `Unavailable`.
        """
        endpoint = await self.endpoints.get(id)
        stored_state = await self.endpoints.state(id)
        if stored_state is None or stored_state.state.disabled:
            return False
        if self._waits.left(
            id, stored_state.state.next_attempt, _pause(stored_state.state.failures)
        ):
            return False
        await self.refresh_principals()
        if not self.webhooks.may_write(endpoint.created_by, endpoint.workspace):
            await self._failed(
                endpoint, stored_state, failed(stored_state.state, WITHOUT_CREDENTIALS, time.time())
            )
            return False
        event_filter = EventFilter(endpoint.workspace)
        messages, _ = await self.feed.page(event_filter.subject, stored_state.state.cursor, PAGE)
        state: EndpointState = stored_state.state
        for message in messages:
            for notification in await self.notifier.notifications(endpoint, message):
                outcome = await deliver(self.webhooks, endpoint, notification)
                if outcome.error:
                    self.notifier.last_states.pop(
                        (endpoint.id, notification.data["document"]), None
                    )
                    await self._failed(
                        endpoint,
                        stored_state,
                        failed(state, outcome.error, time.time(), is_gone=outcome.is_gone),
                    )
                    return False
                state = EndpointState(state.cursor, last_success=timestamp())
                if not await lease.hold():
                    return False
            state = replace(state, cursor=message.sequence)
        if messages:
            # False: somebody replayed it or took over meanwhile, and that counts.
            await self.endpoints.write_state(id, state, stored_state.revision)
        return bool(messages)

    async def _failed(
        self, endpoint: Endpoint, stored_state: StoredState, new_state: EndpointState
    ) -> None:
        if new_state.disabled and not stored_state.state.disabled:
            logger.warning(
                "webhook disabled",
                webhook=endpoint.id,
                workspace=endpoint.workspace,
                error=new_state.last_error,
            )
        await self.endpoints.write_state(endpoint.id, new_state, stored_state.revision)


async def disabled_webhooks(endpoints: Endpoints) -> str | None:
    """Return how many endpoints are disabled, for the page of health; None without any."""
    with suppress(Retryable):
        states = [await endpoints.state(endpoint.id) for endpoint in await endpoints.all()]
        disabled_count = sum(stored_state.state.disabled for stored_state in states if stored_state)
        return (
            f"{disabled_count} of {len(states)} are disabled: see `lightstream webhooks list`"
            if disabled_count
            else None
        )
    return None
