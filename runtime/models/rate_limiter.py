"""The rate limiter between a model adapter and its provider: a call waits for its turn among all
replicas.

The rules are in `limits.py`; the shared state is one value on the bus. It is read twice a second
while calls run and written when it changes. While the bus does not answer, each replica uses its
own part of the limits.
"""

import asyncio
import math
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import structlog
from pydantic import ValidationError

from contracts.ids import sha256
from runtime.bus.port import SharedValues
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import (
    NotWanted,
    Poison,
    ProviderPaused,
    RateLimited,
    Retryable,
    TextFailure,
    Unavailable,
)
from runtime.models import limits as rules
from runtime.models.call_scope import call_scope, turn_key
from runtime.models.limits import Call, Demand, Limits, ProviderState, Reservation

logger = structlog.get_logger(__name__)
T = TypeVar("T")
Change = Callable[[ProviderState, Limits, float], Callable[[], T]]

HEARTBEAT = 0.5
"""Seconds between two reads of the shared state while calls run or wait: so late a pause is met."""

IDLE_SECONDS = 2.0
"""Seconds a replica holds its lease without a call: calls in a row then ask the bus seldom."""

BUS_TIMEOUT = 2.0
"""Seconds the bus has to answer."""

LOCAL_LIMITS_DURATION = 5.0
"""Seconds for which a replica uses its own part of the limits when the bus has not answered."""

DEFAULT_PAUSE = 1.0
"""Seconds of the pause after a 429 without Retry-After."""


class RateLimiter:
    """Admits calls to one provider within the limits of all replicas together.

    `values` holds the shared state; None: no other replica exists. A call without a turn within
    `max_wait` seconds raises `RateLimited`; a call to a paused provider raises it at once, with the
    seconds that are left.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        values: SharedValues | None = None,
        *,
        key: str = "",
        max_wait: float = math.inf,
    ) -> None:
        self._limits = limits
        self._values = values
        self._max_wait = max_wait
        self._name = name
        self._counted = bool(limits.requests or limits.tokens)
        self.key = sha256(key or name)[:32]
        self._replica = uuid4().hex[:12]
        self._admission = FairSemaphore(1)
        self._lock = asyncio.Lock()
        self._call_ended = asyncio.Event()
        self._heartbeat_task: asyncio.Task[None] | None = None
        self._running = self._waiting = self._allowed = self._peak = 0
        # Of these only `_last_call` is of the machine's clock: others compare it with theirs.
        self._last_call = self._no_turn_until = self._reserved_until = 0.0
        self._ended_at = self._read_at = self._local_until = -math.inf
        self._reservation: Reservation | None = None
        self._corrections: dict[int, int] = {}
        self._state = ProviderState(name=name)
        self._local: Limits | None = None
        self.on_pause: Callable[[], None] = lambda: None

    @asynccontextmanager
    async def call(self, tokens: int = 0) -> AsyncGenerator[Call]:
        """Wait for a turn of about so many tokens. Errors raised inside count as failures of the
        provider.
        """
        call = await self._wait_for_turn(tokens)
        try:
            # A probing call is sent in any case: other replicas wait for its result.
            if not (call.probing or await call_scope().is_wanted()):
                raise NotWanted(f"a call to {self._name} is not wanted any more")
            yield call
        except (Poison, TextFailure):  # of one text: the provider has answered another
            await self._record_success(call)
            raise
        except Retryable as error:
            await self._record_failure(call, error)
            raise
        else:
            await self._record_success(call)
        finally:
            self._end_call()

    async def end_probe(self, call: Call) -> None:
        """Let other calls begin while a probing call goes on: the provider has answered it
        something.
        """
        await self._record_success(call)
        call.probing = False

    async def note(self) -> str | None:
        """Return a sentence while the provider is paused: why and since when; else None."""
        state = self._state
        if self._values is not None:
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(1.0):
                    state, _ = await read_state(self._values, self.key)
        rules.cut_times(state, now := time.time())
        return rules.pause_notice(state, now)

    async def close(self) -> None:
        """End this replica's lease. Repeats do nothing."""
        task = self._heartbeat_task
        self._heartbeat_task = None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if self._values is not None and self._replica in self._state.shares:
            self._running = self._waiting = self._peak = 0
            self._ended_at = -math.inf
            # Without the bus the lease expires by itself.
            with suppress(Unavailable, TimeoutError):
                async with self._lock, asyncio.timeout(BUS_TIMEOUT):
                    (await self._update_shared(self._values, self._renew))()

    async def _wait_for_turn(self, tokens: int) -> Call:
        self._waiting += 1
        if self._heartbeat_task is None or self._heartbeat_task.done():
            self._heartbeat_task = asyncio.create_task(self._heartbeat())
        try:
            wait = None if self._max_wait == math.inf else self._max_wait
            async with asyncio.timeout(wait), self._admission.hold(turn_key()):
                while (call := await self._try_admit(tokens)) is None:
                    self._call_ended.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(HEARTBEAT * random.uniform(0.35, 0.5)):  # noqa: S311
                            await self._call_ended.wait()
                return call
        except TimeoutError:
            raise RateLimited(
                f"{self._name}: no turn within {self._max_wait:g} s", retry_after=5.0
            ) from None
        finally:
            self._waiting -= 1

    async def _try_admit(self, tokens: int) -> Call | None:
        """Return a call if one may begin now, else None. Raises `RateLimited` while the provider is
        paused.
        """
        async with self._lock:
            now = time.monotonic()
            probing = False
            is_known = now - self._read_at < 2 * HEARTBEAT and not self._state.until
            has_all = 0 < self._limits.calls <= self._allowed
            if (
                is_known
                and self._running >= self._allowed
                and (has_all or now < self._no_turn_until)
            ):
                return None
            if not (is_known and self._has_turn(tokens)):
                probing = await self._update(
                    lambda state, limits, at: self._request_turn(state, limits, at, tokens)
                )
                at = time.time()
                pause = rules.seconds_paused(self._state, at)
                if pause > 0 and not probing:
                    raise ProviderPaused(
                        rules.pause_notice(self._state, at) or self._name, retry_after=pause
                    )
                if not self._has_turn(tokens):
                    return None
            self._running += 1
            self._last_call = time.time()
            self._peak = max(self._peak, self._running)
            return self._take_from_reservation(tokens, probing)

    def _take_from_reservation(self, tokens: int, probing: bool) -> Call:
        if (reservation := self._reservation) is None:
            return Call(tokens, 0, probing)
        estimate = min(tokens, reservation.tokens)
        tokens_left = reservation.tokens - estimate
        self._reservation = replace(
            reservation, requests=reservation.requests - 1, tokens=tokens_left
        )
        return Call(estimate, reservation.step, probing)

    def _has_turn(self, tokens: int) -> bool:
        """Return whether a call of so many tokens may begin: a slot is free and the reservation
        covers it.
        """
        if self._running >= self._allowed:
            return False
        reservation = self._reservation
        return not self._counted or (
            reservation is not None
            and self._reserved_until > time.monotonic()
            and reservation.requests > 0
            and reservation.tokens >= min(tokens, self._limits.tokens or tokens)
        )

    def _request_turn(
        self, state: ProviderState, limits: Limits, now: float, tokens: int
    ) -> Callable[[], bool]:
        """Reserve a turn. Return a callback that commits the reservation, and returns True for a
        probing call.
        """
        demand = Demand(self._running, self._waiting, tokens, self._last_call)
        share = self._reconcile(state, limits.calls, demand, now, self._reservation)
        pause = rules.seconds_paused(state, now)
        reservation = (
            rules.reserve(state, limits, demand, now) if self._counted and pause <= 0 else None
        )
        turn = (
            pause <= 0 and self._running < share and (reservation is not None or not self._counted)
        )
        probing = turn and rules.start_probe(state, now)
        ends = time.monotonic() + (reservation.until - now if reservation else 0.0)

        def commit() -> bool:
            self._allowed, self._reservation, self._corrections = share, reservation, {}
            self._reserved_until = ends
            # Other replicas hold the rest: asking again at once would not change that.
            has_others_waiting = share < demand.running + demand.waiting
            self._no_turn_until = time.monotonic() + HEARTBEAT / 3 if has_others_waiting else 0.0
            return probing

        return commit

    def _renew(self, state: ProviderState, limits: Limits, now: float) -> Callable[[], None]:
        """Renew the lease and release an expired reservation. Return a callback that commits
        both.
        """
        reservation = self._reservation if self._reserved_until <= time.monotonic() else None
        # As many as ran at once since the last beat may run again: asking anew for each costs a
        # trip to the bus.
        peak = max(self._peak, self._running + self._waiting, 0 if self._is_idle() else 1)
        demand = Demand(self._running, peak - self._running, 0, self._last_call)
        share = self._reconcile(state, limits.calls, demand, now, reservation)

        def commit() -> None:
            self._allowed, self._corrections, self._peak = share, {}, self._running
            self._reservation = None if reservation else self._reservation

        return commit

    def _reconcile(
        self,
        state: ProviderState,
        calls: int,
        demand: Demand,
        now: float,
        old_reservation: Reservation | None,
    ) -> int:
        state.name = self._name
        if old_reservation is not None:
            rules.release(state, old_reservation)
        rules.reconcile(state, self._corrections)
        return rules.renew_lease(state, self._replica, calls, demand, now)

    async def _record_success(self, call: Call) -> None:
        if call.cost is not None and self._limits.tokens and call.cost != call.estimate:
            step = (
                call.step
                if call.cost < call.estimate
                else rules.window_step(self._limits, time.time())
            )
            self._corrections[step] = self._corrections.get(step, 0) + call.cost - call.estimate
        if not (call.probing or self._state.failures or self._state.until):
            return

        def change(state: ProviderState, _: Limits, now: float) -> Callable[[], bool]:
            was_open = state.is_open
            rules.record_success(state, probing=call.probing, now=now)
            return lambda: was_open

        async with self._lock:
            if await self._update(change):
                logger.info("the provider answers again", provider=self._name)

    async def _record_failure(self, call: Call, error: Retryable) -> None:
        wait = (
            DEFAULT_PAUSE
            if error.retry_after is None and isinstance(error, RateLimited)
            else error.retry_after
        )

        def change(state: ProviderState, _: Limits, now: float) -> Callable[[], bool]:
            pauses = rules.record_failure(state, str(error), wait, probing=call.probing, now=now)
            return lambda: pauses

        async with self._lock:
            if await self._update(change):
                self.on_pause()
                logger.warning(
                    "the provider is paused", note=rules.pause_notice(self._state, time.time())
                )

    def _end_call(self) -> None:
        self._running -= 1
        self._ended_at = time.monotonic()
        self._call_ended.set()

    def _is_idle(self) -> bool:
        return (
            not (self._running or self._waiting)
            and time.monotonic() - self._ended_at >= IDLE_SECONDS
        )

    async def _heartbeat(self) -> None:
        """Renew the lease and read the shared state until this replica holds no lease."""
        while True:
            for _ in range(10):
                await asyncio.sleep(HEARTBEAT / 10)
                if self._is_idle():
                    break
            async with self._lock:
                await self._update(self._renew)
                if self._replica not in self._state.shares:
                    return

    async def _update(self, change: Change[T]) -> T:
        """Change the shared state and commit the change once it is written. The caller holds
        `_lock`.
        """
        if self._values is not None and time.monotonic() >= self._local_until:
            try:
                async with asyncio.timeout(BUS_TIMEOUT):
                    commit = await self._update_shared(self._values, change)
            except (Unavailable, TimeoutError) as error:
                logger.warning(
                    "going by our own part of the limits", provider=self._name, error=str(error)
                )
                self._local_until = time.monotonic() + LOCAL_LIMITS_DURATION
                self._local, self._state = self._local_limits()
            else:
                self._local = None
                return commit()
        now = time.time()
        rules.cut_times(self._state, now)
        commit = change(self._state, self._local or self._limits, now)
        self._read_at = time.monotonic()
        return commit()

    async def _update_shared(self, values: SharedValues, change: Change[T]) -> Callable[[], T]:
        while True:
            state, revision = await read_state(values, self.key)
            before, now = state.model_copy(deep=True), time.time()
            rules.cut_times(state, now)
            commit = change(state, self._limits, now)
            if state == before or await values.write(
                self.key, state.model_dump_json().encode(), revision
            ):
                self._state, self._read_at = state, time.monotonic()
                return commit
            await asyncio.sleep(random.uniform(0, 0.01))  # noqa: S311

    def _local_limits(self) -> tuple[Limits, ProviderState]:
        """Return this replica's part of the limits and of what is reserved, for use without the
        bus.
        """
        if self._local is not None:
            return self._local, self._state
        replicas = len(self._state.shares.keys() | {self._replica})
        return self._limits.per_replica(replicas), rules.local_part(self._state, replicas)


async def read_state(values: SharedValues, key: str) -> tuple[ProviderState, int]:
    """Return the shared state of one provider and its revision. Raises `Unavailable`."""
    data, revision = await values.read(key)
    # A value of another version counts as none: limits begin anew, and answers of the provider
    # correct them.
    with suppress(ValidationError):
        return ProviderState.model_validate_json(data or b"{}"), revision
    return ProviderState(), revision
