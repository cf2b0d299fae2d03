"""Tiny events of the real shape, by the million: what other systems publish to the log, cheaply
made.
"""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import Lineage, wrap
from contracts.events import ChunksCreated, DocumentAdded, Event
from contracts.subjects import subject
from contracts.values import Chunk, DocumentVersion
from runtime.bus.codec import encode

DOCUMENT = "doc-00000000"
WORKSPACE = "workspace-of-an-event"
"""What stands in the patterns for the names of a document and its workspace."""

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
IN_FLIGHT = 1000
"""Events sent and not confirmed yet."""


class TinyEvent(NamedTuple):
    """An event as it is published, and the id under which the server takes it once."""

    subject: str
    data: bytes
    id: str


def _patterns() -> list[tuple[str, bytes]]:
    """Return type and bytes of the two events of one document."""
    version = DocumentVersion(id=DOCUMENT, version=1, added_at=AT)
    chunk = Chunk(id=f"{DOCUMENT}-chunk-000", order=0, tokens=2, content="Port Elm.")
    events: list[Event] = [
        DocumentAdded(document_id=DOCUMENT, text="Port Elm."),
        ChunksCreated(document=version, part=0, parts=1, chunk_count=1, chunks=(chunk,)),
    ]
    return [
        (
            event.type_name(),
            encode(
                wrap(
                    event,
                    id=f"{event.type_name()}-{WORKSPACE}-{DOCUMENT}",
                    source="/benchmark",
                    workspace=WORKSPACE,
                    time=AT,
                    lineage=Lineage(),
                )
            ),
        )
        for event in events
    ]


EVENTS_PER_DOCUMENT = 2


def tiny_events(
    documents: Iterable[int], workspaces: int = 1000, *, only_added: bool = False
) -> Iterator[TinyEvent]:
    """Yield the events of these documents, spread over so many workspaces in turn: of each that it
    was added and, unless `only_added`, what its one chunk is.
    """
    patterns = _patterns()[: 1 if only_added else EVENTS_PER_DOCUMENT]
    for document in documents:
        workspace = f"w{document % workspaces}"
        name = f"d{document}"
        for kind, pattern in patterns:
            data = pattern.replace(WORKSPACE.encode(), workspace.encode())
            yield TinyEvent(
                subject(workspace, name, kind),
                data.replace(DOCUMENT.encode(), name.encode()),
                f"{document:08x}-{kind}",
            )


async def publish(client: Client, events: Iterable[TinyEvent]) -> int:
    """Publish all of them, many in flight, and return how many were confirmed. Raises RuntimeError
    for one that was refused.
    """
    free = asyncio.Semaphore(IN_FLIGHT)
    inbox = client.new_inbox()
    refusals: list[bytes] = []
    confirmed = 0

    async def on_answer(message: Msg) -> None:
        nonlocal confirmed
        # To parse each answer would cost as much as to publish.
        if b'"error"' in message.data:
            refusals.append(message.data)
        confirmed += 1
        free.release()

    subscription = await client.subscribe(inbox, cb=on_answer)
    for event in events:
        await free.acquire()
        if refusals:
            raise RuntimeError(f"the log refused an event: {refusals[0]!r:.200}")
        headers = {"Nats-Msg-Id": event.id}
        await client.publish(event.subject, event.data, reply=inbox, headers=headers)
    for _ in range(IN_FLIGHT):
        await free.acquire()
    await subscription.unsubscribe()
    return confirmed
