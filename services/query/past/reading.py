"""Keeps for a while what was read of the log and folded from it: the next look at the past is often a near one."""

import asyncio
from dataclasses import dataclass, field

from cachetools import TTLCache

from contracts import subjects
from contracts.folding.descriptions import SummaryLimits
from contracts.graph import Partition
from contracts.moments import microseconds
from runtime.bus.port import Log
from runtime.stores.graph.memory import MemoryGraph
from services.query.past.events import WorkspaceEvents
from services.query.past.points import sequence_at
from services.query.past.state import REVISION, PastState, state_at

MAX_WORKSPACES, MAX_STATES = 2, 4
"""Workspaces whose events, and states that are kept in memory."""

KEPT_SECONDS = 300.0
"""Seconds after which events are read anew: what was erased from the log meanwhile must not be shown for long."""


@dataclass
class Past:
    """The past of workspaces. One reader at a time: two would read the same."""

    log: Log
    limits: SummaryLimits
    _events: TTLCache[str, WorkspaceEvents] = field(default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS))
    _states: TTLCache[tuple[str, int], tuple[WorkspaceEvents, PastState]] = field(
        default_factory=lambda: TTLCache(MAX_STATES, KEPT_SECONDS)
    )
    _graphs: TTLCache[str, tuple[PastState, MemoryGraph]] = field(
        default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS)
    )
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def point(self, workspace: str, point: str) -> int:
        """See `sequence_at`."""
        return await sequence_at(self.log, workspace, point)

    async def time_of(self, workspace: str, sequence: int) -> int:
        """Return when the log took the workspace's event at this sequence, in microseconds since 1970; 0 for none."""
        message = await self.log.following(sequence - 1, subjects.of_workspace(workspace)) if sequence else None
        return microseconds(message.published_at) if message and message.sequence == sequence else 0

    async def events(self, workspace: str, until: int) -> WorkspaceEvents:
        """Return the events of a workspace, at least up to a sequence. Raises TooLarge, Unavailable."""
        async with self._lock:
            return await self._read(workspace, until)

    async def states(self, workspace: str, *sequences: int) -> list[PastState]:
        """Return the workspace as it was at these sequences. Raises what `events` raises."""
        async with self._lock:
            events = await self._read(workspace, max(sequences))
            return [await self._state(events, sequence) for sequence in sequences]

    async def graph(self, workspace: str, sequence: int) -> tuple[MemoryGraph, Partition]:
        """Return the graph as it was at a sequence, and its partition. Raises what `events` raises."""
        (state,) = await self.states(workspace, sequence)
        partition = Partition(workspace, REVISION)
        known = self._graphs.get(workspace)
        if known is None or known[0] is not state:
            graph = MemoryGraph()
            await graph.put(partition, list(state.entities.values()), list(state.relations.values()))
            known = self._graphs[workspace] = state, graph
        return known[1], partition

    async def _read(self, workspace: str, until: int) -> WorkspaceEvents:
        events = self._events.get(workspace)
        if events is None:
            events = WorkspaceEvents(workspace)
            await events.read(self.log, until)
            self._events[workspace] = events
        elif events.end < until:
            try:
                await events.read(self.log, until)
            except BaseException:
                # Some of what came since is noted already: the next one reads all of it.
                self._events.pop(workspace, None)
                raise
        return events

    async def _state(self, events: WorkspaceEvents, sequence: int) -> PastState:
        key = (events.workspace, sequence)
        known = self._states.get(key)
        if known is None or known[0] is not events:
            # In another thread: of many documents it takes seconds.
            known = events, await asyncio.to_thread(state_at, events, sequence, self.limits)
            self._states[key] = known
        return known[1]
