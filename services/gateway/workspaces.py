"""The workspace of a request."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Request

from contracts.envelope import Header as Attributes
from contracts.ids import WORKSPACE_PATTERN


@dataclass(frozen=True)
class DefaultWorkspace:
    """The workspace of requests that name none."""

    name: str


def _workspace_header(header: str) -> Any:
    # For the OpenAPI document only: AuthMiddleware reads the header, and `checked_workspace` checks
    # the value.
    schema = {"pattern": f"^$|{WORKSPACE_PATTERN}", "examples": ["default"]}
    return Header(alias=header, description="the workspace", json_schema_extra=schema)


# A coroutine, though it awaits nothing: FastAPI runs a plain function in another thread, which
# costs a millisecond.
async def workspace(
    request: Request,
    _lightrag_workspace: Annotated[str | None, _workspace_header("lightrag-workspace")] = None,
    _x_workspace: Annotated[str | None, _workspace_header("x-workspace")] = None,
) -> str:
    """Return the workspace of a request; AuthMiddleware has read its headers and checked the
    permissions.
    """
    return checked_workspace(request)


def checked_workspace(request: Request) -> str:
    """Return the workspace that AuthMiddleware permitted. Raises HTTPException for a name that none
    can have.
    """
    name: str = request.state.workspace
    try:
        Attributes(id="-", source="-", type="-", workspace=name)
    except ValueError:
        raise HTTPException(
            422,
            (
                "workspace: 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or "
                "digit, not with 'x-'"
            ),
        ) from None
    return name


Workspace = Annotated[str, Depends(workspace)]
