"""Visibility that is read once of the status projection and moved by the events of the log."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from cachetools import LRUCache

from contracts import subjects
from contracts.access import Access
from contracts.events import AccessChanged, DocumentAdded, DocumentDeleted, DocumentErased, Event
from contracts.graph import Partition
from runtime.bus.codec import decode
from runtime.bus.port import LiveGenerations, Log, Message
from runtime.errors import Poison
from services.query.partitions import status_partition
from services.query.visibility.port import VisibleDocuments
from services.query.visibility.viewer import Viewer

MOVING = (DocumentAdded, AccessChanged, DocumentDeleted, DocumentErased)
"""The events that move what is visible."""

MAX_WORKSPACES = 200
"""Workspaces whose documents are kept, the least recently asked leave first."""

MAX_VIEWERS = 2000
"""Sets of principals whose documents are kept of each workspace."""

SINGLE_READS = 50
"""Events of a type that are read one by one, before the rest is read as a stream."""


@dataclass(frozen=True)
class DocumentAccess:
    """Who may see a document. `is_there`: it is neither deleted nor announced only."""

    access: Access | None
    is_there: bool


class StoredAccess(Protocol):
    """Who may see the documents, as the status projection has it."""

    async def access_of_all(self, partition: Partition, /) -> Mapping[str, DocumentAccess]:
        """Return the access of every document by id, also of those that are not there."""
        ...


@dataclass
class _Workspace:
    """The documents of one workspace up to a position of the log."""

    position: int
    access: dict[str, Access | None]
    """What was said of documents, also of those that are not there."""
    ids: dict[Access | None, set[str]]
    """The documents that are there, by who may see them."""
    seen_by: LRUCache[Viewer, VisibleDocuments] = field(
        default_factory=lambda: LRUCache(MAX_VIEWERS)
    )

    @classmethod
    def of(cls, position: int, documents: Mapping[str, DocumentAccess]) -> "_Workspace":
        ids: defaultdict[Access | None, set[str]] = defaultdict(set)
        for id, document in documents.items():
            if document.is_there:
                ids[document.access].add(id)
        access: dict[str, Access | None] = {
            id: document.access for id, document in documents.items() if document.access
        }
        return cls(position, access, ids)

    def apply(self, event: Event) -> None:
        """Move by one event; the events come in the order of the log."""
        id = event.aggregate_id
        before = self.access.get(id)
        is_there = id in self.ids[before]
        self.ids[before].discard(id)
        if isinstance(event, DocumentDeleted | DocumentErased):
            self.access.pop(id, None)
        elif isinstance(event, DocumentAdded | AccessChanged):
            changes = isinstance(event, AccessChanged) or event.access is not None
            after = event.access if changes else before
            self.access[id] = after
            if is_there or isinstance(event, DocumentAdded):
                self.ids[after].add(id)

    def seen(self, viewer: Viewer) -> VisibleDocuments:
        """Return what the viewer sees; the same object until something moves."""
        documents = self.seen_by.get(viewer)
        if documents is None:
            principals = frozenset(viewer.principals)
            admitted = [
                ids for access, ids in self.ids.items() if not access or access.admits(principals)
            ]
            ids = frozenset[str]().union(*admitted)
            total = sum(map(len, self.ids.values()))
            documents = self.seen_by[viewer] = VisibleDocuments(ids, len(ids) < total)
        return documents


class FollowedVisibility:
    """`Visibility` over the log and the status projection."""

    def __init__(self, log: Log, pointers: LiveGenerations, stored: StoredAccess) -> None:
        self._log = log
        self._pointers = pointers
        self._stored = stored
        self._workspaces: LRUCache[str, _Workspace] = LRUCache(MAX_WORKSPACES)
        self._locks: LRUCache[str, asyncio.Lock] = LRUCache(MAX_WORKSPACES)

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """See `Visibility.of`."""
        async with self._locks.setdefault(workspace, asyncio.Lock()):
            state = self._workspaces.get(workspace)
            if state is None:
                state = await self._read(workspace)
            await self._catch_up(workspace, state)
            self._workspaces[workspace] = state
            return state.seen(viewer)

    async def _read(self, workspace: str) -> _Workspace:
        # The order matters: the documents then include every event that was handled before.
        position = await self._log.handled("query-status", workspace=workspace)
        partition = await status_partition(self._pointers, workspace)
        return _Workspace.of(position, await self._stored.access_of_all(partition))

    async def _catch_up(self, workspace: str, state: _Workspace) -> None:
        """Apply what the log has behind the position, up to its end."""
        # Most often nothing has happened at all, which is one question that a server answers from
        # its index.
        if not await self._log.following(state.position, subjects.of_workspace(workspace)):
            return
        end = await self._log.last(workspace)
        events = [
            moved
            for kind in MOVING
            for moved in await self._events(workspace, kind, state.position, end)
        ]
        for _, event in sorted(events, key=lambda moved: moved[0]):
            state.apply(event)
        if events:
            state.seen_by.clear()
        state.position = max(state.position, end)

    async def _events(
        self, workspace: str, kind: type[Event], after: int, end: int
    ) -> list[tuple[int, Event]]:
        """Return the events of a type behind `after` up to `end`, with their sequences."""
        messages: list[Message] = []
        subject = subjects.of_type_in(workspace, kind.type_name())
        position = after
        while len(messages) < SINGLE_READS:
            message = await self._log.following(position, subject)
            if message is None or message.sequence > end:
                return _decoded(messages)
            messages.append(message)
            position = message.sequence
        history = self._log.history(workspace, None, kind.type_name(), position)
        async with aclosing(history):
            async for message in history:
                if message.sequence > end:
                    break
                messages.append(message)
        return _decoded(messages)


def _decoded(messages: list[Message]) -> list[tuple[int, Event]]:
    """Return sequences and events. What nobody can read is left out, as the projection does; of
    what a newer release can read nobody here knows whom it hides, so that raises NewerVersion.
    """
    events: list[tuple[int, Event]] = []
    for message in messages:
        try:
            event = decode(message.data, message.subject, message.headers).data
        except Poison:
            continue
        events.append((message.sequence, event))
    return events
