"""A stage that gives up too much by its own fault stops: a bad release must not drain the log into
dead letters.

Counted is what no document can cause: unexpected errors, and events of our own services that cannot
be read. Documents that can never succeed do not count, for anybody may add as many of them as they
like.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from contracts import subjects
from contracts.registry import PRODUCERS, SERVICES
from runtime.bus.port import Message
from runtime.errors import Poison, StagePaused

logger = structlog.get_logger(__name__)

WINDOW = 3600.0
"""Seconds in which dead letters are counted together."""

LOOK_AGAIN = 30.0
"""Seconds until a message that came to a paused stage is delivered again."""


@dataclass
class DeadLetterLimit:
    """Pauses its consumer, until the process starts again, at the `max_letters`-th fault within an
    hour. 0: never.
    """

    max_letters: int = 0
    clock: Callable[[], float] = time.monotonic
    pause: StagePaused | None = None
    _times: deque[float] = field(default_factory=deque[float])

    def count(self, error: str) -> None:
        """Note one dead letter that the code has caused."""
        now = self.clock()
        self._times.append(now)
        while self._times[0] <= now - WINDOW:
            self._times.popleft()
        if self.max_letters and len(self._times) >= self.max_letters and self.pause is None:
            self.pause = StagePaused(
                f"paused after {self.max_letters} dead letters within an hour (DEAD_LETTER_LIMIT), "
                f"the last for {error:.200}; mend the cause and start the service again, "
                "then `lightstream retry --failed --yes`"
            )
            logger.error("stage paused", reason=str(self.pause))


def is_fault_of_code(message: Message, error: Exception, *, was_decoded: bool) -> bool:
    """Return whether giving up the message for this error says that a service is broken, and not a
    document.
    """
    if was_decoded or not isinstance(error, Poison):
        return not isinstance(error, Poison)
    try:
        _, _, event_type = subjects.split(message.subject)
    except ValueError:
        return False
    return set(PRODUCERS.get(event_type, ("publisher",))) <= set(SERVICES)
