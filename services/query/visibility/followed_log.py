"""Visibility that is read once of the status projection and moved by the events of the log."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from cachetools import LRUCache

from contracts import subjects
from contracts.access_of_texts import MOVING
from contracts.events import ChunksCreated, DocumentDeleted, Event
from contracts.graph import Partition
from runtime.bus.port import LiveGenerations, Log, Message
from services.query.errors import TooLarge
from services.query.partitions import status_partition
from services.query.status.document_status import ALONE, DocumentStatus
from services.query.visibility.moves import (
    Moves,
    admitted,
    decoded,
    read_moves,
    text_admitted,
)
from services.query.visibility.port import VisibleDocuments, VisibleHistory
from services.query.visibility.viewer import Viewer
from services.query.visibility.workspace_access import DocumentAccess, WorkspaceAccess

MAX_WORKSPACES = 200
"""Workspaces whose documents are kept, the least recently asked leave first."""

MAX_CHANGED = 2000
"""Documents whose access is read from the log for a look at the past: those of which it was changed
since.
"""

SINGLE_READS = 50
"""Events of a type that are read one by one, before the rest is read as a stream."""

MAX_UNSETTLED = 50
"""Documents with texts for others than their newest one that are looked at before a question: of
more, each in its turn.
"""

RETRACTING = "merger-extents"
"""The durable that takes out of the graph what a shorter text says no more: no status waits for
it.
"""


class StoredAccess(Protocol):
    """Who may see the documents, as the status projection has it."""

    async def access_of_all(self, partition: Partition, /) -> Mapping[str, DocumentAccess]:
        """Return the access of every document by id, also of those that are not there."""
        ...

    async def get(
        self, partition: Partition, ids: Collection[str], /
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """See `Documents.get`."""
        ...


class FollowedVisibility:
    """`Visibility` over the log and the status projection."""

    def __init__(self, log: Log, pointers: LiveGenerations, stored: StoredAccess) -> None:
        self._log = log
        self._pointers = pointers
        self._stored = stored
        self._moves = Moves(log)
        self._workspaces: LRUCache[str, WorkspaceAccess] = LRUCache(MAX_WORKSPACES)
        self._locks: LRUCache[str, asyncio.Lock] = LRUCache(MAX_WORKSPACES)

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """See `Visibility.of`."""
        return (await self._current(workspace)).seen(viewer)

    async def history(self, workspace: str, viewer: Viewer, /) -> VisibleHistory:
        """See `Visibility.history`."""
        state = await self._current(workspace)
        return _FollowedHistory(workspace, viewer, state, self._moves)

    async def _current(self, workspace: str) -> WorkspaceAccess:
        """Return the state of a workspace at the end of the log."""
        async with self._locks.setdefault(workspace, asyncio.Lock()):
            state = self._workspaces.get(workspace)
            if state is None:
                state = await self._read(workspace)
            await self._catch_up(workspace, state)
            if state.unsettled_ids:
                await self._settle(workspace, state)
            self._workspaces[workspace] = state
            return state

    async def _read(self, workspace: str) -> WorkspaceAccess:
        # The order matters: the documents then include every event that was handled before.
        position = await self._log.handled("query-status", workspace=workspace)
        partition = await status_partition(self._pointers, workspace)
        documents = await self._stored.access_of_all(partition)
        state = WorkspaceAccess.of(workspace, position, documents)
        late_tokens = await self._not_retracted(workspace)
        state.doubt(id for id in documents if subjects.token(id) in late_tokens)
        return state

    async def _not_retracted(self, workspace: str) -> set[str]:
        """Return the subject tokens of documents of which the graph may still say what a shorter
        text, or none, says no more.
        """
        retracted_to = await self._log.handled(RETRACTING, workspace=workspace)
        late_tokens: set[str] = set()
        for kind in (ChunksCreated, DocumentDeleted):
            subject = subjects.of_type_in(workspace, kind.type_name())
            if await self._log.following(retracted_to, subject):
                behind = self._log.subjects(workspace, retracted_to)
                async with aclosing(behind):
                    late_tokens |= {subjects.split(subject)[1] async for subject in behind}
                break
        return late_tokens

    async def _catch_up(self, workspace: str, state: WorkspaceAccess) -> None:
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
        state.position = max(state.position, end)

    async def _settle(self, workspace: str, state: WorkspaceAccess) -> None:
        """Look whether anything is left of older texts of some documents, or was."""
        ids = list(islice(state.unsettled_ids, MAX_UNSETTLED))
        partition = await status_partition(self._pointers, workspace)
        statuses = await self._stored.get(partition, ids)
        settled_statuses: list[DocumentStatus] = []
        ids_to_read: list[str] = []
        for id in ids:
            state.postpone(id)
            status = statuses[id][0] if id in statuses else None
            if status and status.status in ALONE and await self._is_newest(state, status):
                settled_statuses.append(status)
            elif id in state.unread_ids:
                ids_to_read.append(id)
            elif status is None and not state.texts[id].is_there:
                state.settle(id, 0)  # It was erased.
        if not (settled_statuses or ids_to_read):
            return
        retracted_to = await self._log.handled(RETRACTING, workspace=workspace)
        for status in settled_statuses:
            if await self._last_cut(workspace, status.id) <= retracted_to:
                state.settle(status.id, status.sequence)
        reading = [self._read_texts(state, id, retracted_to) for id in ids_to_read]
        await asyncio.gather(*reading)

    async def _is_newest(self, state: WorkspaceAccess, status: DocumentStatus) -> bool:
        """Return whether a status is that of the newest text, or of the deletion, that the state
        knows of.
        """
        kind = "DocumentDeleted" if status.deleted > status.version else "DocumentAdded"
        message = await self._log.newest(state.workspace, status.id, kind)
        sequence = max(status.deleted, status.version)
        is_there = state.texts[status.id].is_there
        return (
            message is not None
            and message.sequence == sequence <= state.position
            and is_there == (status.version > status.deleted)
        )

    async def _last_cut(self, workspace: str, id: str) -> int:
        message = await self._log.newest(workspace, id, "ChunksCreated")
        return message.sequence if message else 0

    async def _read_texts(self, state: WorkspaceAccess, id: str, retracted_to: int) -> None:
        moves = await read_moves(self._log, state.workspace, id, alone_to=retracted_to)
        moves = [move for move in moves if move.sequence <= state.position]
        if moves:
            state.read(id, moves[-1])

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
    state: WorkspaceAccess
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

    async def sees(self, id: str, sequence: int, /, version: int | None = None) -> bool:
        """See `VisibleHistory.sees`."""
        if id not in self.state.seen(self.viewer).ids:
            return False
        since = self.state.since.get(id, 0)
        if since == 0 or (since <= sequence and version is None):
            return True
        principals = frozenset(self.viewer.principals)
        moves = await self.moves.of(self.workspace, id, since)
        return admitted(moves, principals, sequence) and (
            version is None or text_admitted(moves, principals, version)
        )
