"""Decides who is to blame for a failed call: the provider, or the one text that was sent.

The provider is asked something harmless, the control. If it answers that, the text is the cause
once it has failed often enough; else the provider is. Failures are counted in this process, as
those of events are (decision 29): another replica counts from zero, so a text may be tried a few
times more, never less, and never without end.
"""

import time
from collections.abc import Awaitable, Callable

from contracts.ids import sha256
from runtime.bus.attempts import Attempts
from runtime.errors import ServiceError, TextFailure
from runtime.models.call_scope import call_scope
from runtime.models.failures import Failure

WELL = 5.0
"""Seconds for which an answer shows that the provider works, so that no control is asked: enough to
count a failure against a text, never to give one up.
"""


class Blame:
    """Counts the failures of each text at one provider."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = Attempts()
        self._answered_at: float | None = None

    def answered(self, text: str = "") -> None:
        """Note that the provider has answered: this text, or the control."""
        self._answered_at = self._clock()
        if text:
            self._failures.forget(_key(text))

    async def judged(
        self, failure: Failure, text: str, control: Callable[[], Awaitable[bool]]
    ) -> ServiceError:
        """Return the error of a failed call with this text; `control` says whether another call is
        answered now.
        """
        if not failure.tries:
            self._answered_at = None
            return failure.provider
        key = _key(text)
        is_final = self._failures.of(key).get("text", 0) + 1 >= failure.tries
        if not is_final and failure.waits:
            self._failures.add(key, "text")
            return failure.provider
        is_known = failure.well or (self._is_well() and not is_final)
        if not is_known and not await control():
            self._answered_at = None
            return failure.provider
        if is_final:
            self._failures.forget(key)
            return failure.text
        self._failures.add(key, "text")
        return TextFailure(str(failure.text), failure.text.sentence)

    def _is_well(self) -> bool:
        return self._answered_at is not None and self._clock() - self._answered_at < WELL


def _key(text: str) -> str:
    return sha256(f"{call_scope().workspace}\x1f{text}")
