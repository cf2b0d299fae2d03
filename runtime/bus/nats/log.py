"""The log on NATS JetStream: what is appended to it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

import structlog
from nats.errors import (
    MaxPayloadError,
)
from nats.js.api import PubAck
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import Event
from contracts.ids import again
from contracts.partitions import is_log, partition_in, subject_in
from contracts.topology import KiB, declared_stream
from runtime.bus.codec import attributes_in, encode
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import SILENT, translated
from runtime.bus.nats.log_reader import NatsLogReader
from runtime.bus.nats.log_streams import LogStreams, known_streams, log_streams
from runtime.bus.nats.message_ids import message_id, publisher_key
from runtime.bus.nats.messages import StoredMessage
from runtime.bus.nats.placing import stream_before, streams_at_rest
from runtime.bus.nats.region import refuse_following
from runtime.bus.port import Message
from runtime.bus.repetitions import is_repetition, subject_of
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

_TOO_LARGE = 10054  # JSStreamMessageExceedsMaximumErr
_OTHER_STREAM = 10060  # JSStreamNotMatchErr
_OTHER_LAST_ID = 10070  # JSStreamWrongLastMsgIDErrF
_FULL = {10077, 10047, 10122}  # maximum bytes, messages or storage exceeded; insufficient resources


NO_CONDITIONS: Mapping[str, str] = {}
NEVER_MET: Mapping[str, str] = {"Nats-Expected-Last-Msg-Id": "no message has this id"}


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


class _OtherPartition(Exception):
    """The log has partitions, which the connection had not asked for yet."""


class _ConditionNotMet(Exception):
    """The stream knows no message of this id, and has taken none."""


@dataclass(frozen=True)
class NatsLog(NatsLogReader):
    """`Log` on the streams of the log: one of them, unless it has partitions."""

    writes: WriteStatus = field(default_factory=WriteStatus)

    @property
    def key(self) -> bytes:
        """Return what makes ids of ours: other publishers cannot compute them. Empty without a
        password.
        """
        return publisher_key(self.jetstream)

    async def publish(self, envelope: Envelope[Event]) -> int:
        subject = subject_of(envelope)
        id = message_id(self.key, subject, envelope.id)
        data = encode(envelope)

        def repeated(stored_message: Message) -> bool:
            return is_repetition(envelope, stored_message)

        async def append(streams: LogStreams) -> int:
            if streams.count > 1:
                streams = await streams_at_rest(self.jetstream, envelope.workspace, subject)
            stream = streams.of_workspace(envelope.workspace)
            held_at, headers = streams.held_at(subject)
            message = _Outgoing(stream, streams.published_to(held_at), data, id, headers)
            if left_stream := stream_before(streams, envelope.workspace):
                taken_by = subject_in(partition_in(left_stream), held_at)
                earlier = replace(message, stream=left_stream, subject=taken_by)
                if sequence := await self._sequence_of(earlier, repeated):
                    return sequence
            return await self._append(message, repeated)

        # Who may only publish cannot ask for the streams, and need not: the server knows them. But
        # it cannot map what is about questions, nor what documents share a subject for. Of whoever
        # asked once, moved workspaces are known, too.
        asks = envelope.data.type_name() in (*subjects.APART, *subjects.SHARED)
        streams = await log_streams(self.jetstream) if asks else known_streams(self.jetstream)
        try:
            return await append(streams)
        except _OtherPartition:
            return await append(await log_streams(self.jetstream))

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
        before = self.writes.seen(message.stream)
        ack = await self._confirmed(message)
        if ack.duplicate and not await self._is_own(message, ack.seq, is_repetition):
            logger.warning(
                "a message of another publisher stood under this id", subject=message.subject
            )
            before = self.writes.seen(message.stream)
            ack = await self._confirmed(replace(message, id=f"{message.id}-{uuid4().hex}"))
        if is_log(message.stream) and not ack.duplicate:
            self.writes.appended(message.stream, ack.seq, before)
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

    async def _sequence_of(
        self, message: _Outgoing, is_repetition: Callable[[Message], bool]
    ) -> int:
        """Return the sequence of the message where its stream has it and knows its id, else 0.

        It is sent with a condition that is never met: the server looks for the id before.
        """
        try:
            ack = await self._confirmed(message, NEVER_MET)
        except _ConditionNotMet:
            self.writes.confirmed(message.stream)
            return 0
        return ack.seq if await self._is_own(message, ack.seq, is_repetition) else 0

    async def _confirmed(
        self, message: _Outgoing, conditions: Mapping[str, str] = NO_CONDITIONS
    ) -> PubAck:
        stream = message.stream
        end = asyncio.get_running_loop().time() + PUBLISH_PATIENCE
        while True:
            await self.writes.allow(stream, end - asyncio.get_running_loop().time())
            try:
                ack = await self._sent(message, conditions)
            except APIError as error:
                self.writes.confirmed(stream)
                if error.err_code == _TOO_LARGE:
                    raise Poison(
                        f"{len(message.data)} bytes are more than {stream} takes in one message"
                    ) from None
                if error.err_code == _OTHER_STREAM and is_log(stream):
                    raise _OtherPartition from None
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

    async def _sent(self, message: _Outgoing, conditions: Mapping[str, str]) -> PubAck:
        try:
            return await self.jetstream.publish(
                message.subject,
                message.data,
                stream=message.stream,
                timeout=PUBLISH_TIMEOUT,
                headers={**message.headers, **conditions, "Nats-Msg-Id": message.id},
            )
        except APIError as error:
            if error.err_code == _OTHER_LAST_ID:
                raise _ConditionNotMet from None
            raise
        except MaxPayloadError:
            raise Poison(
                f"{len(message.data)} bytes are more than the bus takes in one message"
            ) from None
