"""The routes about rebuilds: how they stand, what one would take, and ordering a step."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel

from contracts.graph import PROJECTIONS, Projection
from runtime.projections.operator_orders import OperatorOrder, Step
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.rebuild_models import (
    OrderedStep,
    RebuildBody,
    RebuildStatus,
    What,
)
from services.gateway.operations.rebuilding import order, read_state
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest

router = APIRouter()


class RebuildPlan(BaseModel):
    """What a rebuild would read, make and drop. `seconds`: as long as the last one took; None
    without one.
    """

    targets: list[Projection]
    events: int
    seconds: float | None
    generations: dict[Projection, int]
    dropped: dict[Projection, int]


@router.get("/rebuild")
async def rebuild_status(operations: OperationDeps, _: WholeDeployment) -> RebuildStatus:
    """Return the rebuild under way, what waits for promotion, and what became of the last order."""
    return RebuildStatus.of(await read_state(operations.rebuilds))


@router.get("/rebuild/plan")
async def rebuild_plan(
    operations: OperationDeps,
    _: WholeDeployment,
    projection: What = "all",
    events_per_second: Annotated[int, Query(ge=0)] = 0,
) -> RebuildPlan:
    """Return what a rebuild would take; nothing is changed."""
    targets = PROJECTIONS if projection == "all" else (projection,)
    plan: dict[str, Any] = await operations.rebuilds.plan(targets, events_per_second)
    return RebuildPlan.model_validate(plan)


@router.post("/rebuild/{step}", status_code=202, responses=error_responses(409))
async def rebuild_step(
    request: Request,
    operations: OperationDeps,
    principal: WholeDeployment,
    body: RebuildBody,
    workspace: Workspace,
    step: Annotated[Step, Path(examples=["start"])],
) -> OrderedStep:
    """Order a step of a rebuild, as `lightstream rebuild` has it; `run` is all of them. `GET
    /operations/rebuild` says how far it is. 409 while another is under way, 503 where no operator
    process takes orders.
    """
    if body.questions and (step != "start" or body.projection not in ("vectors", "all")):
        raise BadRequest(
            "questions are for `start` of vectors or all: what waits is promoted afterwards"
        )
    asked_in = workspace if body.questions else ""
    operator_order = OperatorOrder(
        step, who=principal.name, workspace=asked_in, **body.model_dump()
    )
    note_details(request, projection=body.projection, reason=body.reason, order=operator_order.id)
    await order(operations.rebuilds, operator_order)
    return OrderedStep(id=operator_order.id, step=step, projection=body.projection)
