"""The routes of receipts: which answers were given, on what each rests."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from contracts.ids import origin_of
from runtime.branches import is_dropped
from runtime.bus.points import place_at
from runtime.bus.port import Log
from runtime.models.call_scope import set_call_scope
from runtime.receipts.reading import StoredReceipt, newest_receipts
from runtime.receipts.verifying import LoggedPassages, verified_by_log
from services.gateway.caller_places import CallerPlaces
from services.gateway.connection import while_connected
from services.gateway.places import Places
from services.gateway.receipts.changes import changed_passages, edited_items
from services.gateway.receipts.dependencies import ReceiptDependencies, ReceiptDeps
from services.gateway.receipts.models import (
    ReceiptConditions,
    ReceiptResponse,
    Receipts,
    ReceiptSummary,
    ReplayRequest,
    ReplayResponse,
    VerificationResponse,
)
from services.gateway.receipts.readers import CurrentReader
from services.gateway.receipts.replay import ReplayedQuestion, replay
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest
from services.query.partitions import Partitions, status_partition

router = APIRouter(prefix="/receipts", tags=["receipts"])

ReceiptId = Annotated[str, Path(max_length=64, examples=["019ceb77-2a10-7c3e-9a41-6f0d5b7e2c18"])]


@router.get("", responses=error_responses(404))
async def receipts(
    deps: ReceiptDeps,
    reader: CurrentReader,
    places: CallerPlaces,
    conditions: Annotated[ReceiptConditions, Query()],
) -> Receipts:
    """Return the newest receipts of answers that meet the conditions. Credentials that may only
    read see those of their own questions; from whom documents may be hidden, those that rest on
    nothing hidden. 404 for a document that is not there.
    """
    if reader.asker and conditions.asker not in ("", reader.asker):
        return Receipts(receipts=[])
    after = await _place(deps.log, conditions.since, places)
    stored_receipts = await newest_receipts(
        deps.feed,
        reader.workspace,
        conditions.filter(reader.asker or conditions.asker),
        after,
        conditions.limit,
        may_read=reader.may_read,
    )
    if conditions.document and not stored_receipts:
        await reader.refuse_unknown(deps.log, conditions.document)
    change_counts = await _change_counts(deps, stored_receipts)
    edit_counts = [0] * len(stored_receipts)
    if reader.viewer is None:
        edit_counts = await edited_items(stored_receipts, deps.log, reader.workspace)
    summaries = [
        ReceiptSummary.of(
            receipt,
            places,
            changed_passages=change_counts[receipt.event.receipt],
            edited_items=edit_count,
        )
        for receipt, edit_count in zip(stored_receipts, edit_counts, strict=True)
    ]
    return Receipts(receipts=summaries)


@router.get("/{id}", responses=error_responses(404))
async def receipt(
    id: ReceiptId, deps: ReceiptDeps, reader: CurrentReader, places: CallerPlaces
) -> ReceiptResponse:
    """Return one receipt, where the caller may read it: see the list."""
    receipt = await reader.receipt(deps.log, id)
    return ReceiptResponse.of(receipt, places, hides_revisions=reader.viewer is not None)


@router.get("/{id}/verification", responses=error_responses(404))
async def verify_receipt(
    id: ReceiptId, deps: ReceiptDeps, reader: CurrentReader
) -> VerificationResponse:
    """Compare the texts of a receipt with their hashes, and the passages that it names with those
    in the log. The hash chain of the log is compared by `lightstream receipts verify`.
    """
    receipt = await reader.receipt(deps.log, id)
    verification = await verified_by_log(receipt, LoggedPassages(deps.log))
    return VerificationResponse(id=id, **vars(verification))


@router.post("/{id}/replay", responses=error_responses(404, 502))
async def replay_receipt(
    id: ReceiptId,
    body: ReplayRequest,
    deps: ReceiptDeps,
    workspace: Workspace,
    reader: CurrentReader,
    request: Request,
) -> ReplayResponse:
    """Ask the question of a receipt once more, from the same place of the log with the same
    settings, and return what is the same. Its answer has a receipt of its own.

    It is asked for the principals of the receipt, or of now where the caller has any.
    """
    set_call_scope(workspace)
    receipt = await reader.receipt(deps.log, id)
    branch = receipt.event.branch
    if branch and await is_dropped(deps.log, receipt.answering_workspace):
        raise BadRequest(
            f"branch {branch}, which answered, was dropped: its receipt stays and can be verified, "
            "but there is nothing to ask any more"
        )
    again = ReplayedQuestion(
        receipt.event,
        Partitions.of(receipt.answering_workspace, await deps.pointers.live("vectors")),
        body.query,
        reader.viewer,
    )
    asking = replay(again, deps.questions, with_answer=body.answer)
    replayed = await while_connected(request, asking)
    return ReplayResponse(id=id, **vars(replayed))


async def _change_counts(
    deps: ReceiptDependencies, receipts: Sequence[StoredReceipt]
) -> dict[str, int]:
    """Return by id how many passages of each receipt have changed in the workspace whose documents
    it rests on: that of the branch that answered, as long as it is there.
    """
    counts: dict[str, int] = {}
    groups: dict[str, list[StoredReceipt]] = {}
    for receipt in receipts:
        groups.setdefault(receipt.answering_workspace, []).append(receipt)
    for workspace, group in groups.items():
        has_gone = origin_of(workspace) and await is_dropped(deps.log, workspace)
        place = origin_of(workspace) if has_gone else workspace
        status = await status_partition(deps.pointers, place or workspace)
        group_counts = await changed_passages(group, deps.documents, deps.passages, status)
        ids = (receipt.event.receipt for receipt in group)
        counts |= dict(zip(ids, group_counts, strict=True))
    return counts


async def _place(log: Log, since: str, places: Places) -> int:
    """Return the sequence behind which receipts are listed. Raises InvalidInput for no place."""
    if not since:
        return 0
    if places.key and since.strip().isdecimal():
        return places.sequence(int(since))
    return await place_at(log, places.workspace, since)
