"""Chance, from a seed: when a task goes on, which call fails, which message is delivered to whom, who is killed."""

import asyncio
import inspect
from dataclasses import dataclass, field
from random import Random
from typing import Any

from contracts.topology import Consumer
from runtime.bus.memory import MemoryLog, MemoryMessage, Stored
from runtime.errors import Unavailable

NEAR = 8
"""Waiting messages among which the next delivery is drawn: a durable reorders, but not without bounds."""


@dataclass
class Chance:
    """The seed's decisions. `troubled`: whether things may go wrong yet; they stop so that a run can end."""

    rng: Random
    faults: float = 0.0
    """Probability that a call to a port fails, before or after it took effect, and that an acknowledgement is lost."""
    kills: float = 0.0
    """Probability of a step to kill a process."""
    repeats: float = 0.0
    """Probability of a delivery to take a message that somebody else is working on."""
    troubled: bool = True
    failed_calls: int = 0

    async def pause(self) -> None:
        """Let other tasks go on, for as long as chance has it."""
        for _ in range(self.rng.choice((0, 0, 1, 1, 2, 5))):
            await asyncio.sleep(0)

    def fail(self, what: str) -> None:
        """Raise Unavailable, now and then."""
        if self.troubled and self.rng.random() < self.faults / 2:
            self.failed_calls += 1
            raise Unavailable(f"{what} did not answer")


class Interrupted:
    """A port whose calls take their time and fail now and then, before or after they took effect."""

    def __init__(self, inner: Any, chance: Chance) -> None:
        self._inner, self._chance = inner, chance

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(value):
            return value

        async def call(*given: Any, **named: Any) -> Any:
            await self._chance.pause()
            self._chance.fail(name)
            result = await value(*given, **named)
            self._chance.fail(name)
            await self._chance.pause()
            return result

        return call


@dataclass
class SimulatedMessage(MemoryMessage):
    """One delivery. Acknowledgements get lost now and then."""

    durable: "SimulatedDurable" = field(kw_only=True)

    async def ack(self) -> None:
        await self.durable.chance.pause()
        if not (self.durable.chance.troubled and self.durable.chance.rng.random() < self.durable.chance.faults):
            self.durable.waiting.pop(self.sequence, None)

    async def nak(self, delay: float) -> None:
        self.durable.put_down(self)


@dataclass
class SimulatedDurable:
    """A durable consumer: what its replicas have not acknowledged, of which some is being worked on."""

    log: MemoryLog
    declared: Consumer
    chance: Chance
    seen: int = 0
    waiting: dict[int, Stored] = field(default_factory=dict[int, Stored])
    """By sequence: what nobody has acknowledged."""
    in_flight: dict[int, int] = field(default_factory=dict[int, int])
    """The last attempt of each message that somebody has in his hands, by sequence."""
    attempts: dict[int, int] = field(default_factory=dict[int, int])
    repeats: int = 0
    """Deliveries of a message that somebody else was working on."""

    def __post_init__(self) -> None:
        self._types = {subject_filter.rpartition(".")[2] for subject_filter in self.declared.filters}

    def _look(self) -> None:
        for stored in self.log.messages[self.seen :]:
            if self._types & {"*", stored.subject.rpartition(".")[2]}:
                self.waiting[stored.sequence] = stored
        self.seen = len(self.log.messages)

    def fetch(self) -> list[SimulatedMessage]:
        """Return some of the waiting messages, in an order of chance; sometimes one that is in somebody's hands."""
        self._look()
        rng = self.chance.rng
        repeat = self.chance.troubled and rng.random() < self.chance.repeats
        free = sorted(self.waiting if repeat else self.waiting.keys() - self.in_flight.keys())[:NEAR]
        chosen = rng.sample(free, min(len(free), rng.randint(1, min(self.declared.batch, NEAR))))
        self.repeats += sum(sequence in self.in_flight for sequence in chosen)
        return [self._deliver(sequence) for sequence in chosen]

    def _deliver(self, sequence: int) -> SimulatedMessage:
        self.attempts[sequence] = self.in_flight[sequence] = self.attempts.get(sequence, 0) + 1
        return SimulatedMessage(self.waiting[sequence], attempt=self.attempts[sequence], durable=self)

    def put_down(self, message: SimulatedMessage) -> None:
        """Nobody works on the message any more, unless it was delivered once more meanwhile."""
        if self.in_flight.get(message.sequence) == message.attempt:
            del self.in_flight[message.sequence]

    def has_work(self) -> bool:
        """Return whether a message waits that nobody is working on."""
        self._look()
        return len(self.waiting.keys() - self.in_flight.keys()) > 0
