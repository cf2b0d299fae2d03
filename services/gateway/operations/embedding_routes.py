"""The routes about the embedding model of one workspace: what another one would take, choosing it,
and going back to that of the whole stack.

An operator process does it by `lightstream embedding`, which reads the log and writes the vectors.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from contracts.graph import of_origin
from runtime.models.open import choosable_models
from runtime.projections.operator_orders import EmbeddingStep, OperatorOrder
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import OperationDeps, WorkspaceDeps
from services.gateway.operations.log_task_routes import LastTask, LogTaskStatus
from services.gateway.operations.rebuilding import order, read_task
from services.gateway.operations.scope import WholeDeployment
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace

router = APIRouter()


class EmbeddingBody(StrictModel):
    """The model that is wanted, and why; the audit log has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "multilingual", "reason": "the handbook is in German"}]
        }
    )

    model: str = Field(
        default="",
        max_length=200,
        pattern="^([^-].*)?$",
        description="as EMBEDDING_MODEL names it; empty: that of the whole stack again",
    )
    reason: str = Field(default="", max_length=1000)
    accept_worse: bool = Field(
        default=False, description="of `set`: go live although golden questions fare worse"
    )


class OrderedEmbedding(BaseModel):
    """A step that was begun; `GET /operations/embedding` says what became of it."""

    id: str
    step: EmbeddingStep


class LastEmbeddingOrder(LastTask):
    """What became of the last order. `result`: of an estimate texts, cached texts, calls and tokens
    of a paid model, and money; else the model that embeds now, with its generation.
    """

    step: str = Field(description="embedding-estimate or embedding-set")


class EmbeddingStatus(BaseModel):
    """The embedding model of the workspace. `chosen_model`: the one that was chosen for it, or for
    the origin of a branch; empty: it has that of the whole stack. `choices`: those that it can
    have. `takes_orders`: whether a process is there that does.
    """

    chosen_model: str
    choices: list[str]
    generation: int = Field(description="of the vectors that questions search")
    last: LastEmbeddingOrder | None
    takes_orders: bool


@router.get("/embedding")
async def embedding_model(
    operations: OperationDeps, deps: WorkspaceDeps, _: WholeDeployment, workspace: Workspace
) -> EmbeddingStatus:
    """Return which embedding model was chosen for the workspace, and what became of the last order
    about it. `GET /health` has the name of the model that embeds.
    """
    state_of_vectors = (await deps.pointers.read())[0]["vectors"]
    own_generation = of_origin(state_of_vectors.own_generations, workspace)
    state = await read_task(operations.rebuilds, "embedding", workspace)
    task = LogTaskStatus.of(state).last
    last_order = None
    if task is not None and state.last_outcome is not None:
        last_order = LastEmbeddingOrder(**task.model_dump(), step=state.last_outcome.order.step)
    return EmbeddingStatus(
        chosen_model=own_generation.model if own_generation else "",
        choices=choosable_models(deps.settings),
        generation=own_generation.generation if own_generation else state_of_vectors.live,
        last=last_order,
        takes_orders=state.takes_orders,
    )


@router.post("/embedding/{step}", status_code=202, responses=error_responses(409))
async def embedding_step(
    request: Request,
    operations: OperationDeps,
    principal: WholeDeployment,
    workspace: Workspace,
    body: EmbeddingBody,
    step: Annotated[Literal["estimate", "set"], Path(examples=["estimate"])],
) -> OrderedEmbedding:
    """Order that the workspace and its branches are embedded by a model of their own, or an
    estimate of what that takes. Questions search the former vectors until the new ones stand and
    the golden questions of the workspace fare no worse with them, or `accept_worse` is set.

    409 while another order or a rebuild is worked on; 503 where no operator process takes orders.
    """
    ordered_step: EmbeddingStep = "embedding-estimate" if step == "estimate" else "embedding-set"
    operator_order = OperatorOrder(
        ordered_step,
        "vectors",
        who=principal.name,
        reason=body.reason,
        workspace=workspace,
        embedding_model=body.model,
        accept_worse=body.accept_worse,
    )
    note_details(
        request, step=ordered_step, model=body.model, reason=body.reason, order=operator_order.id
    )
    await order(operations.rebuilds, operator_order)
    return OrderedEmbedding(id=operator_order.id, step=ordered_step)
