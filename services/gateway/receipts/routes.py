"""The routes of receipts: which answers were given, on what each rests."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from runtime.bus.points import sequence_at
from runtime.bus.port import Log
from runtime.models.call_scope import set_call_scope
from runtime.receipts.reading import (
    StoredReceipt,
    find_receipt,
    newest_receipts,
)
from services.gateway.auth.permissions import Principal
from services.gateway.caller_places import CallerPlaces
from services.gateway.connection import while_connected
from services.gateway.places import Places
from services.gateway.receipts.dependencies import ReceiptDeps
from services.gateway.receipts.models import (
    ReceiptConditions,
    ReceiptResponse,
    Receipts,
    ReceiptSummary,
    ReplayRequest,
    ReplayResponse,
)
from services.gateway.receipts.replay import replay
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import NotFound
from services.query.partitions import Partitions

router = APIRouter(prefix="/receipts", tags=["receipts"])

ReceiptId = Annotated[str, Path(max_length=64, examples=["019ceb77-2a10-7c3e-9a41-6f0d5b7e2c18"])]


@router.get("")
async def receipts(
    deps: ReceiptDeps,
    workspace: Workspace,
    request: Request,
    places: CallerPlaces,
    conditions: Annotated[ReceiptConditions, Query()],
) -> Receipts:
    """Return the newest receipts of answers that meet the conditions. Credentials that may only
    read see those of their own questions.
    """
    asker = own_asker(request)
    if asker and conditions.asker not in ("", asker):
        return Receipts(receipts=[])
    after = await _place(deps.log, conditions.since, places)
    stored_receipts = await newest_receipts(
        deps.log, workspace, conditions.filter(asker or conditions.asker), after, conditions.limit
    )
    return Receipts(receipts=[ReceiptSummary.of(receipt, places) for receipt in stored_receipts])


@router.get("/{id}", responses=error_responses(404))
async def receipt(
    id: ReceiptId,
    deps: ReceiptDeps,
    workspace: Workspace,
    request: Request,
    places: CallerPlaces,
) -> ReceiptResponse:
    """Return one receipt. Credentials that may only read see those of their own questions."""
    receipt = await readable_receipt(deps.log, workspace, id, request)
    return ReceiptResponse.of(receipt, places)


@router.post("/{id}/replay", responses=error_responses(404, 502))
async def replay_receipt(
    id: ReceiptId,
    body: ReplayRequest,
    deps: ReceiptDeps,
    workspace: Workspace,
    request: Request,
) -> ReplayResponse:
    """Ask the question of a receipt once more, from the same place of the log with the same
    settings, and return what is the same. Its answer has a receipt of its own.
    """
    set_call_scope(workspace)
    receipt = await readable_receipt(deps.log, workspace, id, request)
    partitions = Partitions.of(workspace, await deps.pointers.live("vectors"))
    asking = replay(receipt.event, deps.questions, partitions, body.query, with_answer=body.answer)
    replayed = await while_connected(request, asking)
    return ReplayResponse(id=id, **vars(replayed))


async def readable_receipt(log: Log, workspace: str, id: str, request: Request) -> StoredReceipt:
    """Return the receipt of this id. Raises NotFound where there is none that the caller may
    see.
    """
    receipt = await find_receipt(log, workspace, id)
    asker = own_asker(request)
    if receipt is None or (asker and receipt.asker != asker):
        raise NotFound(f"workspace {workspace!r} has no receipt {id}")
    return receipt


def own_asker(request: Request) -> str:
    """Return whose receipts alone the caller may see; empty for those of everybody."""
    principal: Principal = request.state.principal
    return "" if principal.permissions.allows("write") else principal.name


async def _place(log: Log, since: str, places: Places) -> int:
    """Return the sequence behind which receipts are listed. Raises InvalidInput for no place."""
    if not since:
        return 0
    if places.key and since.strip().isdecimal():
        return places.sequence(int(since))
    return await sequence_at(log, None, since)
