"""How the caller of a request sees places in the log, and what it may give as one."""

from typing import Annotated

from fastapi import Depends, Request

from services.query.api.context import Ctx, Workspace
from services.query.places import Places


async def caller_places(request: Request, workspace: Workspace) -> Places:
    """Return how the caller sees places: plain sequences for credentials of all workspaces only."""
    return request.app.state.auth.places_for(request.state.principal, workspace)


CallerPlaces = Annotated[Places, Depends(caller_places)]


async def end_of_log(ctx: Ctx, places: Places) -> int:
    """Return the sequence behind which is what comes from now on.

    For who does not see sequences it is that of its workspace's newest event: another number,
    whenever others did something, would tell as much.
    """
    return await ctx.log.last(places.workspace) if places.key else await ctx.feed.last_sequence()
