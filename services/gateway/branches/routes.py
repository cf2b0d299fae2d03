"""The routes about branches. Making, promoting and dropping one is an operator's command."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request

from publishing.branches import roll_back
from runtime.branches import promoted_branch, read_branches
from runtime.bus.port import Log
from services.gateway.auth.audit import note_details
from services.gateway.branches.models import BranchEntry, RollbackRequest, RolledBack
from services.gateway.dependencies import depends_on
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.event_source import SOURCE

router = APIRouter(prefix="/branches", tags=["operations"], responses=error_responses())


@dataclass(frozen=True)
class BranchDependencies:
    """The log, which has the branches."""

    log: Log


BranchDeps = Annotated[BranchDependencies, depends_on(BranchDependencies)]


@router.get("")
async def branches(deps: BranchDeps, workspace: Workspace) -> list[BranchEntry]:
    """Return the branches of the workspace, the oldest first."""
    promoted_name = await promoted_branch(deps.log, workspace)
    return [
        BranchEntry.of(branch, is_promoted=branch.name == promoted_name)
        for branch in await read_branches(deps.log, workspace)
    ]


@router.post("/rollback")
async def roll_back_branch(
    request: Request, body: RollbackRequest, deps: BranchDeps, workspace: Workspace
) -> RolledBack:
    """Let the workspace answer itself again, in place of the branch that was promoted."""
    note_details(request, reason=body.reason)
    return RolledBack(rolled_back=await roll_back(deps.log, workspace, body.reason, SOURCE))
