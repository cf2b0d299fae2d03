"""Dead letters on NATS: the stream KB_DEAD."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast
from uuid import uuid4

from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StreamState
from nats.js.errors import NotFoundError

from runtime.bus.dead_letters import DeadLetter
from runtime.bus.nats.connection import translated
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.nats.pulling import opened_pull
from runtime.errors import Unavailable

STREAM = "KB_DEAD"
MAX_LETTERS = 10_000
"""Dead letters that are read, the latest ones."""

PAGE = 500

FETCH = 5.0
"""Seconds a fetch of letters that are known to be there may take."""


@dataclass
class _Reading:
    """The headers that were read, and what the stream held then."""

    first_sequence: int = 0
    last_sequence: int = 0
    message_count: int = 0
    letters: list[DeadLetter] = field(default_factory=list[DeadLetter])

    def has_grown_to(self, state: StreamState) -> bool:
        """Return whether there are new letters since, if anything, and none went."""
        added_count = state.last_seq - self.last_sequence
        has_no_gap = state.messages - self.message_count == added_count >= 0
        return self.first_sequence == state.first_seq and has_no_gap


@dataclass(frozen=True)
class NatsDeadLetters:
    """`DeadLetters` on the stream KB_DEAD. What was read stays in memory: a list reads what came
    since, and all anew once a letter went.
    """

    jetstream: JetStreamContext
    max_letters: int | None = MAX_LETTERS
    """Dead letters that are read, the latest ones; None for all."""
    _reading: _Reading = field(default_factory=_Reading)

    async def headers(self) -> list[DeadLetter]:
        with translated():
            state = (await self.jetstream.stream_info(STREAM)).state
        reading = self._reading
        letters = list(reading.letters) if reading.has_grown_to(state) else []
        first = max(1, state.last_seq - self.max_letters + 1) if self.max_letters else 1
        behind = max(first - 1, reading.last_sequence if letters else 0)
        if state.messages and behind < state.last_seq:
            async with aclosing(_headers(self.jetstream, behind)) as new_letters:
                letters += [
                    letter async for letter in new_letters if letter.number <= state.last_seq
                ]
        letters = [letter for letter in letters if letter.number >= first]
        reading.first_sequence, reading.last_sequence = state.first_seq, state.last_seq
        reading.message_count = state.messages
        reading.letters = letters
        return list(letters)

    async def get(self, number: int) -> DeadLetter | None:
        try:
            with translated():
                raw_message = await self.jetstream.get_msg(STREAM, number)
        except NotFoundError:
            return None
        headers = cast(dict[str, str], raw_message.headers or {})
        return _letter(
            number,
            raw_message.time or datetime.now(UTC),
            raw_message.subject or "",
            headers,
            raw_message.data or b"",
        )

    async def remove(self, number: int) -> None:
        try:
            with translated():
                await self.jetstream.delete_msg(STREAM, number)
        except Unavailable:
            # The server says the same of a message that is not there.
            if await self.get(number) is not None:
                raise


async def _headers(jetstream: JetStreamContext, behind: int) -> AsyncGenerator[DeadLetter]:
    """Yield the headers of each dead letter behind a number."""
    with translated():
        config = ConsumerConfig(
            name=f"count-{uuid4().hex}",
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=behind + 1,
            ack_policy=AckPolicy.NONE,
            headers_only=True,
            # The query service may remove no consumer: this one ends by itself.
            inactive_threshold=5.0,
            mem_storage=True,
        )
        info = await jetstream.add_consumer(STREAM, config)
        pending_count = info.num_pending or 0
        async with opened_pull(jetstream, STREAM, info.name) as reader:
            while pending_count > 0:
                messages = await reader.fetch(min(PAGE, pending_count), FETCH)
                if not messages:
                    raise NatsTimeout
                pending_count -= len(messages)
                for message in messages:
                    read = NatsMessage(message)
                    yield _letter(
                        read.sequence, read.published_at, message.subject, message.headers or {}
                    )


def _letter(
    number: int, at: datetime, subject: str, headers: dict[str, str], data: bytes = b""
) -> DeadLetter:
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
