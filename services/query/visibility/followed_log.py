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
from runtime.bus.port import LiveGenerations, Log, Message
from services.query.errors import TooLarge
from services.query.partitions import status_partition
from services.query.visibility.moves import MOVING, Moves, decoded
from services.query.visibility.port import VisibleDocuments, VisibleHistory
from services.query.visibility.viewer import Viewer

MAX_WORKSPACES = 200
"""Workspaces whose documents are kept, the least recently asked leave first."""

MAX_VIEWERS = 2000
"""Sets of principals whose documents are kept of each workspace."""

MAX_CHANGED = 2000
"""Documents whose access is read from the log for a look at the past: those of which it was changed
since.
"""

SINGLE_READS = 50
"""Events of a type that are read one by one, before the rest is read as a stream."""


@dataclass(frozen=True)
class DocumentAccess:
    """Who may see a document. `is_there`: it is neither deleted nor announced only.

    `since`: the sequence at which that was said, or the document deleted; 0 for neither.
    """

    access: Access | None
    is_there: bool
    since: int = 0


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
    since: dict[str, int]
    """Since which sequence who may see a document is as it is; of others ever."""
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
        since = {id: document.since for id, document in documents.items() if document.since}
        return cls(position, access, ids, since)

    def apply(self, sequence: int, event: Event) -> None:
        """Move by one event; the events come in the order of the log."""
        id = event.aggregate_id
        before = self.access.get(id)
        is_there = id in self.ids[before]
        self.ids[before].discard(id)
        if isinstance(event, DocumentDeleted | DocumentErased):
            self.access.pop(id, None)
            self.since[id] = sequence
        elif isinstance(event, DocumentAdded | AccessChanged):
            changes = isinstance(event, AccessChanged) or event.access is not None
            after = event.access if changes else before
            self.access[id] = after
            if changes:
                self.since[id] = sequence
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
        self._moves = Moves(log)
        self._workspaces: LRUCache[str, _Workspace] = LRUCache(MAX_WORKSPACES)
        self._locks: LRUCache[str, asyncio.Lock] = LRUCache(MAX_WORKSPACES)

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """See `Visibility.of`."""
        return (await self._current(workspace)).seen(viewer)

    async def history(self, workspace: str, viewer: Viewer, /) -> VisibleHistory:
        """See `Visibility.history`."""
        state = await self._current(workspace)
        return _FollowedHistory(workspace, viewer, state, self._moves)

    async def _current(self, workspace: str) -> _Workspace:
        """Return the state of a workspace at the end of the log."""
        async with self._locks.setdefault(workspace, asyncio.Lock()):
            state = self._workspaces.get(workspace)
            if state is None:
                state = await self._read(workspace)
            await self._catch_up(workspace, state)
            self._workspaces[workspace] = state
            return state

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
        for sequence, event in sorted(events, key=lambda moved: moved[0]):
            state.apply(sequence, event)
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
                return decoded(messages)
            messages.append(message)
            position = message.sequence
        history = self._log.history(workspace, None, kind.type_name(), position)
        async with aclosing(history):
            async for message in history:
                if message.sequence > end:
                    break
                messages.append(message)
        return decoded(messages)


@dataclass(frozen=True)
class _FollowedHistory:
    """`VisibleHistory` of a workspace at the end of the log, or behind."""

    workspace: str
    viewer: Viewer
    state: _Workspace
    moves: Moves

    async def at(self, sequence: int, /) -> VisibleDocuments:
        """See `VisibleHistory.at`."""
        ids = self.state.seen(self.viewer).ids
        changed_ids = [
            id for id, since in self.state.since.items() if since > sequence and id in ids
        ]
        if len(changed_ids) > MAX_CHANGED:
            raise TooLarge(
                f"who may see them was changed of {len(changed_ids):,} documents since then, and "
                f"at most {MAX_CHANGED:,} are looked up: ask of a later moment, or of now without "
                "`as_of`"
            )
        hidden_ids = {id for id in changed_ids if not await self.sees(id, sequence)}
        # A document that was deleted since is in the past, and nobody may see it.
        return VisibleDocuments(ids - hidden_ids if hidden_ids else ids, hides=True)

    async def sees(self, id: str, sequence: int, /) -> bool:
        """See `VisibleHistory.sees`."""
        if id not in self.state.seen(self.viewer).ids:
            return False
        since = self.state.since.get(id, 0)
        if since <= sequence:
            return True
        principals = frozenset(self.viewer.principals)
        return await self.moves.admitted(self.workspace, id, since, principals, sequence)
