"""Bodies and answers of the routes about branches."""

from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from contracts.chunking import Chunking
from runtime.branch_comparison import Difference
from runtime.branch_options import NOTHING_OTHER, BranchOptions
from runtime.branches import Branch
from services.gateway.operations.cost_routes import CostTotals
from services.gateway.operations.log_task_routes import LastTask, LogTaskStatus
from services.gateway.operations.rebuilding import TaskState
from services.gateway.strict_model import StrictModel

EXAMPLE: dict[str, Any] = {
    "name": "small",
    "extract_model": "small-1",
    "budget": 5.0,
    "reason": "is the cheap one good enough?",
}


class BranchEntry(BaseModel):
    """A branch, and what is other in it; empty and null stand for what is as in its origin."""

    name: str
    workspace: str = Field(description="ask it by this workspace")
    origin: str
    created_at: AwareDatetime
    actor: str
    extract_model: str
    prompt: str
    entity_types: str
    chunking: Chunking | None = None
    sample: int | None = Field(default=None, description="so many documents of it; null: all")
    reason: str
    promoted: bool = Field(description="it answers for its origin")

    @classmethod
    def of(cls, branch: Branch, *, is_promoted: bool) -> Self:
        """Return the branch as the log has it."""
        event = branch.event
        settings = event.settings
        return cls(
            name=branch.name,
            workspace=branch.workspace,
            origin=branch.origin,
            created_at=branch.at,
            actor=branch.actor,
            extract_model=settings.extract_model,
            prompt=settings.prompt,
            entity_types=settings.entity_types,
            chunking=settings.chunking,
            sample=event.sample,
            reason=event.reason,
            promoted=is_promoted,
        )


class BranchRequest(StrictModel, BranchOptions):
    """A branch that is asked for, and why."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    reason: str = Field(default="", max_length=1000)

    @model_validator(mode="after")
    def _differs(self) -> Self:
        if not self.has_difference:
            raise ValueError(NOTHING_OTHER)
        return self

    def ordered(self) -> BranchOptions:
        """Return it as an operator process takes it."""
        return BranchOptions.model_construct(**self.model_dump(exclude={"reason"}))


class BranchOrdered(BaseModel):
    """A step that was begun; `GET /branches/orders` says what became of it."""

    id: str
    branch: str


class LastBranchOrder(LastTask):
    """What became of the last order about a branch. `result` of an estimate: documents, chunks,
    calls and tokens of each model, and money; null where no model has a price.
    """

    step: str = Field(description="branch-estimate, branch-create or branch-drop")
    branch: str


class BranchOrders(BaseModel):
    """The last order about a branch of the workspace. `takes_orders`: whether a process is there
    that does.
    """

    last: LastBranchOrder | None
    takes_orders: bool

    @classmethod
    def of(cls, state: TaskState) -> Self:
        """Return it as the API shows it."""
        status = LogTaskStatus.of(state)
        outcome = state.last_outcome
        if outcome is None or outcome.order.branch is None or status.last is None:
            return cls(last=None, takes_orders=status.takes_orders)
        last_order = LastBranchOrder(
            **status.last.model_dump(), step=outcome.order.step, branch=outcome.order.branch.name
        )
        return cls(last=last_order, takes_orders=status.takes_orders)


class BranchStatus(BranchEntry):
    """A branch with how far it is, and what models were paid for its documents."""

    status_counts: dict[str, int]
    cost: CostTotals
    currency: str


class BranchDifference(BaseModel):
    """How one kind of things differs, with names of what the branch alone has, of what its origin
    alone has, and of what they say otherwise.
    """

    appeared: int
    went: int
    changed: int
    same: int
    appeared_names: list[str]
    went_names: list[str]
    changed_names: list[str]

    @classmethod
    def of(cls, difference: Difference, limit: int) -> Self:
        """Return it with at most so many names of each kind."""
        return cls.model_validate(difference.as_json(limit))


class BranchComparison(BaseModel):
    """How the graph of a branch differs from that of its origin, and what models were paid for the
    documents of both.
    """

    entities: BranchDifference
    relations: BranchDifference
    origin_cost: CostTotals
    branch_cost: CostTotals
    currency: str


class PromotionRequest(StrictModel):
    """Which run of the golden questions on the branch counts, and why it is to answer."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"golden_run": "", "reason": "as good, and cheaper"}]}
    )

    golden_run: str = Field(
        default="", max_length=64, description="id of the run; empty without golden questions"
    )
    accept_worse: bool = Field(default=False, description="also where golden questions fare worse")
    reason: str = Field(default="", max_length=1000)


class Promoted(BaseModel):
    """The branch that answers now, and how its golden questions fared; null without any."""

    promoted: str
    golden: str | None


class RollbackRequest(StrictModel):
    """Why the workspace is to answer itself again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "crews are missing"}]})

    reason: str = Field(default="", max_length=1000)


class RolledBack(BaseModel):
    """The branch that answered, and does no more."""

    rolled_back: str
