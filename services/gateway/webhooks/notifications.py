"""What of the log an endpoint is told: the events of its types, and once each what a document has
come to.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from contracts.graph import Partition
from runtime.bus.event_summary import EventSummary, summarize, whole_event
from runtime.bus.port import LiveGenerations, Log, Message
from runtime.errors import Unavailable
from services.gateway.places import PLAIN, Places, shown_text
from services.gateway.webhooks.delivery import Notification
from services.gateway.webhooks.endpoints import NOTICES, Endpoint
from services.query.status.document_status import DELETED, SETTLED
from services.query.status.port import Documents

SETTLING = ("VectorsIndexed", "GraphMerged", "StageFailed", "DocumentDeleted", "DocumentCancelled")
"""Events by which a document may come to something."""
BEGINNING = ("DocumentAdded", "RetryRequested", "DocumentDeleted")
"""Events after which what it came to is told anew."""

PROJECTED_SECONDS = 30.0
POLL_SECONDS = 0.2
"""How long the status projection is waited for, and how often it is asked."""

MAX_TOLD = 10_000


@dataclass
class Notifier:
    """Makes notifications of events. `last_states`: what documents came to when it was told last,
    by endpoint and document.

    `places_of`: how a principal, by its name, sees places of a workspace.
    """

    log: Log
    pointers: LiveGenerations
    documents: Documents
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    places_of: Callable[[str, str], Places] = lambda _name, _workspace: PLAIN
    last_states: OrderedDict[tuple[str, str], str] = field(
        default_factory=OrderedDict[tuple[str, str], str]
    )

    async def notifications(self, endpoint: Endpoint, message: Message) -> list[Notification]:
        """Return what this event makes the endpoint be told. Raises `Unavailable`."""
        event = summarize(message)
        places = self.places_of(endpoint.created_by, endpoint.workspace)
        notifications = list[Notification]()
        if event.type in endpoint.types:
            notifications.append(_of_event(event, message, places, with_body=endpoint.with_body))
        if event.type in BEGINNING:
            self.last_states.pop((endpoint.id, event.document), None)
        if event.type in SETTLING and set(NOTICES).intersection(endpoint.types):
            notifications += await self._notice(endpoint, event)
        return notifications

    async def _notice(self, endpoint: Endpoint, event: EventSummary) -> list[Notification]:
        """Return the notice that the document has come to something, unless it was told already."""
        await self._until_projected(endpoint.workspace, event.sequence)
        live = await self.pointers.live("status")
        documents = await self.documents.get(
            Partition(endpoint.workspace, live.status), [event.document]
        )
        if event.document not in documents:
            return []
        status, _ = documents[event.document]
        kind = f"document.{status.status}"
        is_settled = status.status in (*SETTLED, DELETED)
        places = self.places_of(endpoint.created_by, endpoint.workspace)
        key = (endpoint.id, event.document)
        state = f"{kind} {status.version}"
        if not is_settled or kind not in endpoint.types or self.last_states.get(key) == state:
            return []
        self.last_states[key] = state
        self.last_states.move_to_end(key)
        if len(self.last_states) > MAX_TOLD:
            self.last_states.popitem(last=False)
        data: dict[str, Any] = {
            "document": status.id,
            "file_path": status.file_path,
            "track_id": status.track_id or None,
            "status": status.status,
            "chunks": status.chunk_count,
            "errors": [
                f"{failure.stage}: {failure.message}"[:500] for failure in status.open_failures[:5]
            ],
            "sequence": places.shown(status.sequence),
        }
        # Of the state as it stands, so that a process that forgot what it told makes the same id of
        # the same state.
        id = f"{status.id}:{places.shown(status.version)}:{places.shown(status.sequence)}"
        return [Notification(id, kind, status.updated_at, data)]

    async def _until_projected(self, workspace: str, sequence: int) -> None:
        seconds_waited = 0.0
        while await self.log.handled("query-status", workspace=workspace) < sequence:
            if seconds_waited >= PROJECTED_SECONDS:
                raise Unavailable("the status projection is behind")
            await self.sleep(POLL_SECONDS)
            seconds_waited += POLL_SECONDS


def _of_event(
    event: EventSummary, message: Message, places: Places, *, with_body: bool
) -> Notification:
    time = event.time.isoformat()
    place = places.shown(event.sequence)
    tokens = event.tokens.model_dump() if event.tokens else None
    # The version of a text is a place of the log too; viewers' feeds alone look at it.
    shown_fields = {"sequence": place, "text": shown_text(event, places), "version": None}
    fields = {**asdict(event), **shown_fields, "time": time, "tokens": tokens}
    data = {name: value for name, value in fields.items() if value is not None}
    if with_body:
        data["event"] = places.shown_in_fields(whole_event(message))
    return Notification(event.id or f"sequence-{place}", event.type, time, data)
