"""The routes about figures that nobody has described, or another model: an estimate, and having
them described.

An operator process does it by `lightstream figures describe`, which reads the log.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from runtime.projections.operator_orders import FigureStep, OperatorOrder
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.log_task_routes import LastTask, LogTaskStatus
from services.gateway.operations.rebuilding import order, read_task
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace

router = APIRouter()

DocumentName = Annotated[str, Field(min_length=1, max_length=1024, pattern="^[^-]")]


class FiguresBody(StrictModel):
    """Whose figures are meant, and why; the audit log has it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"documents": ["doc-5a5f1c9e2f"]}]})

    documents: list[DocumentName] = Field(
        default=[], max_length=500, description="ids or file names; none: all of the workspace"
    )
    again: bool = Field(
        default=False,
        description="those that another model, prompt or language has described, too",
    )
    reason: str = Field(default="", max_length=1000)


class OrderedFigures(BaseModel):
    """A step that was begun; `GET /operations/figures` says what became of it."""

    id: str
    step: FigureStep


class LastFiguresOrder(LastTask):
    """What became of the last order. `result`: figures, and of an estimate calls and tokens of each
    model, and money; null where no model has a price.
    """

    step: str = Field(description="figures-estimate or figures-describe")


class FiguresStatus(BaseModel):
    """The last order about figures of the workspace. `takes_orders`: whether a process is there
    that does.
    """

    last: LastFiguresOrder | None
    takes_orders: bool


@router.get("/figures")
async def figure_orders(
    operations: OperationDeps, _: WholeDeployment, workspace: Workspace
) -> FiguresStatus:
    """Return what became of the last order about figures of the workspace."""
    state = await read_task(operations.rebuilds, "figures", workspace)
    task = LogTaskStatus.of(state).last
    if task is None or state.last_outcome is None:
        return FiguresStatus(last=None, takes_orders=state.takes_orders)
    step = state.last_outcome.order.step
    return FiguresStatus(
        last=LastFiguresOrder(**task.model_dump(), step=step), takes_orders=state.takes_orders
    )


@router.post("/figures/{step}", status_code=202, responses=error_responses(409))
async def figure_step(
    request: Request,
    operations: OperationDeps,
    principal: WholeDeployment,
    workspace: Workspace,
    body: FiguresBody,
    step: Annotated[Literal["estimate", "describe"], Path(examples=["estimate"])],
) -> OrderedFigures:
    """Order that figures are described that nobody has described, by the model of `VLM_MODEL`, or
    an estimate of what that may cost. With `again` those that another model has described, too:
    their documents get a new version.

    409 while another order is worked on; 503 where no operator process takes orders.
    """
    ordered_step: FigureStep = "figures-estimate" if step == "estimate" else "figures-describe"
    operator_order = OperatorOrder(
        ordered_step,
        "all",
        who=principal.name,
        reason=body.reason,
        workspace=workspace,
        documents=body.documents,
        again=body.again,
    )
    note_details(request, step=ordered_step, reason=body.reason, order=operator_order.id)
    await order(operations.rebuilds, operator_order)
    return OrderedFigures(id=operator_order.id, step=ordered_step)
