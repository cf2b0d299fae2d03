"""Dead letters: messages that a stage has given up, raw, in the stream KB_DEAD."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts import subjects
from runtime.errors import InvalidInput


@dataclass(frozen=True)
class DeadLetter:
    """One message that one consumer has given up. `sequence`: its place in the log, 0 for one that
    was never there.
    """

    number: int
    at: datetime
    consumer: str
    reason: str
    sequence: int
    subject: str
    data: bytes = b""
    """Its bytes; empty where only headers were read."""

    @property
    def stage(self) -> str:
        """The service of its consumer."""
        return self.consumer.partition("-")[0]

    @property
    def workspace(self) -> str:
        """The workspace's token in its subject; empty where that is no event's subject."""
        try:
            return subjects.split(self.subject)[0]
        except ValueError:
            return ""


class DeadLetters(Protocol):
    """The list of dead letters. Every method raises `Unavailable` when the bus does not answer."""

    async def headers(self) -> list[DeadLetter]:
        """Return the latest of them, at most 10,000, without their bytes, oldest first."""
        ...

    async def get(self, number: int) -> DeadLetter | None:
        """Return the whole dead letter of that number, None where there is none."""
        ...

    async def remove(self, number: int) -> None:
        """Remove one for good; the log keeps the event itself. One that is not there is no
        error.
        """
        ...


@dataclass(frozen=True)
class DeadLetterCount:
    """The number of dead-lettered messages of the log, each once, and the last of them."""

    count: int
    last_at: datetime | None = None
    reason: str = ""


async def count_dead_letters(letters: DeadLetters) -> DeadLetterCount:
    """Count them, a message once that several consumers have given up. Raises `Unavailable`."""
    headers = await letters.headers()
    if not headers:
        return DeadLetterCount(0)
    places = {letter.sequence or f"letter {letter.number}" for letter in headers}
    return DeadLetterCount(len(places), headers[-1].at, headers[-1].reason)


async def whole_letter(letters: DeadLetters, number: int) -> DeadLetter:
    """Return the dead letter of that number. Raises InvalidInput where there is none,
    `Unavailable`.
    """
    letter = await letters.get(number)
    if letter is None:
        raise InvalidInput(
            f"there is no dead letter {number}: `lightstream dead list` has their numbers"
        )
    return letter


async def drop(letters: DeadLetters, numbers: Sequence[int]) -> None:
    """Remove these letters for good; the log keeps the events themselves. Raises `Unavailable`."""
    for number in numbers:
        await letters.remove(number)
