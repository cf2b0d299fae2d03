"""Ask that documents be erased, and read what was erased. The service itself may delete nothing
from the log.

A request takes a document out of questions at once, for it is a deletion too. The erasure itself is
done by an operator, with `lightstream erase --requested`.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import DocumentErased, ErasureRequested, Event
from contracts.ids import event_id
from publishing.documents import delete_document
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import ServiceError
from services.query.event_source import SOURCE

MAX_LISTED = 1000
"""Events of a kind that are read, the oldest ones."""


@dataclass
class ErasureRequests:
    """Ids of documents that are to be erased, and ids that no document has."""

    requested_ids: list[str] = field(default_factory=list[str])
    unknown_ids: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Erased:
    """A document that was erased; `receipt`: the SHA-256 of its receipt."""

    document: str
    at: datetime
    receipt: str
    reason: str
    actor: str | None


async def request_erasures(
    log: Log, workspace: str, ids: Sequence[str], reason: str
) -> ErasureRequests:
    """Delete these documents and publish that they are to be erased. Repeats change nothing. Raises
    `Unavailable`.
    """
    outcome = ErasureRequests()
    for id in dict.fromkeys(ids):
        newest_addition = await log.newest(workspace, id, "DocumentAdded")
        if newest_addition is None:
            outcome.unknown_ids.append(id)
            continue
        event = ErasureRequested(document_id=id, reason=reason)
        envelope: Envelope[Event] = wrap(
            event,
            id=event_id(f"{workspace}/{id}/{newest_addition.sequence}", event.type_name()),
            source=SOURCE,
            workspace=workspace,
            time=datetime.now(UTC),
            lineage=command_lineage(),
        )
        await log.publish(envelope)
        await delete_document(log, workspace=workspace, id=id, source=SOURCE)
        outcome.requested_ids.append(id)
    return outcome


async def list_erasures(log: Log, workspace: str) -> tuple[list[str], list[Erased]]:
    """Return the ids of documents that are to be erased, and the erasures that were done, oldest
    first.

    A request goes with the document's other events, so those that stand in the log are still to be
    done.
    """
    requested_ids = [
        envelope.data.aggregate_id
        async for _, envelope in _events(log, workspace, ErasureRequested)
    ]
    erased_documents = [
        Erased(event.document_id, envelope.time or at, event.receipt, event.reason, envelope.actor)
        async for at, envelope in _events(log, workspace, DocumentErased)
        if isinstance(event := envelope.data, DocumentErased) and event.receipt
    ]
    return list(dict.fromkeys(requested_ids)), erased_documents


async def _events(
    log: Log, workspace: str, kind: type[Event]
) -> AsyncGenerator[tuple[datetime, Envelope[Event]]]:
    subject = subjects.of_type_in(workspace, kind.type_name())
    position = 0
    for _ in range(MAX_LISTED):
        if (message := await log.following(position, subject)) is None:
            return
        position = message.sequence
        try:
            yield message.published_at, decode(message.data, message.subject, message.headers)
        except ServiceError:
            continue
