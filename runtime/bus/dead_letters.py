"""Dead letters: messages that a stage has given up, raw, in the stream KB_DEAD; and how one is
tried again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts import subjects
from contracts.events import RetryRequested
from runtime.bus.codec import header_of
from runtime.bus.port import Log
from runtime.bus.retry_requests import last_failure, named_stage, request_retry
from runtime.errors import InvalidInput, Poison


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


async def redrive(
    letters: DeadLetters, log: Log, letter: DeadLetter, *, source: str, reason: str = ""
) -> int | None:
    """Have the stage try a whole letter's message again, take the letter off the list, return the
    request's sequence.

    None, and the letter stays, where its document has a newer version by now, or was deleted.
    Raises InvalidInput for a letter that names no document, `Unavailable`.
    """
    workspace, document = _document(letter)
    request = RetryRequested(document_id=document, stage=named_stage(letter.stage), reason=reason)
    sequence = await request_retry(log, workspace=workspace, retry=request, source=source)
    if sequence:
        await letters.remove(letter.number)
    return sequence


async def can_be_redriven(log: Log, letter: DeadLetter) -> bool:
    """Return whether `redrive` would have the whole letter's message tried again. Raises what
    `redrive` raises.
    """
    return await last_failure(log, *_document(letter)) is not None


async def drop(letters: DeadLetters, numbers: Sequence[int]) -> None:
    """Remove these letters for good; the log keeps the events themselves. Raises `Unavailable`."""
    for number in numbers:
        await letters.remove(number)


def _document(letter: DeadLetter) -> tuple[str, str]:
    """Return workspace and id of the letter's document. Raises InvalidInput where there is none, or
    none is known.
    """
    if letter.consumer == "query-status":
        raise InvalidInput(
            f"dead letter {letter.number} changed no document: `lightstream rebuild status` "
            "reads the log anew"
        )
    try:
        workspace, document, _ = subjects.split(letter.subject)
    except ValueError:
        raise InvalidInput(
            f"dead letter {letter.number} stands at no event's subject: {letter.subject!r:.80}"
        ) from None
    try:
        header, _ = header_of(letter.data, {})
    except Poison:
        header = None
    if header and subjects.token(header.workspace) == workspace:
        workspace = header.workspace
    if header and header.subject and subjects.token(header.subject) == document:
        document = header.subject
    if workspace.startswith("x-") or document.startswith("x-"):
        raise InvalidInput(
            f"dead letter {letter.number} names its document by a hash only: publish the "
            "event again"
        )
    return workspace, document
