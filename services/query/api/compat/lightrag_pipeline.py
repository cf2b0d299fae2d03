"""The routes about work in progress: whether there is any, stopping it, and what LightRAG has to repair its own.

No logic: a request becomes a call, its result becomes an answer.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from contracts.graph import Partition
from services.query.api.auth.permissions import Principal
from services.query.api.compat.lightrag_pipeline_models import (
    Cancelled,
    PipelineStatus,
    RepairRequest,
    Reset,
    ResetRequest,
    SourceConflicts,
)
from services.query.api.context import Context, Ctx, Workspace
from services.query.api.documents.models import Done
from services.query.api.reference.responses import error_responses
from services.query.errors import BadRequest, NotSupported
from services.query.ingestion.removing import cancel
from services.query.status.document_status import working

router = APIRouter(prefix="/documents", tags=["documents"])

MAX_IDS = 1000
"""Ids that are named of documents that are stopped."""


@router.get("/pipeline_status")
async def pipeline_status(ctx: Ctx, workspace: Workspace) -> PipelineStatus:
    """Whether work goes on, told from the states of documents. No request is refused because of it."""
    counts = await ctx.documents.counts(await _partition(ctx, workspace))
    left, scans = working(counts), ctx.scans.running(workspace)
    said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()) if count) or "no documents"
    scanned = [f"a folder is being read: {scan.counts['found']} files up to now" for scan in scans]
    return PipelineStatus(
        busy=left > 0 or bool(scans),
        job_name="indexing" if left else "scanning" if scans else "-",
        docs=left,
        batchs=left,
        cur_batch=0,
        scanning=bool(scans),
        latest_message=said,
        history_messages=[*scanned, said],
    )


@router.post("/cancel_pipeline")
async def cancel_pipeline(request: Request, ctx: Ctx, workspace: Workspace) -> Cancelled:
    """Stop the work on every document that is not through, and scans of this process. What was done by then stays."""
    principal: Principal = request.state.principal
    scans = ctx.scans.cancel(workspace)
    ids = await cancel(ctx.log, ctx.documents, await _partition(ctx, workspace), principal.name)
    if not ids and not scans:
        return Cancelled(status="not_busy", message="Nothing is being worked on.")
    scanned = f"{scans} scans and " if scans else ""
    message = (
        f"Work on {scanned}{len(ids)} documents is stopped; what was done of them stays. "
        "POST /documents/reprocess_failed takes them up again, DELETE /documents/delete_document removes them."
    )
    return Cancelled(status="cancellation_requested", message=message, doc_ids=ids[:MAX_IDS])


@router.post("/recovery/force_reset", responses=error_responses(400))
async def force_reset(body: ResetRequest) -> Reset:
    """LightRAG's way out of a pipeline that died. Here whatever was interrupted goes on by itself."""
    if not body.confirm:
        raise BadRequest("confirm must be true")
    return Reset(message="Nothing needs a reset: whatever was interrupted is taken up again by itself.")


@router.get("/source_conflicts")
async def source_conflicts(
    limit: Annotated[int, Query(ge=1, le=1000)] = 50, cursor: Annotated[str | None, Query(max_length=4096)] = None
) -> SourceConflicts:
    """Names that several documents claim: never any, for another text of a name is that document's new version."""
    return SourceConflicts()


@router.post("/source_conflicts/repair", responses=error_responses(501))
async def repair_source_conflicts(body: RepairRequest) -> Done:
    """501: there is nothing to repair."""
    raise NotSupported(
        "a name is claimed by one document only, so there is no conflict to repair; DELETE /documents/delete_document "
        "removes a document that is not wanted"
    )


async def _partition(ctx: Context, workspace: str) -> Partition:
    return Partition(workspace, (await ctx.pointers.live()).status)
