"""Keeps for a while what was read of the log and folded from it: the next look at the past is often
a near one.
"""

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from cachetools import TTLCache

from contracts import subjects
from contracts.graph import Partition
from contracts.moments import microseconds
from knowledge.descriptions import SummaryLimits
from runtime.bus.points import sequence_at
from runtime.bus.port import Log
from runtime.errors import InvalidInput
from runtime.stores.graph.memory import MemoryGraph
from services.query.errors import BadRequest, TooLarge
from services.query.past.events import WorkspaceEvents
from services.query.past.present import Present, PresentPast
from services.query.past.provenance import PastProvenance
from services.query.past.sizes import EventSizes
from services.query.past.state import REVISION, PastState, state_at
from services.query.past.turns import PastTurns

MAX_WORKSPACES = 2
MAX_STATES = 4
MAX_REFUSALS = 1000
"""Workspaces whose events, states, and workspaces whose refusals are kept in memory."""

KEPT_SECONDS = 300.0
"""Seconds after which events are read anew: what was erased from the log meanwhile must not be
shown for long.
"""


MAX_BYTES = 64 * 1024 * 1024
"""Bytes of events of one workspace that are read for a question about its past."""


def _too_large(workspace: str) -> TooLarge:
    return TooLarge(
        f"workspace {workspace!r} has more than {MAX_BYTES >> 20} MiB of events by then: "
        "too much to answer from in memory; ask of an earlier moment, or of now without `as_of`"
    )


@dataclass
class Past:
    """The past of workspaces. One reader of a workspace at a time: two would read the same.

    A workspace whose past is too large is remembered with the first sequence at which it is, and
    refused unread.
    """

    log: Log
    limits: SummaryLimits
    present_state: Present | None = None
    """Gives pasts of more events than are read; None: they are refused."""
    _presents: TTLCache[tuple[str, int], tuple[PresentPast, PastState]] = field(
        default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS)
    )
    _events: TTLCache[str, WorkspaceEvents] = field(
        default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS)
    )
    _states: TTLCache[tuple[str, int], tuple[WorkspaceEvents, PastState]] = field(
        default_factory=lambda: TTLCache(MAX_STATES, KEPT_SECONDS)
    )
    _graphs: TTLCache[str, tuple[PastState, MemoryGraph]] = field(
        default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS)
    )
    _refusals: TTLCache[str, tuple[int, str]] = field(
        default_factory=lambda: TTLCache(MAX_REFUSALS, KEPT_SECONDS)
    )
    _refused_presents: TTLCache[tuple[str, int], str] = field(
        default_factory=lambda: TTLCache(MAX_REFUSALS, KEPT_SECONDS)
    )
    _turns: PastTurns = field(default_factory=PastTurns)
    _sizes: EventSizes = field(init=False)

    def __post_init__(self) -> None:
        self._sizes = EventSizes(self.log, MAX_BYTES)

    async def point(self, workspace: str, point: str) -> int:
        """See `sequence_at`. Raises BadRequest where it finds no place."""
        try:
            return await sequence_at(self.log, workspace, point)
        except InvalidInput as error:
            raise BadRequest(str(error)) from None

    async def time_of(self, workspace: str, sequence: int) -> int:
        """Return when the log took the workspace's event at this sequence, in microseconds since
        1970; 0 for none.
        """
        message = (
            await self.log.following(sequence - 1, subjects.of_workspace(workspace))
            if sequence
            else None
        )
        return microseconds(message.published_at) if message and message.sequence == sequence else 0

    async def size(self, workspace: str, sequence: int) -> int:
        """Return the bytes of the events of a past; any number above `MAX_BYTES` means more than
        that.

        Raises TooLarge where they are more than are read, and there is no present to read it from.
        """
        async with self._turns.of_workspace(workspace):
            size = await self._sizes.until(workspace, sequence)
        if size > MAX_BYTES and self.present_state is None:
            raise _too_large(workspace)
        return size

    async def of_present(self, workspace: str, sequence: int) -> tuple[PresentPast, PastState]:
        """Return a past that was read from the present, and its state, which has no documents.

        Raises TooLarge, Unavailable.
        """
        async with self._turns.of_workspace(workspace):
            return await self._of_present(workspace, sequence)

    async def events(self, workspace: str, until: int) -> WorkspaceEvents:
        """Return the events of a workspace, at least up to a sequence. Raises TooLarge,
        Unavailable.
        """
        async with self._turns.of_workspace(workspace):
            return await self._read(workspace, until)

    async def states(self, workspace: str, *sequences: int) -> list[PastState]:
        """Return the workspace as it was at these sequences. Raises what `events` raises."""
        async with self._turns.of_workspace(workspace):
            events = await self._read(workspace, max(sequences))
            return [await self._state(events, sequence) for sequence in sequences]

    async def graph(self, workspace: str, sequence: int) -> tuple[MemoryGraph, Partition]:
        """Return the graph as it was at a sequence, and its partition. Raises what `events`
        raises.
        """
        state = await self._state_of_graph(workspace, sequence)
        partition = Partition(workspace, REVISION)
        cached_graph = self._graphs.get(workspace)
        if cached_graph is None or cached_graph[0] is not state:
            graph = MemoryGraph()
            await graph.put(
                partition, list(state.entities.values()), list(state.relations.values())
            )
            cached_graph = self._graphs[workspace] = state, graph
        return cached_graph[1], partition

    async def provenance(self, workspace: str, sequence: int) -> PastProvenance:
        """Return where what `graph` returns comes from. Raises what `events` raises."""
        return PastProvenance(await self._state_of_graph(workspace, sequence))

    async def _state_of_graph(self, workspace: str, sequence: int) -> PastState:
        if self.present_state and await self.size(workspace, sequence) > MAX_BYTES:
            # What does not fit in memory with the texts may fit without them.
            with suppress(TooLarge):
                return (await self.of_present(workspace, sequence))[1]
        return (await self.states(workspace, sequence))[0]

    async def _of_present(self, workspace: str, sequence: int) -> tuple[PresentPast, PastState]:
        key = (workspace, sequence)
        if key in self._presents:
            return self._presents[key]
        if refusal := self._refused_presents.get(key):
            raise TooLarge(refusal)
        if self.present_state is None:
            raise _too_large(workspace)
        async with self._turns.of_size(workspace, MAX_BYTES):
            try:
                past = await self.present_state.at(workspace, sequence)
            except TooLarge as error:
                self._refused_presents[key] = str(error)
                raise
            self._presents[key] = past, await self._folded(past.events, sequence)
        return self._presents[key]

    async def _read(self, workspace: str, until: int) -> WorkspaceEvents:
        first_refused, refusal = self._refusals.get(workspace, (until + 1, ""))
        if first_refused <= until:
            raise TooLarge(refusal)
        events = self._events.get(workspace)
        if events is not None and events.end >= until:
            return events
        size = await self._sizes.until(workspace, until)
        async with self._turns.of_size(workspace, size):
            return await self._read_on(events or WorkspaceEvents(workspace), until)

    async def _read_on(self, events: WorkspaceEvents, until: int) -> WorkspaceEvents:
        # Of a reading that ends early some events are noted already: the next one begins anew.
        self._events.pop(events.workspace, None)
        try:
            await events.read(self.log, until)
        except TooLarge as error:
            self._refusals[events.workspace] = events.exceeded_at or until, str(error)
            raise
        self._events[events.workspace] = events
        return events

    async def _state(self, events: WorkspaceEvents, sequence: int) -> PastState:
        key = (events.workspace, sequence)
        cached_state = self._states.get(key)
        if cached_state is None or cached_state[0] is not events:
            cached_state = events, await self._folded(events, sequence)
            self._states[key] = cached_state
        return cached_state[1]

    async def _folded(self, events: WorkspaceEvents, sequence: int) -> PastState:
        """Fold in another thread: of many documents it takes seconds. It stops when nobody waits
        any more.
        """
        abandon = threading.Event()
        try:
            return await asyncio.to_thread(state_at, events, sequence, self.limits, abandon)
        finally:
            abandon.set()
