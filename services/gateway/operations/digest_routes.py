"""The routes about digests of what is live: ordering them, and what the last order found."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from runtime.projections.operator_orders import OperatorOrder
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.log_task_routes import LastTask, LogTaskBody, LogTaskStatus
from services.gateway.operations.rebuilding import order, read_task
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace

router = APIRouter()


class OrderedDigests(BaseModel):
    """Digests that are being made."""

    id: str
    workspace: str


class DigestStatus(BaseModel):
    """What became of the last order. `takes_orders`: whether a process is there that does."""

    last: LastTask | None = Field(
        description=(
            "its `result` has the digest of each projection, and in `counts` their rows by kind"
        )
    )
    workspace: str = Field(description="of which they are")
    takes_orders: bool


@router.get("/projections/digests")
async def projection_digests(operations: OperationDeps, _: WholeDeployment) -> DigestStatus:
    """Return the digests of the live generations that were ordered last, and of which workspace
    they are.
    """
    state = await read_task(operations.rebuilds, "digest")
    workspace = state.last_outcome.order.workspace if state.last_outcome else ""
    return DigestStatus(
        last=LogTaskStatus.of(state).last, workspace=workspace, takes_orders=state.takes_orders
    )


@router.post("/projections/digests", status_code=202, responses=error_responses(409))
async def order_digests(
    request: Request,
    operations: OperationDeps,
    principal: WholeDeployment,
    workspace: Workspace,
    body: LogTaskBody,
) -> OrderedDigests:
    """Order the digests of status, graph and vectors of the workspace, as `lightstream digest`
    makes them.

    All of their rows are read. 409 while another order is worked on; 503 where no operator process
    takes orders.
    """
    operator_order = OperatorOrder(
        "digest", "all", who=principal.name, reason=body.reason, workspace=workspace
    )
    note_details(request, reason=body.reason, order=operator_order.id)
    await order(operations.rebuilds, operator_order)
    return OrderedDigests(id=operator_order.id, workspace=workspace)
