"""The ports of the bus: the log, the blobs beside it, the pointers to live generations, one delivered message."""

from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

from contracts.envelope import Envelope
from contracts.events import ChunksCreated, DocumentAdded, DocumentDeleted, Event
from contracts.graph import DocumentBounds, Generations, Projection
from contracts.values import BlobRef, DocumentVersion

BUG_ATTEMPTS = 5
"""Times that an error which is neither Retryable nor Poison may come, before its message is dead-lettered."""

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
        """Its place in the log."""
        ...

    @property
    def attempt(self) -> int:
        """1 for the first delivery."""
        ...

    @property
    def published_at(self) -> datetime:
        """When the log took it."""
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
    """How often handling it has raised what nobody foresaw; outages do not count."""

    @property
    def event(self) -> E:
        """The body."""
        return self.envelope.data

    @property
    def workspace(self) -> str:
        """The tenant."""
        return self.envelope.workspace

    @property
    def happened_at(self) -> datetime:
        """The event's own time, else the time the log took it: the same at every replay."""
        return self.envelope.time or self.published_at


def version_added(delivery: Delivery[Event], event: DocumentAdded) -> DocumentVersion:
    """The version that a delivered DocumentAdded begins: its place in the log."""
    return DocumentVersion(
        id=event.document_id, version=delivery.sequence, added_at=delivery.happened_at, file_path=event.file_path
    )


def version_deleted(delivery: Delivery[Event], event: DocumentDeleted) -> DocumentVersion:
    """The version that a delivered DocumentDeleted stands for: none of the document's texts is newer."""
    return DocumentVersion(id=event.document_id, version=delivery.sequence, added_at=delivery.happened_at, deleted=True)


def document_bounds(batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]]) -> list[dict[str, DocumentBounds]]:
    """How far each document of the batch reaches, in rounds: older versions first, one of each document in a round."""
    versions: dict[str, dict[int, DocumentBounds]] = defaultdict(dict)
    for delivery in batch:
        event = delivery.event
        if isinstance(event, DocumentDeleted):
            versions[event.aggregate_id][delivery.sequence] = DocumentBounds(delivery.sequence, 0)
        elif event.chunk_count is not None:
            versions[event.aggregate_id][event.document.version] = DocumentBounds(
                event.document.version, event.chunk_count
            )
    rounds: list[dict[str, DocumentBounds]] = []
    for document, found in versions.items():
        for number, (_, extent) in enumerate(sorted(found.items())):
            rounds += [{}] if number == len(rounds) else []
            rounds[number][document] = extent
    return rounds


Events = Sequence[Event] | AsyncGenerator[Event]
"""What one delivery gives rise to. A generator is for more facts than should be in memory: they are published while
it makes the next ones, and what it raises counts as raised by the handler. What was published by then stays true, for
the event comes again and gives rise to the same facts.
"""


class Handler(Protocol):
    """Facts in, facts out: for each delivery the facts it gives rise to, in an order that never varies.

    It writes its store idempotently; it neither publishes nor acknowledges. Raises `Retryable` or `Poison`.
    """

    async def __call__(self, batch: Sequence[Delivery[Any]], generations: Generations, /) -> Sequence[Events]: ...


class Log(Protocol):
    """The append-only log of events. The contract of both adapters is tested by `tests/contract/test_bus.py`."""

    async def publish(self, envelope: Envelope[Event]) -> int:
        """Append, and return the sequence when it is durable.

        A repeated id inside the duplicate window returns the first one's sequence. Raises `Unavailable` when the log
        is full, or silent for 30 s; `Poison` when the event is too large.
        """
        ...

    async def dead_letter(self, message: Message, durable: str, reason: str) -> None:
        """Keep a message raw in KB_DEAD with the reason; twice is once."""
        ...

    async def newest(self, workspace: str, about: str, event_type: str, *, exact: bool = True) -> Message | None:
        """The newest event of this type about this document; it is not a delivery and is never acknowledged.

        Not `exact`: any replica of the log may answer, which may be a moment behind.
        """
        ...

    async def following(self, after: int, subject: str) -> Message | None:
        """The first event behind the sequence `after` whose subject fits; `*` stands for a token. None at the end.

        Like `newest` it asks for no right but to look: a service may make no reader of its own.
        """
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event, 0 for an empty log."""
        ...

    async def last(self, workspace: str) -> int:
        """The sequence of the newest event of this workspace, 0 for none. Raises `Unavailable`."""
        ...

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        """A sequence up to which these durables (none named: all) have handled everything; 0: not known.

        What is acknowledged and parked is not handled; with a `workspace` only its own parked events count.
        """
        ...

    def read(self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500) -> AsyncIterator[list[Message]]:
        """Pages of messages behind `after`, in order, up to the end of the log at the time of the call."""
        ...


Obsolete = Literal["deleted", "superseded", "cancelled"]
"""Why nobody waits for the work on a version of a document any more.

`superseded` as soon as the log holds chunks of a newer version: from then on those replace all that this one says.
`cancelled` when somebody stopped it: what the log holds of it by then stays as it is.
"""


class DocumentVersions(Protocol):
    """Which versions of documents are still wanted: asked before anything is paid for one."""

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        """Why this version is not wanted any more; None while it is, or while that cannot be found out.

        Cheap: may be asked before each call of a model. What it says may be a second or two behind the log.
        """
        ...


class AllWanted:
    """`DocumentVersions` for who pays nothing, such as a rebuild: every version is wanted."""

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        """None."""
        return None


ALL_WANTED: DocumentVersions = AllWanted()


class Blobs(Protocol):
    """Immutable texts by their hash."""

    async def put(self, text: str) -> BlobRef:
        """Keep the text. Twice is once; other bytes under its name are replaced. Raises `Unavailable`."""
        ...

    async def get(self, ref: BlobRef) -> str:
        """The text. Raises `Poison` when a part is missing or the hash differs."""
        ...

    async def parts(self, ref: BlobRef) -> Sequence[bytes]:
        """The UTF-8 bytes of the text, in the parts it is kept in. Raises what `get` raises.

        As bytes a text takes up to a quarter of the memory that it takes as a string.
        """
        ...


@dataclass(frozen=True)
class GenerationState:
    """Where one projection lives."""

    live: int = 1
    previous: int | None = None
    highest: int = 1
    """The greatest number ever given out; a half-built generation is never used again."""
    complete_to: int = 0
    """Log sequence up to which the previous generation holds everything: going back to it catches up from there."""


ProjectionGenerations = dict[Projection, GenerationState]


class ActiveGenerations(Protocol):
    """The live generation of every projection, in one value that is replaced as a whole."""

    async def read(self) -> tuple[ProjectionGenerations, int]:
        """The pointers and the revision to give to `write`; all generations are 1 before the first write."""
        ...

    async def write(self, pointers: ProjectionGenerations, revision: int) -> None:
        """Replace them if they still have that revision, else raise `Unavailable`."""
        ...

    async def live(self, *needed: Projection) -> Generations:
        """The generations to read from and write to now.

        `needed`: those that will be read, none named: all. Whoever watches the stores raises `StoreBehind` for them.
        """
        ...


class SharedValues(Protocol):
    """Small values that processes share for a while, each replaced as a whole under its key. Not truth: may be lost."""

    async def read(self, key: str) -> tuple[bytes, int]:
        """The value and the revision to give to `write`; empty and 0 when there is none. Raises `Unavailable`."""
        ...

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        """Replace it if it still has that revision. False: somebody was faster. Raises `Unavailable`."""
        ...

    async def keys(self) -> list[str]:
        """The keys that have a value. Raises `Unavailable`."""
        ...
