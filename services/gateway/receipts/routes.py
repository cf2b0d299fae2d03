"""The routes of receipts: which answers were given, on what each rests."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from runtime.bus.points import sequence_at
from runtime.bus.port import Log
from runtime.models.call_scope import set_call_scope
from runtime.receipts.reading import newest_receipts
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
from services.gateway.receipts.readers import CurrentReaders, ReceiptReader
from services.gateway.receipts.replay import ReplayedQuestion, replay
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.partitions import Partitions, status_partition

router = APIRouter(prefix="/receipts", tags=["receipts"])

ReceiptId = Annotated[str, Path(max_length=64, examples=["019ceb77-2a10-7c3e-9a41-6f0d5b7e2c18"])]


@router.get("")
async def receipts(
    deps: ReceiptDeps,
    readers: CurrentReaders,
    places: CallerPlaces,
    conditions: Annotated[ReceiptConditions, Query()],
) -> Receipts:
    """Return the newest receipts of answers that meet the conditions. Credentials that may only
    read see those of their own questions; from whom documents may be hidden, those that rest on
    nothing hidden.
    """
    if readers.asker and conditions.asker not in ("", readers.asker):
        return Receipts(receipts=[])
    after = await _place(deps.log, conditions.since, places)
    summaries: list[ReceiptSummary] = []
    for reader in readers.readers:
        summaries += await _summaries(deps, reader, places, conditions, after)
    newest_first = sorted(summaries, key=lambda summary: summary.id, reverse=True)
    return Receipts(receipts=newest_first[: conditions.limit])


@router.get("/{id}", responses=error_responses(404))
async def receipt(
    id: ReceiptId, deps: ReceiptDeps, readers: CurrentReaders, places: CallerPlaces
) -> ReceiptResponse:
    """Return one receipt, where the caller may read it: see the list."""
    receipt = await readers.receipt(deps.log, id)
    return ReceiptResponse.of(receipt, places, hides_revisions=readers.viewer is not None)


@router.get("/{id}/verification", responses=error_responses(404))
async def verify_receipt(
    id: ReceiptId, deps: ReceiptDeps, readers: CurrentReaders
) -> VerificationResponse:
    """Compare the texts of a receipt with their hashes, and the passages that it names with those
    in the log. The hash chain of the log is compared by `lightstream receipts verify`.
    """
    receipt = await readers.receipt(deps.log, id)
    verification = await verified_by_log(
        receipt, LoggedPassages(deps.log, receipt.envelope.workspace)
    )
    return VerificationResponse(id=id, **vars(verification))


@router.post("/{id}/replay", responses=error_responses(404, 502))
async def replay_receipt(
    id: ReceiptId,
    body: ReplayRequest,
    deps: ReceiptDeps,
    workspace: Workspace,
    readers: CurrentReaders,
    request: Request,
) -> ReplayResponse:
    """Ask the question of a receipt once more, from the same place of the log with the same
    settings, and return what is the same. Its answer has a receipt of its own.

    It is asked for the principals of the receipt, or of now where the caller has any.
    """
    set_call_scope(workspace)
    receipt = await readers.receipt(deps.log, id)
    again = ReplayedQuestion(
        receipt.event,
        Partitions.of(receipt.envelope.workspace, await deps.pointers.live("vectors")),
        body.query,
        readers.viewer,
    )
    asking = replay(again, deps.questions, with_answer=body.answer)
    replayed = await while_connected(request, asking)
    return ReplayResponse(id=id, **vars(replayed))


async def _summaries(
    deps: ReceiptDependencies,
    reader: ReceiptReader,
    places: Places,
    conditions: ReceiptConditions,
    after: int,
) -> list[ReceiptSummary]:
    """Return the newest receipts of one workspace or branch."""
    stored_receipts = await newest_receipts(
        deps.log,
        reader.workspace,
        conditions.filter(reader.asker or conditions.asker),
        after,
        conditions.limit,
        may_read=reader.may_read,
    )
    status = await status_partition(deps.pointers, reader.workspace)
    change_counts = await changed_passages(stored_receipts, deps.documents, deps.passages, status)
    edit_counts = [0] * len(stored_receipts)
    if reader.viewer is None:
        edit_counts = await edited_items(stored_receipts, deps.log, reader.workspace)
    return [
        ReceiptSummary.of(receipt, places, changed_passages=change_count, edited_items=edit_count)
        for receipt, change_count, edit_count in zip(
            stored_receipts, change_counts, edit_counts, strict=True
        )
    ]


async def _place(log: Log, since: str, places: Places) -> int:
    """Return the sequence behind which receipts are listed. Raises InvalidInput for no place."""
    if not since:
        return 0
    if places.key and since.strip().isdecimal():
        return places.sequence(int(since))
    return await sequence_at(log, None, since)
