"""The one question an error answers: try again, or dead-letter?

ServiceError ├── Retryable        may succeed later: the event is redelivered with a growing delay,
for as long as it takes │   ├── Unavailable      a store, the bus or a provider does not answer; the
outcome of a write is unknown │   │   └── NotServing       the log or a store has lost what it held:
an operator is told what to do │   ├── TextFailure      a provider fails for this text and answers
others: a few tries, then it is refused │   ├── RateLimited      the provider asks to wait
(`retry_after` seconds) │   │   └── ProviderPaused   it is paused for that long, and was not called
│   ├── NewerVersion     the event is newer than this code: it is parked until the code knows its
version │   ├── ModelChanged     the vectors were made by another embedding model: a rebuild is
asked for │   ├── OutdatedVectors  the vectors have ids of an older version: they can be searched,
and wait for a rebuild │   ├── BudgetSpent      the workspace's budget allows no paid call: it is
parked until that is raised │   ├── AwaitingBatch    it stands in a batch of the provider: it is
parked until that has ended │   └── StagePaused      the stage gave up too much by its own fault:
nothing is handled until it is started again ├── Poison           can never succeed: the event is
dead-lettered, with a StageFailed and the reason │   ├── ModelRefused     a model never takes this
request │   └── Undecodable      not even an event; kept raw in KB_DEAD ├── NotWanted        the
document was deleted or replaced meanwhile: what was to be paid for it is not ├── InvalidInput     a
caller gave what cannot be used (HTTP 4xx, exit code 2) │   └── NotFound         what the caller
names does not exist (HTTP 404) └── ConfigurationError   this process must not start: the message
says what to change
    └── Busy             another process does what only one may do at a time

Anything else is a bug: it is redelivered a few times and then dead-lettered like Poison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # the command line shows its help without loading the contracts
    from contracts.events import Event


class ServiceError(Exception):
    """Root of every error this project raises on purpose.

    `model`: the one whose provider is its cause, if any is. `sentence`: what that provider itself
    says of the text, as its asker may read it: without keys and addresses, empty where it says
    nothing.
    """

    model: str = ""
    sentence: str = ""


class Retryable(ServiceError):
    """May succeed later. `retry_after`: the least number of seconds to wait, if anyone said.

    `events`: events that are true already; the edge publishes them before the rest is tried again.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, events: Sequence[Event] = ()
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.events = tuple(events)


def longest_wait(errors: Sequence[Retryable], events: Sequence[Event]) -> Retryable:
    """Return one error for several: that with the longest Retry-After, which is also its cause,
    with the `events`.

    It is `BudgetSpent` where all of them are, and `ProviderPaused` where none of them was tried.
    What stands in a batch counts only where nothing else is to be tried again before.
    """
    if sooner := [error for error in errors if not isinstance(error, AwaitingBatch | BudgetSpent)]:
        errors = sooner
    elif waiting := [error for error in errors if isinstance(error, AwaitingBatch)]:
        errors = waiting
    longest = max(errors, key=lambda error: error.retry_after or 0.0)
    kind: type[Retryable] = Retryable
    for error_type in (BudgetSpent, ProviderPaused, AwaitingBatch):
        if all(isinstance(error, error_type) for error in errors):
            kind = error_type
    joined_error = kind(str(longest), retry_after=longest.retry_after, events=events)
    joined_error.__cause__ = longest
    return joined_error


class Unavailable(Retryable):
    """A store, the bus or a provider does not answer."""


class NotServing(Unavailable):
    """Somebody has to do something first; the message is for callers and says what."""


class LogDamaged(NotServing):
    """The log has lost messages: nothing is written to it until somebody has looked at it."""


class ReadOnlyRegion(NotServing):
    """This region follows another one, which alone is written to; the message names it."""


class StoreBehind(NotServing):
    """A store holds less than it once held: it was lost, or is an older copy."""


class RateLimited(Retryable):
    """The provider asks to wait."""


class ProviderPaused(RateLimited):
    """The provider is paused for `retry_after` seconds, and was not called: nothing was tried."""


class TextFailure(Retryable):
    """The provider fails for this text while it answers others.

    It has failed too seldom yet to be refused (`ModelRefused`).
    """

    def __init__(self, message: str, sentence: str = "") -> None:
        super().__init__(message)
        self.sentence = sentence


class NewerVersion(Retryable):
    """The event's version is newer than this code knows."""

    def __init__(self, message: str, *, event_type: str = "", version: int = 0) -> None:
        super().__init__(message)
        self.event_type = event_type
        self.version = version


class ModelChanged(Retryable):
    """The live vectors were made by another embedding model; a rebuild with `--embedding-model`
    replaces them.
    """


class OutdatedVectors(Retryable):
    """The live vectors have ids as an older version made them; `lightstream rebuild vectors`
    replaces them.
    """


class BudgetSpent(Retryable):
    """The budget of the workspace is spent: nothing is paid until it is raised, or begins anew."""


class AwaitingBatch(Retryable):
    """It stands in a batch that the model's provider works on for hours: it is parked meanwhile."""


class StagePaused(Retryable):
    """The stage has given up too much by its own fault: it handles nothing until it is started
    again.
    """


class Poison(ServiceError):
    """Can never succeed."""


Refusal = Literal["content", "length", "request", "text"]
"""Why a model refuses a request. `text`: it answers others and has failed for this text every
time.
"""


class ModelRefused(Poison):
    """A model never takes this request: for its content, for its length, or for a reason of the
    provider's own.
    """

    def __init__(self, message: str, reason: Refusal, sentence: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.sentence = sentence


class Undecodable(Poison):
    """The bytes are not an event of ours."""


class NotWanted(ServiceError):
    """Nobody waits for the result any more; nothing was paid."""


class InvalidInput(ServiceError):
    """A caller gave what cannot be used; the message names the cause and the way out."""


class NotFound(InvalidInput):
    """What the caller names does not exist (HTTP 404); the message says where to look."""


class ConfigurationError(ServiceError):
    """The process must not start like this."""


class Busy(ConfigurationError):
    """Another process does what only one may do at a time."""
