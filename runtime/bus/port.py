"""The ports of the bus: the log, the blobs beside it, the live generations, one delivered
message.
"""

from collections.abc import AsyncGenerator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from contracts.envelope import Envelope
from contracts.events import ChunksCreated, DocumentAdded, DocumentDeleted, Event
from contracts.graph import Generations, Projection
from contracts.partitions import LogPosition
from contracts.values import BlobRef, DocumentVersion
from runtime.bus.encoded_text import EncodedText
from runtime.bus.generations import ProjectionGenerations

BUG_ATTEMPTS = 5
"""Times that an error which is neither Retryable nor Poison may come, before its message is
dead-lettered.
"""

E = TypeVar("E", bound=Event, covariant=True)


class Message(Protocol):
    """One delivery of one message of the log."""

    @property
    def data(self) -> bytes: ...
    @property
    def subject(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def sequence(self) -> int:
        """Return its sequence in the log."""
        ...

    @property
    def attempt(self) -> int:
        """Return the number of this delivery, 1 for the first."""
        ...

    @property
    def published_at(self) -> datetime:
        """Return when the log stored it."""
        ...

    async def ack(self) -> None:
        """Never deliver it again."""
        ...

    async def nak(self, delay: float) -> None:
        """Deliver it again, not before `delay` seconds."""
        ...

    async def heartbeat(self) -> None:
        """It is being worked on: start its time limit anew."""
        ...


@dataclass(frozen=True)
class Delivery(Generic[E]):
    """A decoded message as a handler sees it."""

    envelope: Envelope[E]
    sequence: int
    attempt: int
    published_at: datetime
    bugs: int = 0
    """How often handling it has raised an unexpected error; outages do not count."""
    retry: int = 0
    """Sequence of the RetryRequested for which it is handled again; 0 as usual."""

    @property
    def event(self) -> E:
        """Return the body."""
        return self.envelope.data

    @property
    def workspace(self) -> str:
        """Return the workspace: the tenant."""
        return self.envelope.workspace

    @property
    def happened_at(self) -> datetime:
        """The event's own time, else the time the log took it: the same at every replay."""
        return self.envelope.time or self.published_at


def version_added(delivery: Delivery[Event], event: DocumentAdded) -> DocumentVersion:
    """The version that a delivered DocumentAdded begins: its place in the log."""
    return DocumentVersion(
        id=event.document_id,
        version=delivery.sequence,
        added_at=delivery.happened_at,
        file_path=event.file_path,
    )


def version_deleted(delivery: Delivery[Event], event: DocumentDeleted) -> DocumentVersion:
    """The version that a delivered DocumentDeleted stands for: none of the document's texts is
    newer.
    """
    return DocumentVersion(
        id=event.document_id, version=delivery.sequence, added_at=delivery.happened_at, deleted=True
    )


Events = Sequence[Event] | AsyncGenerator[Event]
"""The events that one delivery results in. A generator is for more events than should be in memory:
they are published while it makes the next ones, and an error it raises counts as raised by the
handler. Events published by then stay valid, for the delivery is repeated and results in the same
events.
"""


class Handler(Protocol):
    """Events in, events out: return for each delivery the events it results in, in an order that
    never varies.

    It writes its store idempotently; it neither publishes nor acknowledges. Raises `Retryable` or
    `Poison`.
    """

    async def __call__(
        self, batch: Sequence[Delivery[Any]], generations: Generations, /
    ) -> Sequence[Events]: ...


class Log(Protocol):
    """The append-only log of events. The contract of both adapters is tested by
    `tests/contract/test_bus.py`.
    """

    async def publish(self, envelope: Envelope[Event]) -> int:
        """Append, and return the sequence when it is durable.

        The same event again inside the duplicate window, which is the same id on the same subject,
        returns the first one's sequence. What another publisher has under this id is no repetition
        and stops nothing. Raises `Unavailable` when the log is full, or silent for 30 s; `Poison`
        when the event is too large.
        """
        ...

    async def dead_letter(self, message: Message, durable: str, reason: str) -> None:
        """Store the raw message in KB_DEAD with the reason; repeats change nothing."""
        ...

    async def newest(
        self, workspace: str, about: str, event_type: str, *, exact: bool = True
    ) -> Message | None:
        """The newest event of this type about this document; it is not a delivery and is never
        acknowledged.

        Not `exact`: any replica of the log may answer, which may be a moment behind.
        """
        ...

    async def following(self, after: int, subject: str) -> Message | None:
        """The first event behind the sequence `after` whose subject fits; `*` stands for a token.
        None at the end.

        Like `newest` it needs read permission only, because a service may not create consumers of
        its own.
        """
        ...

    async def end(self) -> LogPosition:
        """The place behind all events."""
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event, 0 for an empty log.

        Raises ConfigurationError where the log has partitions, of which each has its own newest
        event: ask for the `end`, or for the `last` event of a workspace.
        """
        ...

    async def partitions_of(self, workspace: str) -> tuple[int, ...]:
        """The partitions that hold events of this workspace, in the order of their sequences: one,
        unless it was moved. The last one takes new events.
        """
        ...

    async def end_of(self, workspace: str) -> int:
        """The sequence of the newest event, whosever it is, in the partition that takes the events
        of this workspace.
        """
        ...

    async def last(self, workspace: str) -> int:
        """The sequence of the newest event of this workspace, 0 for none. Raises `Unavailable`."""
        ...

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        """Return a sequence up to which these durables (none: all) have handled everything; 0 if
        unknown.

        An event that is acknowledged and parked is not handled; with a `workspace` only its own
        parked events count, and the sequence is one of its partition. Raises ConfigurationError
        without one where the log has partitions: ask for the `handled_position`.
        """
        ...

    async def handled_position(self) -> LogPosition:
        """Return a place up to which all durables have handled everything."""
        ...

    def history(
        self, workspace: str, about: str | None, event_type: str, after: int = 0
    ) -> AsyncGenerator[Message]:
        """Yield the events of one type about this document behind `after`, in order, up to the end
        of the log.

        With None for the document: those of the whole workspace; `*` stands for every type.

        A service may read so what it consumes, and StageFailed. They are not deliveries. Raises
        `Unavailable`.
        """
        ...

    def sizes(
        self, workspace: str, event_type: str, after: int = 0
    ) -> AsyncGenerator[tuple[int, int]]:
        """Yield sequence and bytes of the events that `history` would yield, without reading their
        data.

        Raises `Unavailable`.
        """
        ...

    def subjects(self, workspace: str, after: int) -> AsyncGenerator[str]:
        """Yield the subject of each event of the workspace behind `after`, in order, without
        reading its data.

        Raises `Unavailable`.
        """
        ...

    def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        """Yield pages of messages whose sequence is greater than `after`, in the order of
        sequences, up to the end of the log at the time of the call.

        Partitions come one after another: what enters an earlier one later is not behind what was
        read of a later one. Who reads on uses `read_behind`.
        """
        ...

    def read_behind(
        self,
        position: LogPosition,
        subjects: Sequence[str] = (),
        *,
        page: int = 500,
        until: LogPosition | None = None,
    ) -> AsyncGenerator[list[Message]]:
        """Yield as `read` does what stands behind a place in the whole log and, with `until`, not
        behind that one. Each page is of one partition.
        """
        ...


Obsolete = Literal["deleted", "superseded", "cancelled"]
"""Why nobody waits for the work on a version of a document any more.

`superseded` as soon as the log holds chunks of a newer version: from then on those replace all that
this one says. `cancelled` when somebody stopped it: what the log holds of it by then stays as it
is.
"""


class DocumentVersions(Protocol):
    """Tells which versions of documents are obsolete: asked before any paid work on one."""

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        """Return why this version is not wanted any more; None while it is, or while that cannot be
        found out.

        Cheap: may be asked before each call of a model. What it says may be a second or two behind
        the log.
        """
        ...

    async def newer_chunks(self, workspace: str, document: DocumentVersion) -> list[ChunksCreated]:
        """Return the chunks of the newest version that the log has any of, if it is newer than this
        one.

        As the log stands now: a writer asks when it has written, lest it has written over them.
        Raises `Unavailable`.
        """
        ...


class AllWanted:
    """`DocumentVersions` for callers that pay nothing and write alone, such as a rebuild: every
    version is wanted.
    """

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        """Return None."""
        return None

    async def newer_chunks(self, workspace: str, document: DocumentVersion) -> list[ChunksCreated]:
        """Return none."""
        return []


ALL_WANTED: DocumentVersions = AllWanted()


class Blobs(Protocol):
    """Immutable texts by their hash."""

    async def put(self, text: EncodedText, workspace: str) -> BlobRef:
        """Store the text among those of the workspace. Repeats change nothing. Raises
        `Unavailable`.

        Where other bytes stand under its name they are replaced, or it is stored under another
        name.
        """
        ...

    async def get(self, ref: BlobRef) -> str:
        """Return the text. Raises `Poison` when a part is missing or the hash differs."""
        ...

    async def parts(self, ref: BlobRef) -> Sequence[bytes]:
        """Yield the UTF-8 bytes of the text, in the parts it is stored in. Raises what `get`
        raises.

        As bytes a text takes up to a quarter of the memory that it takes as a string.
        """
        ...


class LiveGenerations(Protocol):
    """The live generation of every projection, in one value that is replaced as a whole."""

    async def read(self) -> tuple[ProjectionGenerations, int]:
        """Return the live generations and the revision for `write`; all are 1 before the first
        write.
        """
        ...

    async def write(self, pointers: ProjectionGenerations, revision: int) -> None:
        """Replace them if they still have that revision, else raise `Unavailable`."""
        ...

    async def live(self, *projections: Projection) -> Generations:
        """Return the generations to read from and write to now.

        `projections` names the projections that will be read, none means all. An implementation
        that watches the stores raises `StoreBehind` when one of them has lost data.
        """
        ...


class SharedValues(Protocol):
    """Small values that processes share for a while, each replaced as a whole under its key. Not
    truth: may be lost.
    """

    async def read(self, key: str) -> tuple[bytes, int]:
        """Return the value and the revision for `write`; empty and 0 when there is none. Raises
        `Unavailable`.
        """
        ...

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        """Replace it if it still has that revision; False if another process was faster. Raises
        `Unavailable`.
        """
        ...

    async def keys(self) -> list[str]:
        """Return the keys that have a value. Raises `Unavailable`."""
        ...

    async def state(self) -> Hashable:
        """Return what is another one after each write of any process. Raises `Unavailable`."""
        ...
