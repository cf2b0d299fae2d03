"""The bus in memory, for unit tests: the same contract as the real one, without durability."""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from contracts import subjects as names
from contracts.envelope import Envelope
from contracts.events import Event
from contracts.graph import PROJECTIONS, Generations, Projection
from contracts.partitions import LOG, LogPosition
from contracts.topology import Consumer, declared_stream
from contracts.values import BlobRef
from runtime.batching import batched
from runtime.bus.codec import NO_HEADERS, encode
from runtime.bus.encoded_text import BLOB_PART, EncodedText
from runtime.bus.generations import GenerationState, ProjectionGenerations, live_generations
from runtime.bus.parking.port import ParkedEvent, ParkedPage, ParkedRecord
from runtime.bus.port import Message
from runtime.bus.repetitions import is_repetition, subject_of
from runtime.errors import Poison, Unavailable


@dataclass(frozen=True)
class Stored:
    """One message of the log."""

    sequence: int
    subject: str
    data: bytes
    published_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass
class MemoryMessage:
    """One delivery."""

    stored_message: Stored
    consumer: "MemoryConsumer | None" = None
    attempt: int = 1

    @property
    def data(self) -> bytes:
        return self.stored_message.data

    @property
    def subject(self) -> str:
        return self.stored_message.subject

    @property
    def headers(self) -> Mapping[str, str]:
        return self.stored_message.headers

    @property
    def sequence(self) -> int:
        return self.stored_message.sequence

    @property
    def published_at(self) -> datetime:
        return self.stored_message.published_at

    async def ack(self) -> None:
        if self.consumer:
            self.consumer.waiting.pop(self.sequence, None)

    async def nak(self, delay: float) -> None:
        if self.consumer:
            self.consumer.delays.append(delay)
            self.consumer.ready_sequences.append(self.sequence)

    async def heartbeat(self) -> None: ...


@dataclass
class MemoryLog:
    """`Log`, and the raw append of a foreign publisher."""

    messages: list[Stored] = field(default_factory=list[Stored])
    dead: dict[str, tuple[bytes, str]] = field(default_factory=dict[str, tuple[bytes, str]])
    ids: dict[str, int] = field(default_factory=dict[str, int])

    async def publish(self, envelope: Envelope[Event]) -> int:
        subject = subject_of(envelope)
        id = f"{subject}/{envelope.id}"
        if place := self.ids.get(id):
            message = MemoryMessage(self.messages[place - 1])
            if not is_repetition(envelope, message):
                id = f"{id}/{uuid4().hex}"
        return self.append(subject, encode(envelope), id)

    def append(
        self, subject: str, data: bytes, id: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> int:
        """Append any bytes, as `publish` does with an encoded event."""
        if id in self.ids:
            return self.ids[id]
        if len(data) > declared_stream(LOG).max_msg_size:
            raise Poison(f"{len(data)} bytes are more than {LOG} takes in one message")
        sequence = len(self.messages) + 1
        self.messages.append(
            Stored(sequence, subject, data, datetime.fromtimestamp(time.time(), UTC), headers)
        )
        self.ids[id] = sequence
        return sequence

    async def dead_letter(self, message: Message, durable: str, reason: str) -> None:
        self.dead[f"dead:{message.sequence}:{durable}"] = (message.data, reason)

    async def newest(
        self, workspace: str, about: str, event_type: str, *, exact: bool = True
    ) -> Message | None:
        subject = names.subject(workspace, about, event_type)
        matching = [message for message in self.messages if message.subject == subject]
        return MemoryMessage(matching[-1]) if matching else None

    async def following(self, after: int, subject: str) -> Message | None:
        matching = (
            message for message in self.messages[after:] if names.passes(message.subject, [subject])
        )
        return next(map(MemoryMessage, matching), None)

    async def end(self) -> LogPosition:
        return LogPosition((await self.last_sequence(),))

    async def last_sequence(self) -> int:
        return len(self.messages)

    async def partitions_of(self, workspace: str) -> tuple[int, ...]:
        return (0,)

    async def end_of(self, workspace: str) -> int:
        return await self.last_sequence()

    async def last(self, workspace: str) -> int:
        filters = (names.of_workspace(workspace),)
        return max(
            (
                message.sequence
                for message in self.messages
                if names.passes(message.subject, filters)
            ),
            default=0,
        )

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        return 0

    async def handled_position(self) -> LogPosition:
        return LogPosition.start()

    async def history(
        self, workspace: str, about: str | None, event_type: str, after: int = 0
    ) -> AsyncGenerator[Message]:
        subject = names.of_type_in(workspace, event_type, about)
        for message in self.messages[after:]:
            if names.passes(message.subject, [subject]):
                yield MemoryMessage(message)

    async def sizes(
        self, workspace: str, event_type: str, after: int = 0
    ) -> AsyncGenerator[tuple[int, int]]:
        subject = names.of_type_in(workspace, event_type)
        for message in self.messages[after:]:
            if names.passes(message.subject, [subject]):
                yield message.sequence, len(message.data)

    async def subjects(self, workspace: str, after: int) -> AsyncGenerator[str]:
        for message in self.messages[after:]:
            if names.passes(message.subject, [names.of_workspace(workspace)]):
                yield message.subject

    async def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        matching: list[Message] = [
            MemoryMessage(m) for m in self.messages[after:] if names.passes(m.subject, subjects)
        ]
        for messages in batched(matching, page):
            yield messages

    async def read_behind(
        self,
        position: LogPosition,
        subjects: Sequence[str] = (),
        *,
        page: int = 500,
        until: LogPosition | None = None,
    ) -> AsyncGenerator[list[Message]]:
        async for messages in self.read(position.sequences[0], subjects, page=page):
            earlier = [m for m in messages if until is None or until.holds(m.sequence)]
            if earlier:
                yield earlier


@dataclass
class MemoryConsumer:
    """A durable: hands out what was not acknowledged, and again what was refused, at once."""

    log: MemoryLog
    durable: Consumer
    seen_count: int = 0
    waiting: dict[int, MemoryMessage] = field(default_factory=dict[int, MemoryMessage])
    ready_sequences: list[int] = field(default_factory=list[int])
    delays: list[float] = field(default_factory=list[float])

    def fetch(self, count: int) -> list[MemoryMessage]:
        """Up to `count` messages: refused ones first, then new ones."""
        again = [
            self.waiting[sequence]
            for sequence in self.ready_sequences[:count]
            if sequence in self.waiting
        ]
        del self.ready_sequences[:count]
        for message in again:
            message.attempt += 1
        fresh_messages: list[MemoryMessage] = []
        while len(again) + len(fresh_messages) < count and self.seen_count < len(self.log.messages):
            stored_message = self.log.messages[self.seen_count]
            self.seen_count += 1
            if names.passes(stored_message.subject, self.durable.filters):
                message = MemoryMessage(stored_message, self)
                self.waiting[stored_message.sequence] = message
                fresh_messages.append(message)
        return again + fresh_messages


@dataclass
class MemoryBlobs:
    """`Blobs`."""

    texts: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def put(self, text: EncodedText, workspace: str) -> BlobRef:
        ref = text.reference(names.blob_place(workspace, text.sha256))
        self.texts[ref.key] = text.data
        return ref

    async def get(self, ref: BlobRef) -> str:
        return b"".join(await self.parts(ref)).decode()

    async def parts(self, ref: BlobRef) -> Sequence[bytes]:
        data = self.texts.get(ref.key)
        available = 0 if data is None else max(1, -(-len(data) // BLOB_PART))
        if data is None or available < ref.parts:
            raise Poison(f"part {available} of blob {ref.sha256} is not in KB_BLOBS")
        data = data[: ref.parts * BLOB_PART]
        if hashlib.sha256(data).hexdigest() != ref.sha256:
            raise Poison(f"blob {ref.sha256} does not have the hash of its name")
        return [data[start : start + BLOB_PART] for start in range(0, len(data), BLOB_PART)]


@dataclass
class MemoryParkedEvents:
    """`Parked`, over the log that the events are in."""

    log: MemoryLog
    records: dict[tuple[str, int], tuple[int, ParkedEvent]] = field(
        default_factory=dict[tuple[str, int], tuple[int, ParkedEvent]]
    )
    history: list[ParkedRecord] = field(default_factory=list[ParkedRecord])

    async def put(self, event: ParkedEvent, revision: int = 0) -> int:
        key = event.durable, event.sequence
        if self.records.get(key, (0, None))[0] != revision:
            return 0
        new_record = self._written(event, event)
        self.records[key] = new_record, event
        return new_record

    async def remove(self, event: ParkedEvent, revision: int) -> bool:
        key = event.durable, event.sequence
        if self.records.get(key, (0, None))[0] != revision:
            return False
        del self.records[key]
        self._written(event, None)
        return True

    def _written(self, event: ParkedEvent, now: ParkedEvent | None) -> int:
        revision = len(self.history) + 1
        workspace = names.split(event.subject)[0]
        self.history.append(ParkedRecord(revision, event.durable, workspace, event.sequence, now))
        return revision

    async def changes(
        self, durable: str, after: int, max_records: int = 1000, workspace: str = "*"
    ) -> list[ParkedRecord]:
        if len(self.history) <= after:
            return []
        newest_entries = {(entry.durable, entry.sequence): entry for entry in self.history}
        records = [
            entry
            for entry in newest_entries.values()
            if entry.revision > after
            and durable in {"*", entry.durable}
            and workspace in {"*", entry.workspace}
        ]
        return sorted(records, key=lambda entry: entry.revision)[:max_records]

    async def newest_page(self, max_records: int, workspace: str = "*") -> ParkedPage:
        changes = await self.changes("*", 0, len(self.history), workspace)
        records = [record for record in reversed(changes) if record.event]
        return ParkedPage(records[:max_records], len(records))

    async def originals(self, events: Sequence[ParkedEvent]) -> list[Message]:
        sequences = {event.sequence for event in events}
        return [
            MemoryMessage(message) for message in self.log.messages if message.sequence in sequences
        ]


@dataclass
class MemoryLiveGenerations:
    """`LiveGenerations`."""

    pointers: ProjectionGenerations = field(
        default_factory=lambda: {projection: GenerationState() for projection in PROJECTIONS}
    )
    revision: int = 0

    async def read(self) -> tuple[ProjectionGenerations, int]:
        await asyncio.sleep(0)
        return dict(self.pointers), self.revision

    async def write(self, pointers: ProjectionGenerations, revision: int) -> None:
        if revision != self.revision:
            raise Unavailable("somebody else switched generations meanwhile; start again")
        self.pointers = dict(pointers)
        self.revision = revision + 1

    async def live(self, *projections: Projection) -> Generations:
        return live_generations(self.pointers)


@dataclass
class MemorySharedValues:
    """`SharedValues` in a dictionary."""

    values: dict[str, tuple[bytes, int]] = field(default_factory=dict[str, tuple[bytes, int]])
    writes: int = 0

    async def read(self, key: str) -> tuple[bytes, int]:
        await asyncio.sleep(0)
        return self.values.get(key, (b"", 0))

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        await asyncio.sleep(0)
        if self.values.get(key, (b"", 0))[1] != revision:
            return False
        self.writes += 1
        self.values[key] = value, self.writes
        return True

    async def keys(self) -> list[str]:
        return sorted(self.values)

    async def state(self) -> Hashable:
        return self.writes
