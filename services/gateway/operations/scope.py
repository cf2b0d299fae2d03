"""What an operation may touch: the workspace of the request, or the whole deployment."""

from typing import Annotated

from fastapi import Depends, Query, Request

from services.gateway.auth.audit import note_details
from services.gateway.auth.middleware import AuthError
from services.gateway.auth.permissions import Principal
from services.gateway.workspaces import Workspace


async def whole_deployment(request: Request) -> Principal:
    """Return who asks. Raises AuthError for credentials that are bound to workspaces."""
    principal: Principal = request.state.principal
    if not principal.permissions.covers_all:
        raise AuthError(
            403, "this concerns the whole deployment; these credentials are bound to workspaces"
        )
    return principal


async def chosen_workspace(
    request: Request,
    workspace: Workspace,
    all_workspaces: Annotated[
        bool, Query(description="of the whole deployment, not of one workspace")
    ] = False,
) -> str | None:
    """Return the workspace of the request, None for all of them. Raises AuthError where that is not
    permitted.
    """
    if not all_workspaces:
        return workspace
    await whole_deployment(request)
    return None


async def noted_reason(
    request: Request,
    reason: Annotated[str, Query(max_length=1000, description="why; the audit log has it")] = "",
) -> str:
    """Return why a request without a body is made, and have it in its audit line."""
    note_details(request, reason=reason)
    return reason


WholeDeployment = Annotated[Principal, Depends(whole_deployment)]
ChosenWorkspace = Annotated[str | None, Depends(chosen_workspace)]
NotedReason = Annotated[str, Depends(noted_reason)]
