"""The two buses that the contract suite runs over, each with what a test needs to do behind its
back.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from nats.js import JetStreamContext

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import Event
from contracts.ids import sha256
from contracts.values import BlobRef
from runtime.bus import topology
from runtime.bus.memory import (
    MemoryBlobs,
    MemoryLiveGenerations,
    MemoryLog,
    MemoryParkedEvents,
    MemorySharedValues,
)
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.message_ids import message_id, publisher_key
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.port import ParkedEvents
from runtime.bus.port import Blobs, LiveGenerations, Log, SharedValues
from runtime.bus.repetitions import subject_of
from tests.support.events import added, sealed

HARMLESS = "kb.v1.other.d.DocumentAdded"
"""The subject of a message in another workspace."""


class Bus(Protocol):
    """The ports, and two ways behind them."""

    log: Log
    blobs: Blobs
    pointers: LiveGenerations
    values: SharedValues
    parked: ParkedEvents

    async def foreign(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        """Append what another system publishes."""
        ...

    async def dead(self) -> list[tuple[bytes, str]]:
        """What was buried, with the reasons."""
        ...

    async def forge(self, text: str, other: str) -> BlobRef:
        """A reference to `text`, where `other` stands under its name."""
        ...

    async def store_under_hash(self, text: str) -> BlobRef:
        """Store a short text as older versions did."""
        ...

    async def occupy(self, envelope: Envelope[Event]) -> None:
        """Append something harmless of another workspace under the id that this event is going to
        have.
        """
        ...


@dataclass
class MemoryBus:
    """Everything in this process."""

    log: MemoryLog
    blobs: MemoryBlobs
    pointers: MemoryLiveGenerations
    values: MemorySharedValues
    parked: MemoryParkedEvents

    async def foreign(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        self.log.append(subject, data, f"foreign-{len(self.log.messages)}", headers)

    async def dead(self) -> list[tuple[bytes, str]]:
        return list(self.log.dead.values())

    async def forge(self, text: str, other: str) -> BlobRef:
        ref = placed(text)
        self.blobs.texts[ref.key] = other.encode()
        return ref

    async def store_under_hash(self, text: str) -> BlobRef:
        self.blobs.texts[sha256(text)] = text.encode()
        return BlobRef(sha256=sha256(text), size=len(text), parts=1)

    async def occupy(self, envelope: Envelope[Event]) -> None:
        self.log.append(HARMLESS, b"{}", f"{subject_of(envelope)}/{envelope.id}")


@dataclass
class NatsBus:
    """Everything on a real server."""

    jetstream: JetStreamContext
    log: NatsLog
    blobs: NatsBlobs
    pointers: NatsLiveGenerations
    values: NatsSharedValues
    parked: NatsParkedEvents

    async def foreign(self, subject: str, data: bytes, headers: dict[str, str]) -> None:
        await self.jetstream.publish(subject, data, headers=headers)

    async def dead(self) -> list[tuple[bytes, str]]:
        state = (await self.jetstream.stream_info("KB_DEAD")).state
        messages = [
            await self.jetstream.get_msg("KB_DEAD", seq) for seq in range(1, state.last_seq + 1)
        ]
        return [(message.data or b"", (message.headers or {})["Kb-Reason"]) for message in messages]

    async def forge(self, text: str, other: str) -> BlobRef:
        ref = placed(text)
        await self.jetstream.publish(subjects.blob(ref.key, 0), other.encode(), stream="KB_BLOBS")
        return ref

    async def store_under_hash(self, text: str) -> BlobRef:
        await self.jetstream.publish(
            subjects.blob(sha256(text), 0), text.encode(), stream="KB_BLOBS"
        )
        return BlobRef(sha256=sha256(text), size=len(text), parts=1)

    async def occupy(self, envelope: Envelope[Event]) -> None:
        id = message_id(publisher_key(self.jetstream), subject_of(envelope), envelope.id)
        await self.jetstream.publish(HARMLESS, b"{}", headers={"Nats-Msg-Id": id})


def placed(text: str, workspace: str = "w") -> BlobRef:
    """The reference to a short text of a workspace, under its hash."""
    digest = sha256(text)
    return BlobRef(
        sha256=digest, size=len(text), parts=1, place=subjects.blob_place(workspace, digest)
    )


def memory_bus() -> MemoryBus:
    """An empty one."""
    log = MemoryLog()
    return MemoryBus(
        log, MemoryBlobs(), MemoryLiveGenerations(), MemorySharedValues(), MemoryParkedEvents(log)
    )


async def bound(jetstream: JetStreamContext) -> NatsBus:
    """The one on this server, whose topology was applied."""
    pointers = await NatsLiveGenerations.bind(jetstream)
    values = await NatsSharedValues.bind(jetstream)
    return NatsBus(
        jetstream,
        NatsLog(jetstream),
        NatsBlobs(jetstream),
        pointers,
        values,
        NatsParkedEvents(jetstream),
    )


async def nats_bus(jetstream: JetStreamContext) -> NatsBus:
    """One with every stream as declared."""
    await topology.apply(jetstream)
    return await bound(jetstream)


def numbered(number: int, about: str = "d", *, id: str = "", **fields: Any) -> Envelope[Event]:
    """The event of that number."""
    return sealed(added(about, f"text {number}", **fields), id=id or f"event-{number}")
