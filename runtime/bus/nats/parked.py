"""The list of parked events on NATS: the stream KB_PARKED, one message per durable and event.

A service needs no right to delete: a record that is done is replaced by an empty message, which
vanishes by itself.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from nats.js import JetStreamContext
from nats.js.api import StreamState
from nats.js.errors import APIError, NotFoundError
from pydantic import ValidationError

from contracts import subjects
from contracts.partitions import is_log
from contracts.topology import PARKED_STREAM
from contracts.topology import declared_consumer as declared
from runtime.bus.nats.connection import REQUEST_TIMEOUT, SILENT, translated
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.lookahead import stored
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.parking.port import ParkedEvent, ParkedPage, ParkedRecord
from runtime.bus.port import Message
from runtime.errors import Unavailable

VANISHES = 2.0
"""Seconds after which the empty message in place of a record is gone."""

READ_AT_ONCE = 16
"""Stretches of the list that are read at the same time: a read is one question to the server."""

_OTHER_REVISION = 10071  # JSStreamWrongLastSequenceErr
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"


@dataclass(frozen=True)
class NatsParkedEvents:
    """`Parked` on the stream KB_PARKED."""

    jetstream: JetStreamContext

    async def put(self, event: ParkedEvent, revision: int = 0) -> int:
        return await self._write(event, event.model_dump_json().encode(), revision)

    async def remove(self, event: ParkedEvent, revision: int) -> bool:
        return bool(await self._write(event, b"", revision, vanishes=VANISHES))

    async def _write(
        self, event: ParkedEvent, data: bytes, revision: int, vanishes: float | None = None
    ) -> int:
        subject = subjects.parked(event.durable, _workspace(event), event.sequence)
        try:
            ack = await self.jetstream.publish(
                subject,
                data,
                stream=PARKED_STREAM,
                timeout=REQUEST_TIMEOUT,
                headers={_EXPECTED: str(revision)},
                msg_ttl=vanishes,
            )
        except APIError as error:
            if error.err_code == _OTHER_REVISION:
                return 0
            raise Unavailable(
                f"{PARKED_STREAM} does not take a record: {error.description}"
            ) from None
        except SILENT as error:
            raise Unavailable(f"{PARKED_STREAM} did not confirm: {error!r}") from error
        return ack.seq

    async def changes(
        self, durable: str, after: int, max_records: int = 1000, workspace: str = "*"
    ) -> list[ParkedRecord]:
        records: list[ParkedRecord] = []
        subject = subjects.parked(durable, workspace)
        while len(records) < max_records and (record := await self._next(subject, after)):
            after = record.revision
            records.append(record)
        return records

    async def newest_page(self, max_records: int, workspace: str = "*") -> ParkedPage:
        subject = subjects.parked(workspace=workspace)
        state = await self._state()
        records: list[ParkedRecord] = []
        end = state.last_seq if state else 0
        begin = state.first_seq - 1 if state else 0
        step = max_records
        while end > begin and len(records) <= max_records:
            place = max(begin, end - step)
            newer_records = await self._between(subject, place, end)
            records += reversed(newer_records)
            end = place
            # Records of others, and those that were written again, may stand in between.
            step *= 2 if len(newer_records) < step // 4 else 1
        parked_records = [record for record in records if record.event]
        if len(records) <= max_records or state is None:
            return ParkedPage(parked_records, len(parked_records))
        total = state.messages if workspace == "*" else await self._count(subject)
        return ParkedPage(parked_records[:max_records], total)

    async def _state(self) -> StreamState | None:
        """Return what the stream holds; None where a bus of an older version has none."""
        try:
            with translated():
                return (await self.jetstream.stream_info(PARKED_STREAM)).state
        except NotFoundError:
            return None

    async def _count(self, subject: str) -> int:
        """Return how many records pass the filter, as far as the server lists them at once."""
        with translated():
            info = await self.jetstream.stream_info(PARKED_STREAM, subjects_filter=subject)
        return len(info.state.subjects or {})

    async def _between(self, subject: str, after: int, end: int) -> list[ParkedRecord]:
        """Return the records behind a revision up to another one, oldest first."""

        async def read(begin: int, stretch_end: int) -> list[ParkedRecord]:
            records: list[ParkedRecord] = []
            while begin < stretch_end:
                record = await self._next(subject, begin)
                if record is None or record.revision > stretch_end:
                    break
                records.append(record)
                begin = record.revision
            return records

        step = -(-(end - after) // READ_AT_ONCE)
        begins = range(after, end, step)
        parts = await asyncio.gather(*(read(begin, min(begin + step, end)) for begin in begins))
        return [record for part in parts for record in part]

    async def _next(self, subject: str, after: int) -> ParkedRecord | None:
        """Return the first record behind a revision that passes the filter."""
        try:
            with translated():
                message = await self.jetstream.get_msg(
                    PARKED_STREAM, seq=after + 1, subject=subject, next=True, direct=False
                )
        except NotFoundError:
            return None
        return _entry(message.subject or "", message.data or b"", message.seq or after + 1)

    async def originals(self, events: Sequence[ParkedEvent]) -> list[Message]:
        by_filter: dict[tuple[str, str], list[int]] = defaultdict(list)
        streams = await log_streams(self.jetstream)
        for event in events:
            workspace, _, event_type = subjects.split(event.subject)
            subject_filter = subjects.narrowed(subjects.of_type(event_type), workspace)
            durable = declared(event.durable)
            stream = streams.holding(event.sequence) if is_log(durable.stream) else durable.stream
            by_filter[stream, subject_filter].append(event.sequence)
        originals: list[NatsMessage] = []
        for (stream, subject_filter), sequences in by_filter.items():
            originals += await stored(self.jetstream, stream, subject_filter, sequences)
        return list[Message](sorted(originals, key=lambda message: message.sequence))


def _workspace(event: ParkedEvent) -> str:
    return subjects.split(event.subject)[0]


def _entry(subject: str, data: bytes, revision: int) -> ParkedRecord:
    _, durable, workspace, sequence = subject.split(".")
    if not sequence.isdecimal():  # no record of ours either
        return ParkedRecord(revision, durable, workspace, 0, None)
    event = None
    if data:
        with suppress(ValidationError):  # what is no record of ours is not ours to handle
            event = ParkedEvent.model_validate_json(data)
    return ParkedRecord(revision, durable, workspace, int(sequence), event)
