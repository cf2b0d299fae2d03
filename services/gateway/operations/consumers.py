"""Throughput and lag of every consumer."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from runtime.bus.nats.consumers import ConsumerState

LEAST_SECONDS = 1.0
MOST_SECONDS = 60.0
"""Age of the reading that a rate is counted from."""

Reading = tuple[datetime, Sequence[ConsumerState]]


@dataclass(frozen=True)
class ConsumerRate:
    """A consumer, and the messages a second that it acknowledged since `since`; None while nothing
    is known.
    """

    state: ConsumerState
    rate: float | None
    since: datetime | None


@dataclass
class ConsumerRates:
    """Remembers readings of a minute, to know how fast consumers are."""

    read: Callable[[], Awaitable[Sequence[ConsumerState]]]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    _readings: deque[Reading] = field(default_factory=deque[Reading])

    async def current(self) -> list[ConsumerRate]:
        """Read all consumers anew. Raises `Unavailable`."""
        states = await self.read()
        now = self.now()
        while self._readings and (now - self._readings[0][0]).total_seconds() > MOST_SECONDS:
            self._readings.popleft()
        since, before = self._readings[0] if self._readings else (now, states)
        seconds = (now - since).total_seconds()
        if not self._readings or (now - self._readings[-1][0]).total_seconds() >= LEAST_SECONDS:
            self._readings.append((now, states))
        if seconds < LEAST_SECONDS:
            return [ConsumerRate(state, None, None) for state in states]
        earlier = {state.name: state.acknowledged_sequence for state in before}
        return [
            # A durable that was made anew counts from zero again.
            ConsumerRate(
                state,
                max(0.0, state.acknowledged_sequence - earlier.get(state.name, 0)) / seconds,
                since,
            )
            for state in states
        ]
