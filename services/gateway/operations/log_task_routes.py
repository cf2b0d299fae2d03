"""The routes about audits and backups of the log: ordering one, and what became of the last."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from runtime.projections.operator_orders import LogTask, OperatorOrder
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.rebuilding import TaskState, order, read_task
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel

router = APIRouter()

TaskName = Annotated[LogTask, Path(examples=["audit"])]


class LogTaskBody(StrictModel):
    """Why it is ordered; the audit log has it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "before the upgrade"}]})

    reason: str = Field(default="", max_length=1000, examples=["before the upgrade"])


class OrderedTask(BaseModel):
    """A task that was begun."""

    id: str
    task: LogTask


class LastTask(BaseModel):
    """What became of the last order; `interrupted` where the process that worked on it ended before
    it.
    """

    id: str
    who: str
    reason: str
    state: Literal["running", "done", "failed", "interrupted"]
    started: str
    ended: str
    error: str = Field(description="of an audit also the first of the problems that it found")
    result: dict[str, Any] = Field(
        description="what the command says, such as events, and at most 20 problems"
    )


class LogTaskStatus(BaseModel):
    """How a task stands. `takes_orders`: whether a process is there that does."""

    last: LastTask | None
    takes_orders: bool

    @classmethod
    def of(cls, state: TaskState) -> "LogTaskStatus":
        """Return it as the API shows it."""
        outcome = state.last_outcome
        if outcome is None:
            return cls(last=None, takes_orders=state.takes_orders)
        last_task = LastTask(
            id=outcome.order.id,
            who=outcome.order.who,
            reason=outcome.order.reason,
            state="interrupted" if state.is_interrupted else outcome.state,
            started=outcome.started,
            ended=outcome.ended,
            error=outcome.error,
            result=dict(outcome.result),
        )
        return cls(last=last_task, takes_orders=state.takes_orders)


@router.get("/log/{task}")
async def log_task_status(
    operations: OperationDeps, _: WholeDeployment, task: TaskName
) -> LogTaskStatus:
    """Return what became of the last audit or backup that was ordered."""
    return LogTaskStatus.of(await read_task(operations.rebuilds, task))


@router.post("/log/{task}", status_code=202, responses=error_responses(409))
async def log_task(
    request: Request,
    operations: OperationDeps,
    principal: WholeDeployment,
    body: LogTaskBody,
    task: TaskName,
) -> OrderedTask:
    """Order an audit of the log, or a backup into the folder of the operator process
    (`BACKUP_DIR`).

    `GET` of the same path says what became of it. 409 while another order is worked on, or without
    such a folder; 503 where no operator process takes orders.
    """
    operator_order = OperatorOrder(task, "all", who=principal.name, reason=body.reason)
    note_details(request, task=task, reason=body.reason, order=operator_order.id)
    await order(operations.rebuilds, operator_order)
    return OrderedTask(id=operator_order.id, task=task)
