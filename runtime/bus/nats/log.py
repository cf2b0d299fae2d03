"""The log on NATS JetStream."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from uuid import uuid4

import structlog
from nats.errors import (
    MaxPayloadError,
)
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, PubAck
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import Event
from contracts.ids import again
from contracts.topology import CONSUMERS, LOG, PARKED_STREAM, KiB, declared_stream
from runtime.bus.codec import attributes_in, encode
from runtime.bus.nats import reading
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import SILENT, translated
from runtime.bus.nats.message_ids import message_id, publisher_key
from runtime.bus.nats.messages import NatsMessage, StoredMessage, stated_size
from runtime.bus.nats.region import refuse_following
from runtime.bus.port import Message
from runtime.bus.repetitions import is_repetition, scope_of
from runtime.bus.retried_message import RetriedMessage
from runtime.bus.write_status import WriteStatus
from runtime.errors import ConfigurationError, Poison, Unavailable

logger = structlog.get_logger(__name__)

PUBLISH_TIMEOUT = 4.0
PUBLISH_PATIENCE = 30.0
"""Seconds one attempt may take, and all attempts with the same id together: a lost leader answers
none of the first.
"""
BETWEEN_ATTEMPTS = 0.1
"""Seconds: a stream without a leader refuses at once, and takes messages the moment another one is
elected.
"""
_BURIED = declared_stream("KB_DEAD").max_msg_size - 16 * KiB
"""Bytes of a message that are kept in KB_DEAD, for its headers take room too. The log has the
rest.
"""

MOST_LISTED = 100_000
"""Subjects the server lists in one answer."""

_TOO_LARGE = 10054  # JSStreamMessageExceedsMaximumErr
_FULL = {10077, 10047, 10122}  # maximum bytes, messages or storage exceeded; insufficient resources


@dataclass(frozen=True)
class _Outgoing:
    """A message to be appended. `id`: under it the server takes the message once within the
    duplicate window.
    """

    stream: str
    subject: str
    data: bytes
    id: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class NatsLog:
    """`Log` on the stream KB_EVENTS."""

    jetstream: JetStreamContext
    writes: WriteStatus = field(default_factory=WriteStatus)

    @property
    def key(self) -> bytes:
        """Return what makes ids of ours: other publishers cannot compute them. Empty without a
        password.
        """
        return publisher_key(self.jetstream)

    async def publish(self, envelope: Envelope[Event], *, once_per_workspace: bool = False) -> int:
        subject = subjects.subject(
            envelope.workspace, envelope.data.aggregate_id, envelope.data.type_name()
        )
        scope = scope_of(envelope, once_per_workspace)
        id = message_id(self.key, scope, envelope.id)
        return await self._append(
            _Outgoing(LOG, subject, encode(envelope), id),
            lambda stored_message: is_repetition(envelope, stored_message, once_per_workspace),
        )

    async def dead_letter(self, message: Message, durable: str, reason: str) -> None:
        # Header values may hold no line breaks and no characters outside of Latin-1.
        headers = {
            **attributes_in(message.headers, 8 * KiB),
            "Kb-Reason": reason.encode("ascii", "backslashreplace")
            .decode()[:1000]
            .replace("\n", " "),
            "Kb-Durable": durable,
            "Kb-Subject": message.subject.encode("ascii", "backslashreplace").decode(),
            "Kb-Sequence": str(message.sequence),
        }
        data = message.data
        retry = message.retry if isinstance(message, RetriedMessage) else 0
        if len(data) > _BURIED:
            data, headers["Kb-Cut"] = data[:_BURIED], str(len(data))
        subject = f"dead.{durable}"
        cause = again(f"dead:{message.sequence}:{durable}", retry)
        await self._append(
            _Outgoing("KB_DEAD", subject, data, message_id(self.key, subject, cause), headers),
            lambda stored_message: (stored_message.subject, stored_message.data) == (subject, data),
        )

    async def _append(self, message: _Outgoing, is_repetition: Callable[[Message], bool]) -> int:
        """Append the message and return its sequence, or that of the earlier one which it
        repeats.
        """
        before = self.writes.seen_sequence
        ack = await self._confirmed(message)
        if ack.duplicate and not await self._is_own(message, ack.seq, is_repetition):
            logger.warning(
                "a message of another publisher stood under this id", subject=message.subject
            )
            before = self.writes.seen_sequence
            ack = await self._confirmed(replace(message, id=f"{message.id}-{uuid4().hex}"))
        if message.stream == LOG and not ack.duplicate:
            self.writes.appended(ack.seq, before)
        return ack.seq

    async def _is_own(
        self, message: _Outgoing, sequence: int, is_repetition: Callable[[Message], bool]
    ) -> bool:
        """Return whether the message that the server has under this id says the same.

        Of one that is gone, or that this user may not read, it is believed where nobody else can
        compute the id.
        """
        try:
            with translated():
                stored_message = await first_answer(
                    lambda: self.jetstream.get_msg(message.stream, sequence, direct=False)
                )
        except (NotFoundError, Unavailable, ConfigurationError):
            return bool(self.key)
        return is_repetition(StoredMessage(stored_message))

    async def _confirmed(self, message: _Outgoing) -> PubAck:
        stream = message.stream
        end = asyncio.get_running_loop().time() + PUBLISH_PATIENCE
        while True:
            await self.writes.allow(stream, end - asyncio.get_running_loop().time())
            try:
                ack = await self._sent(message)
            except APIError as error:
                self.writes.confirmed(stream)
                if error.err_code == _TOO_LARGE:
                    raise Poison(
                        f"{len(message.data)} bytes are more than {stream} takes in one message"
                    ) from None
                if error.err_code in _FULL:
                    raise Unavailable(
                        f"{stream} is full: {error.description}", retry_after=30.0
                    ) from None
                fault: Exception = error
            except SILENT as error:
                if isinstance(error, NoStreamResponseError):
                    await refuse_following(self.jetstream)
                self.writes.silent(stream)
                fault = error
            else:
                self.writes.confirmed(stream)
                return ack
            # A timeout says nothing about the outcome: only the same id makes trying again
            # harmless (decision 4).
            if asyncio.get_running_loop().time() > end:
                raise Unavailable(
                    f"{stream} did not confirm within {PUBLISH_PATIENCE:.0f} s: {fault!r}"
                ) from fault
            await asyncio.sleep(BETWEEN_ATTEMPTS)

    async def _sent(self, message: _Outgoing) -> PubAck:
        try:
            return await self.jetstream.publish(
                message.subject,
                message.data,
                stream=message.stream,
                timeout=PUBLISH_TIMEOUT,
                headers={**message.headers, "Nats-Msg-Id": message.id},
            )
        except MaxPayloadError:
            raise Poison(
                f"{len(message.data)} bytes are more than the bus takes in one message"
            ) from None

    async def newest(
        self, workspace: str, about: str, event_type: str, *, exact: bool = True
    ) -> Message | None:
        try:
            with translated():
                # Of a direct read, a replica that lags behind would show an older one.
                subject = subjects.subject(workspace, about, event_type)
                message = await first_answer(
                    lambda: self.jetstream.get_last_msg(LOG, subject, direct=not exact)
                )
        except NotFoundError:
            return None
        return StoredMessage(message)

    async def following(self, after: int, subject: str) -> Message | None:
        try:
            with translated():
                message = await first_answer(
                    lambda: self.jetstream.get_msg(
                        LOG, seq=after + 1, subject=subject, next=True, direct=False
                    )
                )
        except NotFoundError:
            return None
        return StoredMessage(message)

    async def last_sequence(self) -> int:
        with translated():
            return (await first_answer(lambda: self.jetstream.stream_info(LOG))).state.last_seq

    async def last(self, workspace: str) -> int:
        try:
            with translated():
                # Not a direct read: a replica that lags behind would show an older one.
                subject = subjects.of_workspace(workspace)
                message = await first_answer(
                    lambda: self.jetstream.get_last_msg(LOG, subject, direct=False)
                )
        except NotFoundError:
            return 0
        return message.seq or 0

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        names = durables or [durable.name for durable in CONSUMERS]
        with translated():
            infos = [await self.jetstream.consumer_info(LOG, name) for name in names]
        floor = min((info.ack_floor.stream_seq if info.ack_floor else 0) for info in infos)
        # In this order: an event that was acknowledged because it was parked is on the list by now.
        first_parked = await self._first_parked(
            names, "*" if workspace is None else subjects.token(workspace)
        )
        return floor if first_parked is None else min(floor, max(0, first_parked - 1))

    async def _first_parked(self, durables: Sequence[str], workspace: str) -> int | None:
        """Return the lowest parked sequence of these durables: None without any, 0 when there are
        too many to list.
        """
        try:
            with translated():
                info = await self.jetstream.stream_info(
                    PARKED_STREAM, subjects_filter=subjects.parked(workspace=workspace)
                )
        except NotFoundError:  # a bus of an older version, before its topology is applied
            return None
        subject_tokens = [subject.split(".") for subject in info.state.subjects or {}]
        if len(subject_tokens) >= MOST_LISTED:
            return 0
        return min(
            (int(sequence) for _, durable, _, sequence in subject_tokens if durable in durables),
            default=None,
        )

    async def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        def behind(sequence: int) -> ConsumerConfig:
            return reading.reader_config(sequence, inactive_seconds=60.0, subjects=subjects)

        with translated():
            async with aclosing(
                reading.read_pages(self.jetstream, LOG, behind, after, page)
            ) as pages:
                async for messages in pages:
                    yield [*messages]

    async def history(
        self, workspace: str, about: str | None, event_type: str, after: int = 0
    ) -> AsyncGenerator[Message]:
        # One filter, which a service's permissions can narrow.
        subject = subjects.of_type_in(workspace, event_type, about)
        async with aclosing(self._matching(subject, after)) as messages:
            async for message in messages:
                yield message

    async def sizes(
        self, workspace: str, event_type: str, after: int = 0
    ) -> AsyncGenerator[tuple[int, int]]:
        subject = subjects.of_type_in(workspace, event_type)
        async with aclosing(self._matching(subject, after, headers_only=True)) as messages:
            async for message in messages:
                yield message.sequence, stated_size(message.headers)

    async def subjects(self, workspace: str, after: int) -> AsyncGenerator[str]:
        subject = subjects.of_workspace(workspace)
        async with aclosing(self._matching(subject, after, headers_only=True)) as messages:
            async for message in messages:
                yield message.subject

    async def _matching(
        self, subject: str, after: int, *, headers_only: bool = False
    ) -> AsyncGenerator[NatsMessage]:
        def behind(sequence: int) -> ConsumerConfig:
            return reading.reader_config(
                sequence, inactive_seconds=5.0, subject=subject, headers_only=headers_only
            )

        with translated():
            pages = reading.read_pages(self.jetstream, LOG, behind, after, reading.PAGE)
            async with aclosing(pages):
                async for messages in pages:
                    for message in messages:
                        yield message
