"""Ask that documents be erased, and read what was erased. The service itself may delete nothing
from the log.

A request takes a document out of questions at once, for it is a deletion too. The erasure itself is
done by an operator, with `lightstream erase --requested`.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import DocumentErased, ErasureRequested, Event
from contracts.ids import event_id
from publishing.documents import delete_document
from runtime.bus.codec import decode
from runtime.bus.feed.newest import newest_first
from runtime.bus.feed.port import EventFeed
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import ServiceError
from services.query.event_source import SOURCE


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


@dataclass(frozen=True)
class ErasurePage:
    """Ids of documents that are to be erased, and documents that were, the newest first.

    `before`: the sequence in front of which there is more, None where there is none.
    """

    requested_ids: list[str]
    erased_documents: list[Erased]
    before: int | None


class _Entry(NamedTuple):
    sequence: int
    at: datetime
    envelope: Envelope[Event]


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


async def list_erasures(
    feed: EventFeed, workspace: str, before: int | None, limit: int
) -> ErasurePage:
    """Return a page of what is to be erased and of what was, the newest first: of each at most
    `limit`, in front of the sequence `before` in the log; None: the newest. Raises `Unavailable`.

    A request goes with the document's other events, so those that stand in the log are still to be
    done.
    """
    requests = await _newest(feed, workspace, ErasureRequested, before, limit)
    completions = await _newest(feed, workspace, DocumentErased, before, limit)
    # Both lists end where the shorter stretch of the log does, so that one place goes on with both.
    ends = [listed[limit - 1].sequence for listed in (requests, completions) if len(listed) > limit]
    end = max(ends, default=0)
    requested_ids = [
        entry.envelope.data.aggregate_id for entry in requests if entry.sequence >= end
    ]
    erased_documents = [
        Erased(
            event.document_id,
            entry.envelope.time or entry.at,
            event.receipt or "",
            event.reason,
            entry.envelope.actor,
        )
        for entry in completions
        if entry.sequence >= end and isinstance(event := entry.envelope.data, DocumentErased)
    ]
    return ErasurePage(list(dict.fromkeys(requested_ids)), erased_documents, end or None)


async def _newest(
    feed: EventFeed, workspace: str, kind: type[Event], before: int | None, limit: int
) -> list[_Entry]:
    """Return one entry more than `limit`, where there is one, the newest first."""
    subject = subjects.of_type_in(workspace, kind.type_name())
    entries: list[_Entry] = []
    async with aclosing(newest_first(feed, subject, before)) as messages:
        async for message in messages:
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except ServiceError:
                continue
            event = envelope.data
            # An erasure that only began has no receipt.
            if isinstance(event, DocumentErased) and not event.receipt:
                continue
            entries.append(_Entry(message.sequence, message.published_at, envelope))
            if len(entries) > limit:
                break
    return entries
