"""Dead letters: messages that a stage has given up, raw, in the stream KB_DEAD."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast
from uuid import uuid4

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.events import RetryRequested
from runtime.bus.codec import header_of
from runtime.bus.nats.log import NatsLog, translated
from runtime.bus.nats.messages import published_at
from runtime.bus.retry_requests import request_retry
from runtime.errors import InvalidInput, Poison
from standalone.operations.publishing import SOURCE
from standalone.operations.retrying import named_stage

STREAM = "KB_DEAD"
MAX_LETTERS = 10_000
"""Dead letters that are read, the latest ones."""

PAGE = 500


@dataclass(frozen=True)
class DeadLetter:
    """One message that one consumer has given up. `sequence`: its place in the log, 0 for one that was never there."""

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


@dataclass(frozen=True)
class DeadLetters:
    """The number of dead-lettered messages of the log, each once, and the last of them."""

    count: int
    last_at: datetime | None = None
    reason: str = ""


async def count_dead_letters(jetstream: JetStreamContext) -> DeadLetters:
    """Count the dead letters of the stream. Raises Unavailable."""
    letters = await dead_letters(jetstream)
    if not letters:
        return DeadLetters(0)
    places = {letter.sequence or f"letter {letter.number}" for letter in letters}
    return DeadLetters(len(places), letters[-1].at, letters[-1].reason)


async def dead_letters(
    jetstream: JetStreamContext, stage: str | None = None, *, most: int | None = MAX_LETTERS
) -> list[DeadLetter]:
    """Return the dead letters without their bytes, oldest first, of one stage or of all. Raises Unavailable.

    `most`: how many are read, the latest ones; None for all.
    """
    async with aclosing(_letters(jetstream, most)) as letters:
        return [letter async for letter in letters if stage in (None, letter.stage)]


async def dead_letter(jetstream: JetStreamContext, number: int) -> DeadLetter:
    """Return the whole dead letter of that number. Raises InvalidInput where there is none, Unavailable."""
    try:
        with translated():
            stored = await jetstream.get_msg(STREAM, number)
    except NotFoundError:
        raise InvalidInput(f"there is no dead letter {number}: `lightstream dead list` has their numbers") from None
    headers = cast(dict[str, str], stored.headers or {})
    return _letter(number, stored.time or datetime.now(UTC), stored.subject or "", headers, stored.data or b"")


async def redrive(jetstream: JetStreamContext, number: int, reason: str = "") -> int | None:
    """Have the stage try the letter's message again, take the letter off the list, return the request's sequence.

    None, and the letter stays, where its document has a newer version by now, or was deleted. Raises InvalidInput
    for a letter that names no document, Unavailable.
    """
    letter = await dead_letter(jetstream, number)
    if letter.consumer == "query-status":
        raise InvalidInput(f"dead letter {number} changed no document: `lightstream rebuild status` reads the log anew")
    workspace, document = _document(letter)
    request = RetryRequested(document_id=document, stage=named_stage(letter.stage), reason=reason)
    sequence = await request_retry(NatsLog(jetstream), workspace=workspace, retry=request, source=SOURCE)
    if sequence:
        await drop(jetstream, [number])
    return sequence


async def drop(jetstream: JetStreamContext, numbers: Sequence[int]) -> None:
    """Remove these letters for good; the log keeps the events themselves. Raises Unavailable."""
    for number in numbers:
        with translated():
            await jetstream.delete_msg(STREAM, number)


def _document(letter: DeadLetter) -> tuple[str, str]:
    """Return workspace and id of the letter's document. Raises InvalidInput where they cannot be known."""
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
        raise InvalidInput(f"dead letter {letter.number} names its document by a hash only: publish the event again")
    return workspace, document


async def _letters(jetstream: JetStreamContext, most: int | None) -> AsyncGenerator[DeadLetter]:
    """Yield the headers of each dead letter."""
    with translated():
        state = (await jetstream.stream_info(STREAM)).state
        if not state.messages:
            return
        config = ConsumerConfig(
            name=f"count-{uuid4().hex}",
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(1, state.last_seq - most + 1) if most else 1,
            ack_policy=AckPolicy.NONE,
            headers_only=True,
            inactive_threshold=30.0,
            mem_storage=True,
        )
        info = await jetstream.add_consumer(STREAM, config)
        reader = await jetstream.pull_subscribe_bind(consumer=info.name, stream=STREAM)
        try:
            left = info.num_pending or 0
            while left > 0:
                messages = await reader.fetch(min(PAGE, left), timeout=5)
                left -= len(messages)
                for message in messages:
                    number = message.metadata.sequence.stream
                    yield _letter(number, published_at(message), message.subject, message.headers or {})
        finally:
            await reader.unsubscribe()
            await jetstream.delete_consumer(STREAM, info.name)


def _letter(number: int, at: datetime, subject: str, headers: dict[str, str], data: bytes = b"") -> DeadLetter:
    place = headers.get("Kb-Sequence", "")
    return DeadLetter(
        number=number,
        at=at,
        consumer=headers.get("Kb-Durable") or subject.removeprefix("dead."),
        reason=headers.get("Kb-Reason", ""),
        sequence=int(place) if place.isdecimal() else 0,
        subject=headers.get("Kb-Subject", ""),
        data=data,
    )
