"""The past of the workspace that a request is about, as routes read it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from contracts.graph import Partition
from runtime.stores.graph.memory import MemoryGraph
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.caller_places import CallerPlaces
from services.gateway.connection import while_connected
from services.gateway.past.dependencies import PastDeps
from services.gateway.past.history import (
    EntityHistory,
    entity_history,
    older_statements,
    visible_history,
)
from services.gateway.past.points import sequence_of
from services.gateway.places import PLAIN, Places
from services.gateway.workspaces import Workspace
from services.query.past.events import WorkspaceEvents
from services.query.past.provenance import PastProvenance
from services.query.past.reading import Past
from services.query.past.state import PastState
from services.query.past.visible_state import visible_item, visible_state
from services.query.visibility.graph import BrowsedGraph, graph_seen_by
from services.query.visibility.port import Visibility, VisibilityAsOf
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True)
class PastReader:
    """Reads the past of one workspace as long as the client of a request waits.

    Each method raises what that of `Past` raises, and ClientDisconnect.
    """

    past: Past
    workspace: str
    request: Request
    places: Places = PLAIN

    async def point(self, point: str) -> int:
        """See `sequence_of`."""
        return await sequence_of(self.past, self.workspace, point, self.places)

    async def events(self, until: int) -> WorkspaceEvents:
        """See `Past.events`."""
        return await while_connected(self.request, self.past.events(self.workspace, until))

    async def states(self, *sequences: int) -> list[PastState]:
        """See `Past.states`."""
        return await while_connected(self.request, self.past.states(self.workspace, *sequences))

    async def graph(self, sequence: int) -> tuple[MemoryGraph, PastProvenance, Partition]:
        """See `Past.graph`: with where it comes from."""
        graph, partition = await while_connected(
            self.request, self.past.graph(self.workspace, sequence)
        )
        return graph, await self.past.provenance(self.workspace, sequence), partition


async def past_reader(
    request: Request, deps: PastDeps, workspace: Workspace, places: CallerPlaces
) -> PastReader:
    """Return the reader of a request."""
    return PastReader(deps.past, workspace, request, places)


WorkspacePast = Annotated[PastReader, Depends(past_reader)]


@dataclass(frozen=True)
class VisiblePastReader:
    """Reads the past of one workspace as the viewer of a request sees it; None sees all.

    Each method raises what that of `PastReader` raises.
    """

    reader: PastReader
    viewer: Viewer | None
    visibility: Visibility

    @property
    def places(self) -> Places:
        """Return how the caller sees places in the log."""
        return self.reader.places

    async def point(self, point: str) -> int:
        """See `sequence_of`."""
        return await self.reader.point(point)

    async def states(self, *sequences: int) -> list[PastState]:
        """See `Past.states`."""
        states = await self.reader.states(*sequences)
        if self.viewer is None:
            return states
        history = await self.visibility.history(self.reader.workspace, self.viewer)
        visible = [await history.at(state.sequence) for state in states]
        return [
            await asyncio.to_thread(visible_state, state, documents.ids)
            for state, documents in zip(states, visible, strict=True)
        ]

    async def graph(self, sequence: int) -> tuple[BrowsedGraph, Partition]:
        """See `Past.graph`."""
        graph, provenance, partition = await self.reader.graph(sequence)
        visibility = VisibilityAsOf(self.visibility, sequence)
        workspace = self.reader.workspace
        return await graph_seen_by(self.viewer, graph, provenance, visibility, workspace), partition

    async def entity_history(self, sequence: int, name: str) -> EntityHistory:
        """See `entity_history`: up to a sequence."""
        (state,) = await self.reader.states(sequence)
        history = entity_history(await self.reader.events(sequence), state, name)
        if self.viewer is None:
            return history
        visible = await self.visibility.history(self.reader.workspace, self.viewer)
        ids = (await visible.at(state.sequence)).ids
        hidden_statements = {
            (event.document_id, event.sequence)
            for event in older_statements(history)
            if not await visible.sees(event.document_id, event.sequence, event.version)
        }
        entity = state.entities.get(name)
        exists = entity is not None and visible_item(state, (name,), entity, ids) is not None
        return visible_history(history, ids, hidden_statements, exists=exists)


async def visible_past_reader(
    past: WorkspacePast, deps: PastDeps, viewer: CurrentViewer
) -> VisiblePastReader:
    """Return the reader of a request that shows what its viewer sees."""
    return VisiblePastReader(past, viewer, deps.visibility)


VisiblePast = Annotated[VisiblePastReader, Depends(visible_past_reader)]
