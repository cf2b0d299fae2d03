"""Keep why messages are retried: the last error of each, as long as it waits for its next
delivery.
"""

import time
from dataclasses import dataclass, field

from runtime.errors import Retryable

OVERDUE = 60.0
"""Seconds after its delay that a message is still taken to come again here, and not to another
replica.
"""

MOST = 10_000
SHOWN = 300
"""Characters of an error."""


@dataclass
class RetryReasons:
    """By the messages' places in the log. `public`: strangers may read the note, so it names kinds
    of errors only.
    """

    public: bool = False
    _last_reasons: dict[int, tuple[float, str]] = field(
        default_factory=dict[int, tuple[float, str]]
    )

    def failed(self, sequence: int, error: Exception, delay: float) -> None:
        """Note that the message will be delivered again in `delay` seconds."""
        if len(self._last_reasons) >= MOST:
            self._last_reasons.clear()
        self._last_reasons.pop(sequence, None)
        self._last_reasons[sequence] = time.monotonic() + delay + OVERDUE, self._shown(error)

    def settled(self, sequence: int) -> None:
        """Note that the message will not be delivered again."""
        self._last_reasons.pop(sequence, None)

    async def note(self) -> str | None:
        """Return the last reason, and for how many events; None while no message waits for a
        retry.
        """
        now = time.monotonic()
        self._last_reasons = {
            sequence: reason for sequence, reason in self._last_reasons.items() if reason[0] > now
        }
        if not self._last_reasons:
            return None
        sequence, (_, reason) = list(self._last_reasons.items())[-1]
        return f"{len(self._last_reasons)} come again, the last of them event {sequence}: {reason}"

    def _shown(self, error: Exception) -> str:
        # The text of an unexpected error may hold anything, a document's text too.
        if self.public or not isinstance(error, Retryable):
            return f"{type(error).__name__} (the service's log has it all)"
        return f"{type(error).__name__}: {error!s:.{SHOWN}}"
