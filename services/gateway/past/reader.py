"""The past of the workspace that a request is about, as routes read it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from contracts.graph import Partition
from runtime.stores.graph.memory import MemoryGraph
from services.gateway.caller_places import CallerPlaces
from services.gateway.connection import while_connected
from services.gateway.past.dependencies import PastDeps
from services.gateway.past.points import sequence_of
from services.gateway.places import PLAIN, Places
from services.gateway.workspaces import Workspace
from services.query.past.events import WorkspaceEvents
from services.query.past.reading import Past
from services.query.past.state import PastState


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

    async def graph(self, sequence: int) -> tuple[MemoryGraph, Partition]:
        """See `Past.graph`."""
        return await while_connected(self.request, self.past.graph(self.workspace, sequence))


async def past_reader(
    request: Request, deps: PastDeps, workspace: Workspace, places: CallerPlaces
) -> PastReader:
    """Return the reader of a request."""
    return PastReader(deps.past, workspace, request, places)


WorkspacePast = Annotated[PastReader, Depends(past_reader)]
