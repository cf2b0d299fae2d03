"""The routes that order branches: estimating, making and dropping one. An operator process does it
by the command of that name: it has the settings of extraction and may erase events, which the
gateway has not and may not.

Whoever orders has credentials of the whole deployment, as for every order: a branch may name any
model at the operator's endpoint, and while one order is worked on there is no other.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from publishing.branches import refuse_name, refuse_promoted
from runtime.branch_options import BranchOptions
from runtime.branches import read_branch
from runtime.projections.operator_orders import BranchStep, OperatorOrder
from services.gateway.auth.audit import note_details
from services.gateway.branches.dependencies import BranchDeps, BranchName
from services.gateway.branches.models import BranchOrdered, BranchOrders, BranchRequest
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.rebuilding import Rebuilds, order, read_task
from services.gateway.operations.scope import NotedReason, WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace

router = APIRouter(prefix="/branches", tags=["operations"], responses=error_responses())


@dataclass(frozen=True)
class BranchOrdering:
    """Orders steps of branches of one workspace, for one principal."""

    request: Request
    rebuilds: Rebuilds
    who: str
    workspace: str

    async def begin(self, step: BranchStep, branch: BranchOptions, reason: str) -> BranchOrdered:
        """Order a step, and return once it is begun. Raises what `order` raises."""
        operator_order = OperatorOrder(
            step, "all", who=self.who, reason=reason, workspace=self.workspace, branch=branch
        )
        note_details(self.request, branch=branch.name, reason=reason, order=operator_order.id)
        await order(self.rebuilds, operator_order)
        return BranchOrdered(id=operator_order.id, branch=branch.name)


async def branch_ordering(
    request: Request, operations: OperationDeps, principal: WholeDeployment, workspace: Workspace
) -> BranchOrdering:
    """Return what orders for the request. Raises AuthError for credentials that are bound to
    workspaces.
    """
    return BranchOrdering(request, operations.rebuilds, principal.name, workspace)


Ordering = Annotated[BranchOrdering, Depends(branch_ordering)]


@router.get("/orders")
async def branch_orders(operations: OperationDeps, workspace: Workspace) -> BranchOrders:
    """Return what became of the last order about a branch of the workspace."""
    return BranchOrders.of(await read_task(operations.rebuilds, "branch", workspace))


@router.post("/estimate", status_code=202, responses=error_responses(409))
async def estimate_branch(
    body: BranchRequest, deps: BranchDeps, ordering: Ordering
) -> BranchOrdered:
    """Order an estimate of what a branch may cost; nothing is created. `GET /branches/orders` has
    it once it is made.
    """
    await refuse_name(deps.log, ordering.workspace, body.name)
    return await ordering.begin("branch-estimate", body.ordered(), body.reason)


@router.post("", status_code=202, responses=error_responses(409))
async def create_branch(body: BranchRequest, deps: BranchDeps, ordering: Ordering) -> BranchOrdered:
    """Order a branch: the documents are extracted once more with other settings, beside the live
    graph, and models are paid for it up to the budget.
    """
    await refuse_name(deps.log, ordering.workspace, body.name)
    return await ordering.begin("branch-create", body.ordered(), body.reason)


@router.post("/{name}/drop", status_code=202, responses=error_responses(404, 409))
async def drop_branch(
    name: BranchName, deps: BranchDeps, ordering: Ordering, reason: NotedReason
) -> BranchOrdered:
    """Order that a branch is dropped: its events, its texts and what every store holds of it. There
    is no way back.
    """
    # One that was dropped, but not to the end, is dropped again.
    branch = await read_branch(deps.log, ordering.workspace, name, with_ended=True)
    await refuse_promoted(deps.log, ordering.workspace, branch.name)
    return await ordering.begin("branch-drop", BranchOptions(name=name), reason)
