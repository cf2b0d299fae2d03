"""What stands between a model adapter and its provider: a call waits here for its turn among all replicas.

The rules are in `limits.py`, the state they share is one value on the bus. It is read twice a second while calls run,
and written when something changed; a bus that does not answer leaves each replica its own part of the limits.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar
from uuid import uuid4

import structlog
from pydantic import ValidationError

from contracts.ids import sha256
from runtime.bus.port import SharedValues
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import NotWanted, Poison, RateLimited, Retryable, Unavailable
from runtime.models import limits as rules
from runtime.models.call_scope import call_scope
from runtime.models.limits import Block, Limits, Need, State

logger = structlog.get_logger(__name__)

T = TypeVar("T")

BEAT = 0.5
"""Seconds between two looks at what the other replicas do, while there is work: a pause reaches everybody in that."""

SILENCE, ALONE = 2.0, 5.0
"""Seconds the bus has to answer, and for which a replica then goes by its own part of the limits."""

PAUSE_WITHOUT_WORD = 1.0
"""Seconds to wait after a 429 that does not say how long."""


@dataclass
class Call:
    """One call that was let in. Whoever made it says what it cost, if the provider told."""

    estimate: int
    step: int
    probing: bool = False
    cost: int | None = None


class Guard:
    """Lets calls to one provider through, no more than all replicas together may make.

    `values` is where they meet; None: this process is alone. A call that has no turn within `patience` seconds ends as
    `RateLimited`; one to a provider that is left alone does so at once, with the time that is left, and calls nobody.
    """

    def __init__(
        self, name: str, limits: Limits, values: SharedValues | None = None, *, key: str = "", patience: float = inf
    ) -> None:  # fmt: skip
        self._limits, self._values, self._patience = limits, values, patience
        self._name, self._counted = name, bool(limits.requests or limits.tokens)
        self.key = sha256(key or name)[:32]
        self._me = uuid4().hex[:12]
        self._door, self._turn, self._left = FairSemaphore(1), asyncio.Lock(), asyncio.Event()
        self._beating: asyncio.Task[None] | None = None
        self._running = self._waiting = self._allowed = 0
        self._served = self._seen = self._short_until = self._alone_until = 0.0
        self._block: Block | None = None
        self._corrections: dict[int, int] = {}
        self._state = State(name=name)
        self._limits_alone: Limits | None = None

    @asynccontextmanager
    async def call(self, tokens: int = 0) -> AsyncGenerator[Call]:
        """A turn of about so many tokens. What is raised inside tells how the provider is."""
        call = await self._admitted(tokens)
        try:
            # What others wait for to see whether the provider is back is sent in any case.
            if not (call.probing or await call_scope().wanted()):
                raise NotWanted(f"a call to {self._name} is not wanted any more")
            yield call
        except Poison:
            await self._well(call)
            raise
        except Retryable as error:
            await self._ill(call, error)
            raise
        else:
            await self._well(call)
        finally:
            self._leave()

    async def note(self) -> str | None:
        """None, or that the provider is paused, why and since when."""
        state = self._state
        if self._values is not None:
            with suppress(Unavailable, TimeoutError):
                async with asyncio.timeout(1.0):
                    state, _ = await read_state(self._values, self.key)
        return rules.told(state, time.time())

    async def close(self) -> None:
        """Give back what is held. Repeats do nothing."""
        task, self._beating = self._beating, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if self._values is not None and self._me in self._state.shares:
            self._running = self._waiting = 0
            # A bus that is gone cannot be told: the lease ends by itself.
            with suppress(Unavailable, TimeoutError):
                async with self._turn, asyncio.timeout(SILENCE):
                    (await self._shared(self._values, self._renew))()

    async def _admitted(self, tokens: int) -> Call:
        self._waiting += 1
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat())
        try:
            wait = None if self._patience == inf else self._patience
            async with asyncio.timeout(wait), self._door.hold(call_scope().workspace):
                while (call := await self._let_in(tokens)) is None:
                    self._left.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(BEAT * random.uniform(0.35, 0.5)):  # noqa: S311
                            await self._left.wait()
                return call
        except TimeoutError:
            raise RateLimited(f"{self._name}: no turn within {self._patience:g} s", retry_after=5.0) from None
        finally:
            self._waiting -= 1

    async def _let_in(self, tokens: int) -> Call | None:
        """A turn, if there is one now. Raises `RateLimited` while the provider is left alone."""
        async with self._turn:
            now, probing = time.time(), False
            known = now - self._seen < 2 * BEAT and not self._state.until
            has_all = 0 < self._limits.calls <= self._allowed
            if known and self._running >= self._allowed and (has_all or now < self._short_until):
                return None
            if not (known and self._has_turn(tokens)):
                probing = await self._exchange(lambda state, limits, at: self._ask(state, limits, at, tokens))
                now = time.time()
                rest = rules.left(self._state, now)
                if rest > 0 and not probing:
                    raise RateLimited(rules.told(self._state, now) or self._name, retry_after=rest)
                if not self._has_turn(tokens):
                    return None
            self._running, self._served = self._running + 1, now
            return self._taken(tokens, probing)

    def _taken(self, tokens: int, probing: bool) -> Call:
        block = self._block
        if block is None:
            return Call(tokens, 0, probing)
        estimate = min(tokens, block.tokens)
        self._block = replace(block, requests=block.requests - 1, tokens=block.tokens - estimate)
        return Call(estimate, block.step, probing)

    def _has_turn(self, tokens: int) -> bool:
        """Whether a slot is free, and what was booked ahead is enough for a call of so many tokens."""
        if self._running >= self._allowed:
            return False
        block = self._block
        return not self._counted or (
            block is not None
            and block.until > time.time()
            and block.requests > 0
            and block.tokens >= min(tokens, self._limits.tokens or tokens)
        )

    def _ask(self, state: State, limits: Limits, now: float, tokens: int) -> Callable[[], bool]:
        """Ask for a turn. What is returned takes what was given, once the others know; it tells of a probing call."""
        need = Need(self._running, self._waiting, tokens, self._served)
        allowed = self._settled(state, limits, need, now, self._block)
        rest = rules.left(state, now)
        block = rules.book(state, limits, need, now) if self._counted and rest <= 0 else None
        turn = rest <= 0 and self._running < allowed and (block is not None or not self._counted)
        probing = turn and rules.probe(state, now)

        def take() -> bool:
            self._allowed, self._block, self._corrections = allowed, block, {}
            # Others hold the rest: asking again at once would not change that.
            self._short_until = now + BEAT / 3 if allowed < need.running + need.waiting else 0.0
            return probing

        return take

    def _renew(self, state: State, limits: Limits, now: float) -> Callable[[], None]:
        """Keep what is in use and give back what is not."""
        block = self._block if self._block and self._block.until <= now else None
        allowed = self._settled(state, limits, Need(self._running, self._waiting, 0, self._served), now, block)

        def take() -> None:
            self._allowed, self._corrections = allowed, {}
            self._block = None if block else self._block

        return take

    def _settled(self, state: State, limits: Limits, need: Need, now: float, block: Block | None) -> int:
        state.name = self._name
        if block is not None:
            rules.give_back(state, block)
        rules.settle(state, self._corrections)
        return rules.share(state, self._me, limits.calls, need, now)

    async def _well(self, call: Call) -> None:
        if call.cost is not None and self._limits.tokens and call.cost != call.estimate:
            step = call.step if call.cost < call.estimate else rules.step_at(self._limits, time.time())
            self._corrections[step] = self._corrections.get(step, 0) + call.cost - call.estimate
        if not (call.probing or self._state.failures or self._state.until):
            return

        def change(state: State, _: Limits, now: float) -> Callable[[], bool]:
            was_open = state.is_open
            rules.answered(state, probing=call.probing, now=now)
            return lambda: was_open

        async with self._turn:
            if await self._exchange(change):
                logger.info("the provider answers again", provider=self._name)

    async def _ill(self, call: Call, error: Retryable) -> None:
        wait = error.retry_after
        if wait is None and isinstance(error, RateLimited):
            wait = PAUSE_WITHOUT_WORD

        def change(state: State, _: Limits, now: float) -> Callable[[], bool]:
            pauses = rules.failed(state, str(error), wait, probing=call.probing, now=now)
            return lambda: pauses

        async with self._turn:
            if await self._exchange(change):
                logger.warning("the provider is paused", note=rules.told(self._state, time.time()))

    def _leave(self) -> None:
        self._running -= 1
        self._left.set()

    async def _beat(self) -> None:
        """Tell the others that we are alive, and see what they do, until we hold nothing any more."""
        while True:
            for _ in range(10):
                await asyncio.sleep(BEAT / 10)
                if not (self._running or self._waiting):
                    break
            async with self._turn:
                await self._exchange(self._renew)
                if self._me not in self._state.shares:
                    return

    async def _exchange(self, change: Callable[[State, Limits, float], Callable[[], T]]) -> T:
        """Change the shared state, and take what that gave us once it is written. Hold `_turn`."""
        if self._values is not None and time.time() >= self._alone_until:
            try:
                async with asyncio.timeout(SILENCE):
                    take = await self._shared(self._values, change)
            except (Unavailable, TimeoutError) as error:
                logger.warning("going by our own part of the limits", provider=self._name, error=str(error))
                self._alone_until = time.time() + ALONE
                self._limits_alone, self._state = self._apart()
            else:
                self._limits_alone = None
                return take()
        now = time.time()
        take = change(self._state, self._limits_alone or self._limits, now)
        self._seen = now
        return take()

    async def _shared(
        self, values: SharedValues, change: Callable[[State, Limits, float], Callable[[], T]]
    ) -> Callable[[], T]:
        while True:
            state, revision = await read_state(values, self.key)
            before = state.model_copy(deep=True)
            now = time.time()
            take = change(state, self._limits, now)
            if state == before or await values.write(self.key, state.model_dump_json().encode(), revision):
                self._state, self._seen = state, now
                return take
            await asyncio.sleep(random.uniform(0, 0.01))  # noqa: S311

    def _apart(self) -> tuple[Limits, State]:
        """Our part of the limits and of what was booked, for as long as we cannot hear the others."""
        if self._limits_alone is not None:
            return self._limits_alone, self._state
        replicas = len(self._state.shares.keys() | {self._me})
        return self._limits.divided(replicas), rules.apart(self._state, replicas)


async def read_state(values: SharedValues, key: str) -> tuple[State, int]:
    """What the replicas share about one provider, and its revision. Raises `Unavailable`."""
    data, revision = await values.read(key)
    # A value of another version counts as none: limits begin anew, and what the provider answers corrects them.
    with suppress(ValidationError):
        return State.model_validate_json(data or b"{}"), revision
    return State(), revision
