"""Chance, from a seed: how long a call takes, which fails, which message is delivered to whom, who
is killed.
"""

import asyncio
import inspect
import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

from contracts.topology import Consumer
from runtime.bus.memory import MemoryMessage, Stored
from runtime.errors import RateLimited, Unavailable

NEAR = 8
"""Waiting messages among which the next delivery is drawn: a durable reorders, but not without
bounds.
"""


@dataclass
class Chance:
    """The seed's decisions. `until`: the second after which nothing goes wrong any more, so that a
    run can end.
    """

    rng: Random
    faults: float = 0.0
    """Probability that a call to a port fails, before or after it took effect, and that an
    acknowledgement is lost.
    """
    kills: float = 0.0
    """Probability of a step to kill a process."""
    repeats: float = 0.0
    """Probability of a delivery to take a message that somebody else is working on."""
    outage: tuple[float, float] = (0.0, 0.0)
    """When the models' provider refuses every call: from, to."""
    rebuild_at: float | None = None
    """When somebody starts a rebuild of all projections, if anybody does."""
    clock_steps: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When somebody sets the machine's clock, and by how many seconds."""
    window: float = math.inf
    """Seconds for which the log knows ids."""
    until: float = 60.0
    delays: bool = True
    """Whether calls take time, so that others come between. In peace nobody has to wait."""
    failed_calls: int = 0

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return asyncio.get_running_loop().time()

    @property
    def troubled(self) -> bool:
        """Whether things may go wrong yet."""
        return self.now < self.until

    def delay(self) -> float:
        """Return the seconds for which others go on: none, a moment, seldom a whole one."""
        return (
            (chance - 0.5) ** 4 * 16 if self.delays and (chance := self.rng.random()) > 0.5 else 0.0
        )

    async def pause(self) -> None:
        """Let others go on, perhaps."""
        if seconds := self.delay():
            await asyncio.sleep(seconds)

    def fail(self, name: str) -> None:
        """Raise Unavailable, now and then."""
        if self.faults and self.rng.random() < self.faults / 2 and self.troubled:
            self.failed_calls += 1
            raise Unavailable(f"{name} did not answer")

    def ask_provider(self) -> None:
        """Raise what the models' provider answers while it refuses."""
        begin, end = self.outage
        if begin <= self.now < end:
            raise self.rng.choice((RateLimited, Unavailable))("the provider refuses")


class Interrupted:
    """A port whose calls take their time and fail now and then, before or after they took
    effect.
    """

    def __init__(self, inner: Any, chance: Chance) -> None:
        self._inner, self._chance = inner, chance

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(value):
            return value
        chance = self._chance

        async def call(*arguments: Any, **options: Any) -> Any:
            if seconds := chance.delay():
                await asyncio.sleep(seconds)
            chance.fail(name)
            result = await value(*arguments, **options)
            chance.fail(name)
            if seconds := chance.delay():
                await asyncio.sleep(seconds)
            return result

        self.__dict__[name] = call  # found there from now on
        return call


@dataclass
class SimulatedMessage(MemoryMessage):
    """One delivery. Acknowledgements get lost now and then."""

    durable: "SimulatedDurable" = field(kw_only=True)
    delay: float = 0.0
    """Seconds until it may come again, if it does."""

    async def ack(self) -> None:
        chance = self.durable.chance
        await chance.pause()
        if not (chance.faults and chance.rng.random() < chance.faults and chance.troubled):
            self.durable.waiting.pop(self.sequence, None)
            self.durable.free.pop(self.sequence, None)

    async def nak(self, delay: float) -> None:
        self.delay = delay


@dataclass
class SimulatedDurable:
    """A durable consumer: what its replicas have not acknowledged, of which some is being worked
    on.
    """

    declared: Consumer
    chance: Chance
    waiting: dict[int, Stored] = field(default_factory=dict[int, Stored])
    """By sequence: what nobody has acknowledged."""
    free: dict[int, float] = field(default_factory=dict[int, float])
    """By sequence: from when on those that nobody has in his hands may be delivered."""
    in_flight: dict[int, int] = field(default_factory=dict[int, int])
    """The last attempt of each message that somebody has in his hands, by sequence."""
    attempts: dict[int, int] = field(default_factory=dict[int, int])
    repeats: int = 0
    """Deliveries of a message that somebody else was working on."""

    def __post_init__(self) -> None:
        self._types = {
            subject_filter.rpartition(".")[2] for subject_filter in self.declared.filters
        }

    def offer(self, message: Stored) -> None:
        """Take a message that was appended to the log."""
        if "*" in self._types or message.subject.rpartition(".")[2] in self._types:
            self.waiting[message.sequence], self.free[message.sequence] = message, 0.0

    def fetch(self) -> list[SimulatedMessage]:
        """Return some of the waiting messages, in an order of chance; sometimes one that is in
        somebody's hands.
        """
        rng = self.chance.rng
        now = self.chance.now
        repeat = self.chance.repeats and rng.random() < self.chance.repeats and self.chance.troubled
        due = sorted(
            self.waiting
            if repeat
            else (sequence for sequence, at in self.free.items() if at <= now)
        )[:NEAR]
        sequences = rng.sample(due, min(len(due), rng.randint(1, min(self.declared.batch, NEAR))))
        self.repeats += sum(sequence in self.in_flight for sequence in sequences)
        return [self._deliver(sequence) for sequence in sequences]

    def _deliver(self, sequence: int) -> SimulatedMessage:
        self.free.pop(sequence, None)
        self.attempts[sequence] = self.in_flight[sequence] = self.attempts.get(sequence, 0) + 1
        return SimulatedMessage(
            self.waiting[sequence], attempt=self.attempts[sequence], durable=self
        )

    def put_down(self, message: SimulatedMessage) -> None:
        """Nobody works on the message any more, unless it was delivered once more meanwhile."""
        if self.in_flight.get(message.sequence) == message.attempt:
            del self.in_flight[message.sequence]
            if message.sequence in self.waiting:
                self.free[message.sequence] = self.chance.now + message.delay

    def has_work(self, now: float) -> bool:
        """Return whether a message waits that nobody is working on."""
        return min(self.free.values(), default=math.inf) <= now
