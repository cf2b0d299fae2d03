"""The routes about money: what was paid to models, and the budget of a workspace."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from contracts.events import BudgetPeriod, BudgetSet
from contracts.graph import Partition
from publishing.current_version import existing_id, is_known
from runtime.costs import report as reports
from runtime.costs.budget import BudgetUse, budget_use, read_budget, set_budget
from runtime.costs.report import CostSum, Grouping, cost_report, document_report
from services.gateway.auth.audit import note_details
from services.gateway.errors import no_document
from services.gateway.operations.dependencies import CostDependencies, CostDeps
from services.gateway.operations.scope import NotedReason
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace
from services.query.event_source import SOURCE
from services.query.status.port import Listing

router = APIRouter()


class CostTotals(BaseModel):
    """What was paid: `money` to models with a price; `unpriced` are tokens of others; `prompt`
    includes `cached`.
    """

    calls: int
    prompt: int
    cached: int
    completion: int
    seconds: float
    money: float | None
    unpriced: int
    saved_results: int
    saved_tokens: int
    saved_money: float | None
    batch_calls: int = Field(0, description="calls among them that were lines of batches")

    @classmethod
    def of(cls, cost_sum: CostSum) -> "CostTotals":
        """Return the sum as JSON has it."""
        return cls.model_validate(cost_sum.as_json())


class CostGroup(CostTotals):
    """The sum of all entries with one value: a day, a document, a stage or a model."""

    name: str


class BudgetState(BaseModel):
    """The budget of a workspace, and what was spent of it in its period; all of it null where none
    is set.
    """

    money: float | None = None
    tokens: int | None = None
    period: BudgetPeriod | None = None
    reason: str | None = None
    spent_money: float | None = None
    spent_tokens: int | None = None
    currency: str
    exceeded: str | None = Field(
        default=None, description="why extraction waits; null while it does not"
    )


class CostReport(BaseModel):
    """What a workspace has paid for its documents and its questions; the stages of questions begin
    with `query-`.
    """

    workspace: str
    currency: str
    total: CostTotals
    by: Grouping | None = None
    groups: list[CostGroup] = []
    documents: int | None = Field(
        default=None, description="with `by=document`: how many documents there are to pass over"
    )
    budget: BudgetState


class BudgetRequest(StrictModel):
    """A limit of money, of tokens, or both. What was set before no longer counts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"money": 25.0, "period": "month"}]})

    money: float | None = Field(default=None, ge=0, le=1e12)
    tokens: int | None = Field(default=None, ge=0, le=10**15)
    period: BudgetPeriod = "total"
    reason: str = Field(default="", max_length=1000)


@router.get("/cost", responses=error_responses(404))
async def cost(
    deps: CostDeps,
    workspace: Workspace,
    by: Annotated[Grouping | None, Query(description="sum up by this, too")] = None,
    document: Annotated[
        str, Query(max_length=512, description="only what this document cost")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="documents, with `by=document`")] = 100,
    offset: Annotated[int, Query(ge=0, description="newer documents to pass over")] = 0,
) -> CostReport:
    """Return what the workspace has paid to models for documents and questions, from the events in
    the log. By document: of the newest documents, and without a name what all others cost and what
    no single document caused.
    """
    id = document and await existing_id(deps.log, workspace=workspace, id=document)
    partition = await deps.partition(workspace)
    document_count = None
    if by == "document" and not id:
        report, document_count = await _by_document(deps, partition, limit, offset)
    else:
        entries = deps.ledger.entries(partition, id) if id else deps.ledger.sums(partition)
        report = await cost_report(entries, deps.prices, by)
    if id and report.total == CostSum() and not await is_known(deps.log, workspace, id):
        raise no_document(document)
    return CostReport(
        workspace=workspace,
        currency=deps.prices.currency,
        total=CostTotals.of(report.total),
        by=by,
        groups=[
            CostGroup.model_validate({"name": name, **cost_sum.as_json()})
            for name, cost_sum in report.groups.items()
        ],
        documents=document_count,
        budget=await budget_state(deps, workspace),
    )


async def _by_document(
    deps: CostDependencies, partition: Partition, limit: int, offset: int
) -> tuple[reports.CostReport, int]:
    """Return what the newest documents cost, and how many documents there are."""
    listing = Listing(order="created_at", descending=True, skip=offset, limit=limit)
    page = await deps.documents.page(partition, listing)
    ids = [status.id for status in page.documents]
    ledger = deps.ledger
    report = await document_report(
        ledger.sums(partition), ledger.entries_of(partition, ids), ids, deps.prices
    )
    return report, page.total


@router.get("/budget")
async def budget(deps: CostDeps, workspace: Workspace) -> BudgetState:
    """Return the budget of the workspace."""
    return await budget_state(deps, workspace)


@router.put("/budget")
async def put_budget(
    request: Request, body: BudgetRequest, deps: CostDeps, workspace: Workspace
) -> BudgetState:
    """Set the budget. Extraction that waits for it goes on within a minute, where the new one
    allows it.
    """
    note_details(
        request,
        money=str(body.money),
        tokens=str(body.tokens),
        period=body.period,
        reason=body.reason,
    )
    new_budget = BudgetSet(
        money=body.money, tokens=body.tokens, period=body.period, reason=body.reason
    )
    await set_budget(deps.log, workspace=workspace, budget=new_budget, source=SOURCE)
    return await budget_state(deps, workspace)


@router.delete("/budget")
async def delete_budget(deps: CostDeps, workspace: Workspace, reason: NotedReason) -> BudgetState:
    """Clear the budget: nothing limits what the workspace spends."""
    if await read_budget(deps.log, workspace):
        await set_budget(
            deps.log, workspace=workspace, budget=BudgetSet(reason=reason), source=SOURCE
        )
    return await budget_state(deps, workspace)


async def budget_state(deps: CostDependencies, workspace: str) -> BudgetState:
    """Return the budget of the workspace, and what was spent of it."""
    prices = deps.prices
    budget = await read_budget(deps.log, workspace)
    if budget is None:
        return BudgetState(currency=prices.currency)
    entries = deps.ledger.sums(await deps.partition(workspace))
    return _state(await budget_use(budget, entries, prices, datetime.now(UTC)))


def _state(use: BudgetUse) -> BudgetState:
    return BudgetState(
        **use.budget.model_dump(),
        spent_money=float(use.spent_costs.money) if use.spent_costs.money is not None else None,
        spent_tokens=use.spent_costs.tokens,
        currency=use.currency,
        exceeded=use.exceeded or None,
    )
