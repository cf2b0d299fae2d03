"""How the caller of a request sees places in the log, and what it may give as one."""

from typing import Annotated

from fastapi import Depends, Request

from runtime.bus.port import Log
from services.gateway.places import Places
from services.gateway.workspaces import Workspace


async def caller_places(request: Request, workspace: Workspace) -> Places:
    """Return how the caller sees places: plain sequences for credentials of all workspaces only."""
    return request.app.state.auth.places_for(request.state.principal, workspace)


CallerPlaces = Annotated[Places, Depends(caller_places)]


async def end_of_log(log: Log, places: Places) -> int:
    """Return the sequence behind which is what comes from now on.

    For who does not see sequences it is that of its workspace's newest event: another number,
    whenever others did something, would tell as much.
    """
    workspace = places.workspace
    return await log.last(workspace) if places.key else await log.end_of(workspace)
