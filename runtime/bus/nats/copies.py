"""Copies of streams: read as records, and written again at the very sequences the records have."""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, cast

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, PubAck, StreamConfig
from nats.js.errors import APIError, NotFoundError

from contracts import subjects
from contracts.partitions import partition_in, subject_in
from contracts.topology import MiB
from runtime.bus.nats import reading
from runtime.bus.nats.connection import REQUEST_TIMEOUT, SILENT, translated
from runtime.bus.nats.log_streams import ONE_STREAM, LogStreams
from runtime.bus.records import RECORDED_AT, Record, record_of
from runtime.errors import ServiceError, Unavailable
from runtime.workarounds.nats_py import api_subject, connection_of

PAGE = 500
"""Messages of one fetch."""

WINDOW = 256
WINDOW_BYTES = 4 * MiB
"""Messages, and bytes, that are published before their confirmations are awaited."""

DUPLICATES = 0.1
"""Seconds in which a restored stream refuses an id it has: the least a server allows. A log may
hold an id again.
"""

PATIENCE = 2.0
"""Seconds a server may take for a page before it is asked whether it has one."""

SILENCES = 5
"""Readers in a row that are given nothing, though there is more, after which reading is given
up.
"""


async def read_records(
    jetstream: JetStreamContext, stream: str, after: int = 0, *, subject: str | None = None
) -> AsyncGenerator[list[Record]]:
    """Yield pages of a stream's messages behind `after`, in order, up to its end at the time of the
    call.

    A service has to name a `subject` that it may read. Raises `Unavailable` for a server that gives
    nothing more.
    """
    with translated():
        end = (await jetstream.stream_info(stream)).state.last_seq
        silences = 0

    def behind(sequence: int) -> ConsumerConfig:
        return reading.reader_config(
            sequence, inactive_seconds=30.0 if subject else 60.0, subject=subject
        )

    while after < end:
        pages = reading.read_pages(jetstream, stream, behind, after, PAGE, patience=PATIENCE)
        with translated(), suppress(TimeoutError):
            async with aclosing(pages):
                async for page in pages:
                    after = page[-1].sequence
                    silences = 0
                    yield list(map(record_of, page))
                    if after >= end:
                        return
        # A message that the server cannot read stays pending for ever.
        with translated():
            if not await _holds_more(jetstream, stream, after, subject):
                return
        silences += 1
        if silences == SILENCES:
            raise Unavailable(f"{stream} delivers nothing behind {after}, though it holds more")


async def _holds_more(
    jetstream: JetStreamContext, stream: str, after: int, subject: str | None
) -> bool:
    try:
        await jetstream.get_msg(
            stream, seq=after + 1, subject=subject or ">", next=True, direct=False
        )
    except NotFoundError:
        return False
    return True


async def unreadable(
    jetstream: JetStreamContext, stream: str, sequences: Collection[int]
) -> list[int]:
    """Return which of these sequences, that a reader was not given, the server still counts: it
    cannot read them.
    """
    if not sequences:
        return []
    with translated():
        # The client has no call for these.
        response = await connection_of(jetstream).request(
            api_subject(jetstream, f"STREAM.INFO.{stream}"),
            b'{"deleted_details":true}',
            timeout=REQUEST_TIMEOUT,
        )
        answer = json.loads(response.data)
        if "error" in answer:
            APIError.from_error(answer["error"])
    state: dict[str, Any] = answer["state"]
    deleted_sequences = set(cast("list[int]", state.get("deleted") or []))
    return [
        sequence
        for sequence in sequences
        if sequence not in deleted_sequences and state["first_seq"] <= sequence <= state["last_seq"]
    ]


async def create_empty(jetstream: JetStreamContext, config: StreamConfig, first: int) -> None:
    """Create a stream whose first message will have the sequence `first`; `topology.apply`
    completes it later.
    """
    with translated():
        await jetstream.add_stream(config.evolve(first_seq=first, duplicate_window=DUPLICATES))


@dataclass
class SequencedWriter:
    """Appends records to a stream, each at its own sequence. `end` is the last sequence that the
    stream has; `streams`: those of the log of which it is one.

    Every write names the sequence before its own, so none can take another's place; what was
    written when a write fails is whole up to some sequence, and the next writer goes on from there.
    """

    jetstream: JetStreamContext
    stream: str
    end: int
    streams: LogStreams = ONE_STREAM
    _under_way: list[tuple[int, "asyncio.Future[PubAck]"]] = field(
        default_factory=list[tuple[int, "asyncio.Future[PubAck]"]]
    )
    _bytes: int = 0
    _ids: set[str] = field(default_factory=set[str])

    async def write(self, records: Iterable[Record], last_sequence: int) -> AsyncGenerator[int]:
        """Write the records, then leave the sequences up to `last_sequence` empty. Yields how far
        it is, now and then.

        Raises `Unavailable` when the stream does not confirm, ServiceError when it is written to by
        others.
        """
        for record in records:
            await self._skip_to(record.sequence)
            subject, address_headers = record.subject, dict[str, str]()
            if subjects.DOCUMENT_HEADER not in record.headers:  # a publisher's own would be lost
                subject, address_headers = self.streams.held_at(subject)
            headers = {
                **record.headers,
                **address_headers,
                RECORDED_AT: record.time.isoformat(timespec="microseconds"),
            }
            await self._append(subject, record.data, headers)
            if not self.end % PAGE:
                yield self.end
        await self._skip_to(last_sequence + 1)
        await self._confirm()
        yield self.end
        with translated():
            await self.jetstream.purge_stream(self.stream, subject=subjects.GAP)

    async def _skip_to(self, sequence: int) -> None:
        while self.end + 1 < sequence:
            await self._append(subjects.GAP, b"", {})

    async def _append(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        id = headers.get("Nats-Msg-Id", "")
        if id in self._ids:
            # The server would take it for a repetition, and remembers ids for a moment only.
            await self._confirm()
            await asyncio.sleep(3 * DUPLICATES)
            self._ids.clear()
        if id:
            self._ids.add(id)
        expectations = {
            "Nats-Expected-Last-Sequence": str(self.end),
            "Nats-Expected-Stream": self.stream,
        }
        taken_by = subject
        if self.streams.count > 1:
            taken_by = subject_in(partition_in(self.stream), subject)
        future = await self.jetstream.publish_async(
            taken_by, data, headers={**headers, **expectations}
        )
        self.end += 1
        self._bytes += len(data)
        self._under_way.append((self.end, future))
        if len(self._under_way) >= WINDOW or self._bytes >= WINDOW_BYTES:
            await self._confirm()

    async def _confirm(self) -> None:
        """Wait until the stream has confirmed all that was sent."""
        publications = self._under_way
        self._under_way = []
        self._bytes = 0
        try:
            async with asyncio.timeout(3 * REQUEST_TIMEOUT):
                for sequence, future in publications:
                    ack = await future
                    if ack.seq != sequence or ack.duplicate:
                        raise ServiceError(
                            f"{self.stream} put sequence {sequence} at {ack.seq}: somebody "
                            "writes to it"
                        )
        except APIError as error:
            raise ServiceError(
                f"{self.stream} refuses what is restored: {error.description}"
            ) from error
        except (*SILENT, TimeoutError) as error:
            raise Unavailable(
                f"{self.stream} does not confirm: {error!r}; start again, it goes on there"
            ) from error
        finally:
            for _, future in publications:
                future.cancel()
