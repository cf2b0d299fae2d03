"""The routes about branches: which there are, how far each is and what it changes, and having one
answer. Models are paid and events are erased by an operator process: see `order_routes`.
"""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Body, Query, Request

from publishing.branch_promotion import promote, refuse_incomplete, refuse_unasked
from publishing.branches import roll_back
from runtime.branch_comparison import compare_graphs
from runtime.branches import promoted_branch, read_branch, read_branches
from runtime.costs.port import CostEntry
from runtime.costs.report import cost_report
from runtime.golden.comparing import GateResult, WorseAnswers
from services.gateway.auth.audit import note_details
from services.gateway.branches.dependencies import BranchDeps, BranchName
from services.gateway.branches.models import (
    BranchComparison,
    BranchDifference,
    BranchEntry,
    BranchStatus,
    Promoted,
    PromotionRequest,
    RollbackRequest,
    RolledBack,
)
from services.gateway.connection import while_connected
from services.gateway.documents.models import all_counts
from services.gateway.operations.cost_routes import CostTotals
from services.gateway.operations.dependencies import CostDependencies, CostDeps
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import Conflict
from services.query.event_source import SOURCE

router = APIRouter(prefix="/branches", tags=["operations"], responses=error_responses())


@router.get("")
async def branches(deps: BranchDeps, workspace: Workspace) -> list[BranchEntry]:
    """Return the branches of the workspace, the oldest first."""
    promoted_name = await promoted_branch(deps.log, workspace)
    return [
        BranchEntry.of(branch, is_promoted=branch.name == promoted_name)
        for branch in await read_branches(deps.log, workspace)
    ]


@router.get("/{name}/status", responses=error_responses(404))
async def branch_status(
    name: BranchName, deps: BranchDeps, costs: CostDeps, workspace: Workspace
) -> BranchStatus:
    """Return how far a branch is, and what it has cost."""
    branch = await read_branch(deps.log, workspace, name)
    is_promoted = await promoted_branch(deps.log, workspace) == name
    entry = BranchEntry.of(branch, is_promoted=is_promoted)
    counts = await deps.documents.counts(await deps.status(branch.workspace))
    return BranchStatus(
        **entry.model_dump(),
        status_counts=all_counts(counts),
        cost=await _cost_of_documents(costs, branch.workspace),
        currency=costs.prices.currency,
    )


@router.get("/{name}/comparison", responses=error_responses(404))
async def compare_branch(
    request: Request,
    name: BranchName,
    deps: BranchDeps,
    costs: CostDeps,
    workspace: Workspace,
    limit: Annotated[int, Query(ge=0, le=10_000, description="names listed of each kind")] = 10,
) -> BranchComparison:
    """Return entities and relations that appeared, went and changed in a branch, and what both have
    cost.

    Both graphs are read whole, one comparison after the other, while the client waits.
    """
    branch = await read_branch(deps.log, workspace, name)
    generation = (await deps.pointers.live("graph")).graph
    async with deps.turns.hold(workspace):
        comparing = compare_graphs(deps.graph, branch, generation)
        entities, relations = await while_connected(request, comparing)
    return BranchComparison(
        entities=BranchDifference.of(entities, limit),
        relations=BranchDifference.of(relations, limit),
        origin_cost=await _cost_of_documents(costs, branch.origin),
        branch_cost=await _cost_of_documents(costs, branch.workspace),
        currency=costs.prices.currency,
    )


@router.post("/{name}/promote", responses=error_responses(404, 409))
async def promote_branch(
    request: Request,
    name: BranchName,
    body: PromotionRequest,
    deps: BranchDeps,
    workspace: Workspace,
) -> Promoted:
    """Let a branch answer for the workspace. Where there are golden questions, `POST /golden-runs`
    asks the branch before; 409 where it fares worse than what was live and `accept_worse` is not
    given.
    """
    note_details(request, branch=name, golden_run=body.golden_run, reason=body.reason)
    branch = await read_branch(deps.log, workspace, name)
    refuse_incomplete(branch, await deps.documents.counts(await deps.status(branch.workspace)))
    await refuse_unasked(deps.log, branch, body.golden_run)

    async def decide(_: GateResult) -> bool:
        return body.accept_worse

    try:
        result = await promote(deps.log, branch, body.golden_run, body.reason, SOURCE, decide)
    except WorseAnswers as error:
        raise Conflict(str(error)) from None
    return Promoted(promoted=name, golden=str(result) if result else None)


@router.post("/rollback")
async def roll_back_branch(
    request: Request,
    deps: BranchDeps,
    workspace: Workspace,
    body: Annotated[
        RollbackRequest | None, Body(examples=[{"reason": "crews are missing"}])
    ] = None,
) -> RolledBack:
    """Let the workspace answer itself again, in place of the branch that was promoted."""
    reason = body.reason if body else ""
    note_details(request, reason=reason)
    return RolledBack(rolled_back=await roll_back(deps.log, workspace, reason, SOURCE))


async def _cost_of_documents(costs: CostDependencies, workspace: str) -> CostTotals:
    """Return what models were paid for the documents of a workspace, without its questions."""
    partition = await costs.partition(workspace)

    async def entries() -> AsyncGenerator[CostEntry]:
        async for entry in costs.ledger.sums(partition):
            if not entry.of_question:
                yield entry

    return CostTotals.of((await cost_report(entries(), costs.prices)).total)
