"""The routes about work in progress: its status, cancelling it, and LightRAG's routes for repairing
a pipeline.

No logic: a request becomes a call, its result becomes an answer.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.compat.lightrag_pipeline_models import (
    Cancelled,
    PipelineStatus,
    RepairRequest,
    Reset,
    ResetRequest,
    SourceConflicts,
)
from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.models import Done
from services.gateway.documents.removing import cancel
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest, NotSupported
from services.query.status.document_status import working

router = APIRouter(prefix="/documents", tags=["documents"])

MAX_IDS = 1000
"""Ids of stopped documents that an answer lists at most."""


@router.get("/pipeline_status")
async def pipeline_status(
    deps: DocumentDeps, workspace: Workspace, viewer: CurrentViewer
) -> PipelineStatus:
    """Return whether documents are being processed, judged by their statuses. No request is refused
    meanwhile.
    """
    documents = await deps.documents_of(viewer, workspace)
    counts = await documents.counts(await deps.partition(workspace))
    unfinished_count = working(counts)
    # What is read of a folder may be what is hidden.
    scans = [] if viewer else deps.scans.running(workspace)
    summary = (
        ", ".join(f"{count} {status}" for status, count in sorted(counts.items()) if count)
        or "no documents"
    )
    scan_messages = [
        f"a folder is being read: {scan.counts['found']} files up to now" for scan in scans
    ]
    return PipelineStatus(
        busy=unfinished_count > 0 or bool(scans),
        job_name="indexing" if unfinished_count else "scanning" if scans else "-",
        docs=unfinished_count,
        batchs=unfinished_count,
        cur_batch=0,
        scanning=bool(scans),
        latest_message=summary,
        history_messages=[*scan_messages, summary],
    )


@router.post("/cancel_pipeline")
async def cancel_pipeline(request: Request, deps: DocumentDeps, workspace: Workspace) -> Cancelled:
    """Stop the work on every unfinished document and the scans of this process. Finished parts
    stay.
    """
    principal: Principal = request.state.principal
    scans = deps.scans.cancel(workspace)
    ids = await cancel(deps.log, deps.documents, await deps.partition(workspace), principal.name)
    if not ids and not scans:
        return Cancelled(status="not_busy", message="Nothing is being worked on.")
    scan_text = f"{scans} scans and " if scans else ""
    message = (
        f"Work on {scan_text}{len(ids)} documents is stopped; what was done of them stays. "
        "POST /documents/reprocess_failed takes them up again, DELETE "
        "/documents/delete_document removes them."
    )
    return Cancelled(status="cancellation_requested", message=message, doc_ids=ids[:MAX_IDS])


@router.post("/recovery/force_reset", responses=error_responses(400))
async def force_reset(body: ResetRequest) -> Reset:
    """Do nothing: LightRAG resets a dead pipeline with this route; here interrupted work resumes by
    itself.
    """
    if not body.confirm:
        raise BadRequest("confirm must be true")
    return Reset(
        message="Nothing needs a reset: whatever was interrupted is taken up again by itself."
    )


@router.get("/source_conflicts")
async def source_conflicts(
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(max_length=4096)] = None,
) -> SourceConflicts:
    """Return names that several documents have: always none, as another text under a name is a new
    version.
    """
    return SourceConflicts()


@router.post("/source_conflicts/repair", responses=error_responses(501))
async def repair_source_conflicts(body: RepairRequest) -> Done:
    """Answer 501: there are no conflicts to repair."""
    raise NotSupported(
        "a name is claimed by one document only, so there is no conflict to repair; "
        "DELETE /documents/delete_document removes a document that is not wanted"
    )
