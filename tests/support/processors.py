"""An event processor over the bus in memory, with everything about it a test may want to look
at.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import Event, Stage
from contracts.topology import CONSUMERS, declared_consumer
from runtime.bus.codec import decode, encode
from runtime.bus.memory import MemoryConsumer, MemoryLiveGenerations, MemoryLog, MemoryMessage
from runtime.bus.port import Handler
from runtime.bus.processor import EventProcessor
from tests.support.events import NOON


@dataclass
class RecordingLog(MemoryLog):
    """A log that writes down in which order things happened, and refuses types of events that a
    test names.
    """

    events: list[str] = field(default_factory=list[str])
    refuse: dict[str, Exception] = field(default_factory=dict[str, Exception])

    async def publish(self, envelope: Envelope[Event]) -> int:
        name = envelope.data.type_name()
        await asyncio.sleep(0)
        if name in self.refuse:
            raise self.refuse[name]
        sequence = await super().publish(envelope)
        self.events.append(f"publish {name}")
        return sequence


@dataclass
class ProcessorBench:
    """One event processor and its consumer. `log` is the whole bus."""

    log: RecordingLog
    consumer: MemoryConsumer
    processor: EventProcessor

    def append(self, envelope: Envelope[Event]) -> None:
        """What a publisher does."""
        data = envelope.data
        self.raw(
            encode(envelope),
            subjects.subject(envelope.workspace, data.aggregate_id, data.type_name()),
            envelope.id,
        )

    def raw(self, data: bytes, subject: str = "kb.v1.w.d.DocumentAdded", id: str = "") -> None:
        """What a foreign publisher may do: any bytes under any subject of the log."""
        self.log.append(subject, data, id or f"raw-{len(self.log.messages)}")

    async def deliver(self, count: int = 200) -> list[MemoryMessage]:
        """Deliver what waits to the event processor, in one batch."""
        messages = self.consumer.fetch(count)
        await self.processor.process(messages)
        return messages

    def published(self, event_type: str = "") -> list[Envelope[Event]]:
        """What was published, but for the consumer's own input; of one type, if named."""
        envelopes = [
            decode(stored.data, stored.subject)
            for stored in self.log.messages
            if self._ours(stored.data)
        ]
        return [envelope for envelope in envelopes if event_type in {"", envelope.data.type_name()}]

    @staticmethod
    def _ours(data: bytes) -> bool:
        return b'"source":"lightstream/' in data

    @property
    def unacknowledged(self) -> list[int]:
        """Sequences that were delivered and neither acknowledged nor forgotten."""
        return sorted(self.consumer.waiting)


def bench(
    handle: Handler,
    *,
    stage: Stage = "chunker",
    on: str = "chunker",
    filters: Sequence[str] = (),
    **fields: Any,
) -> ProcessorBench:
    """An event processor with this handler. `filters` replace those of the consumer, other `fields`
    its fields.
    """
    assert on in {declared.name for declared in CONSUMERS}
    declared = replace(
        declared_consumer(on), **fields, **({"filters": tuple(filters)} if filters else {})
    )
    log = RecordingLog()
    edge = EventProcessor(stage, declared, handle, log, MemoryLiveGenerations(), now=lambda: NOON)
    return ProcessorBench(log, MemoryConsumer(log, declared), edge)
