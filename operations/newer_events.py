"""Events of a version newer than this code: what a rebuild leaves out, and leaves to the live
services.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from contracts import subjects
from contracts.graph import Projection
from contracts.registry import CONSUMERS_OF, consumers_of
from runtime.bus.codec import header_of
from runtime.bus.parking.port import ParkedEvent, ParkedEvents
from runtime.bus.port import Message
from runtime.errors import NewerVersion, Poison


@dataclass(frozen=True)
class NewerEvent:
    """One such event. `workspace` and `document` are names, or tokens of its subject where it names
    none.
    """

    sequence: int
    type: str
    version: int
    workspace: str
    document: str
    subject: str


def newer_event(message: Message, error: NewerVersion) -> NewerEvent:
    """Return what the headers and subject of a message tell, for its body cannot be read."""
    workspace, document, event_type = subjects.split(message.subject)
    try:
        header, _ = header_of(message.data, message.headers)
        workspace = header.workspace
        document = (
            header.subject
            if header.subject and subjects.token(header.subject) == document
            else document
        )
    except Poison:  # it was read once to know its version
        pass
    return NewerEvent(
        message.sequence, event_type, error.version, workspace, document, message.subject
    )


async def park(
    parked_events: ParkedEvents, events: Sequence[NewerEvent], targets: Sequence[Projection]
) -> None:
    """Leave these events to the services that fill the targets; where one is parked already,
    nothing changes.
    """
    fed_consumers = {name for target in targets for name in CONSUMERS_OF[target]}
    now = time.time()
    for event in events:
        for consumer in consumers_of(event.type):
            if consumer.name in fed_consumers:
                record = ParkedEvent(
                    durable=consumer.name,
                    sequence=event.sequence,
                    subject=event.subject,
                    reason="newer-version",
                    event_type=event.type,
                    version=event.version,
                    workspace=event.workspace,
                    document=event.document,
                    error="left out by a rebuild",
                    parked_at=now,
                    not_before=now + 3600.0,
                    wait=3600.0,
                )
                await parked_events.put(record)
