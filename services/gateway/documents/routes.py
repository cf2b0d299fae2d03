"""The routes about documents. No logic: a request becomes a call, its result becomes an answer."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from contracts.ids import UNKNOWN_SOURCE
from contracts.spelling import spellings
from contracts.text import one_line
from publishing.documents import Added
from publishing.draft import DocumentDraft
from publishing.upload_records import UploadRecord
from runtime.parsing.kinds import readable_kinds
from services.gateway.auth.audit import note_details
from services.gateway.auth.viewers import CurrentViewer, shows_no_documents
from services.gateway.documents.adding import (
    IngestRequest,
    draft_text,
    publish_drafts,
)
from services.gateway.documents.dependencies import DocumentDependencies, DocumentDeps
from services.gateway.documents.insert_models import InsertResponse
from services.gateway.documents.models import (
    DeleteRequest,
    DeleteResponse,
    Document,
    Done,
    FileTypes,
    InsertText,
    InsertTexts,
    PaginatedRequest,
    PaginatedResponse,
    Pagination,
    ScanStatus,
    Started,
    StatusCounts,
    TrackStatus,
    all_counts,
)
from services.gateway.documents.multipart import receive_file
from services.gateway.documents.removing import delete, delete_all, retry_failed
from services.gateway.documents.scanning import AlreadyRunning
from services.gateway.documents.upload_form import UPLOAD_FORM, IdempotencyKey, upload_options
from services.gateway.documents.uploading import UploadOptions
from services.gateway.errors import no_document
from services.gateway.reference.links import (
    DOCUMENT_LIST,
    DOCUMENTS_ADDED,
    SCAN_STARTED,
    TRACKED_DOCUMENTS,
)
from services.gateway.reference.responses import error_responses
from services.gateway.web_page import is_sent_by_lightrag_page
from services.gateway.workspaces import Workspace
from services.query.status.document_status import STATUSES
from services.query.status.port import Listing

router = APIRouter(prefix="/documents", tags=["documents"])

PAGES_RECOGNIZED: dict[int | str, dict[str, Any]] = {
    202: {"model": InsertResponse, "description": "its pages are being recognized"}
}

TrackId = Annotated[str, Path(examples=["insert_20261121_120718_e19508f8"])]


@router.post(
    "/upload",
    openapi_extra=UPLOAD_FORM,
    responses={**DOCUMENTS_ADDED, **PAGES_RECOGNIZED, **error_responses(409)},
)
async def upload_file(
    request: Request,
    response: Response,
    deps: DocumentDeps,
    workspace: Workspace,
    options: Annotated[UploadOptions, Depends(upload_options)],
) -> InsertResponse:
    """Add a file. The answer comes once it is read and the log has its text durably; 202 at once
    where pages have to be recognized: `track_status` says how far that is, and what became of it.
    """
    report_refusal = partial(deps.readings.refuse, workspace)
    async with receive_file(request, deps.read_limits.refuse_larger, report_refusal) as file:
        outcome = await deps.readings.upload(deps.publisher(workspace), file, options)
    if isinstance(outcome, UploadRecord):
        response.status_code = 202
        return InsertResponse(message=outcome.message, track_id=outcome.track_id)
    added_document, ingest, warnings = outcome
    return (await _insert_response(deps, workspace, [added_document], ingest)).with_warnings(
        warnings
    )


@router.post("/text", responses=DOCUMENTS_ADDED)
async def add_text(
    body: InsertText, deps: DocumentDeps, workspace: Workspace, key: IdempotencyKey = None
) -> InsertResponse:
    """Add one text. The answer comes once the log has it durably."""
    request = _ingest_request(key, body)
    return await _add(deps, workspace, request, [body.text], [body.file_source], body)


@router.post("/texts", responses=DOCUMENTS_ADDED)
async def texts(
    body: InsertTexts, deps: DocumentDeps, workspace: Workspace, key: IdempotencyKey = None
) -> InsertResponse:
    """Add several texts. The answer comes once the log has them all durably."""
    request = _ingest_request(key, body)
    return await _add(deps, workspace, request, body.texts, body.file_sources, body)


def _ingest_request(key: str | None, body: InsertText | InsertTexts) -> IngestRequest:
    # Only an id that derives from a key has anything of the body, which may have megabytes.
    return IngestRequest.of("insert", key, body.model_dump_json() if key else "")


async def _add(
    deps: DocumentDependencies,
    workspace: str,
    request: IngestRequest,
    texts: Sequence[str],
    sources: Sequence[str],
    options: InsertText | InsertTexts,
) -> InsertResponse:
    chunking_values = options.chunking.chunking() if options.chunking else None
    validity = options.validity.validity() if options.validity else None
    access = options.access.access() if options.access else None
    names = sources or [UNKNOWN_SOURCE] * len(texts)
    drafts = [
        await draft_text(request, text, name, chunking_values, access, validity)
        for text, name in zip(texts, names, strict=True)
    ]
    added_documents = await publish_drafts(deps.publisher(workspace), request, drafts)
    response = await _insert_response(deps, workspace, added_documents, request)
    return response.with_warnings(_warnings(names, drafts))


def _warnings(names: Sequence[str], drafts: Sequence[DocumentDraft]) -> list[str]:
    """Return the warnings of all documents, of several each with the name of the document that it
    is about.
    """
    if len(drafts) == 1:
        return list(drafts[0].event.warnings)
    return [
        f"{one_line(name)}: {warning}"
        for name, draft in zip(names, drafts, strict=True)
        for warning in draft.event.warnings
    ]


async def _insert_response(
    deps: DocumentDependencies,
    workspace: str,
    added_documents: Sequence[Added],
    ingest: IngestRequest,
) -> InsertResponse:
    existing_ids = [
        added_document.document_id
        for added_document in added_documents
        if not added_document.is_new
    ]
    states = (
        await deps.documents.get(await deps.partition(workspace), existing_ids)
        if existing_ids
        else {}
    )
    return InsertResponse.of(
        added_documents, ingest.id, {id: state.status for id, (state, _) in states.items()}
    )


@router.post("/scan", responses={**SCAN_STARTED, **error_responses(404, 501)})
async def scan(deps: DocumentDeps, workspace: Workspace) -> Started:
    """Add every file of the workspace's folder in INPUT_DIR, in the background. 501 where INPUT_DIR
    is not set.

    While a scan of the workspace is running no second one starts: the answer has the track id of
    the running one.
    """
    try:
        new_scan = deps.scans.start(deps.publisher(workspace))
    except AlreadyRunning as running:
        message = "A scan of this workspace is running already; nothing was begun."
        return Started(
            status="scanning_skipped_pipeline_busy", message=message, track_id=running.track_id
        )
    return Started(
        status="scanning_started", message="The folder is being read.", track_id=new_scan.track_id
    )


@router.get("/scan/status/{track_id}", operation_id="scan_status", responses=error_responses(404))
async def scan_status(track_id: TrackId, deps: DocumentDeps, workspace: Workspace) -> ScanStatus:
    """Return the progress of a scan that this process runs or ran."""
    progress = deps.scans.get(workspace, track_id)
    samples = {
        kind: {
            "items": items,
            "truncated": progress.counts[kind] > len(items),
            "dropped": progress.counts[kind] - len(items),
        }
        for kind, items in progress.samples.items()
    }
    return ScanStatus(
        track_id=progress.track_id,
        status=progress.status,
        counts=progress.counts,
        samples=samples,
        created_at=progress.created_at,
        updated_at=progress.updated_at,
        version=progress.version,
        message=progress.message,
    )


@router.get("/supported_file_types")
@shows_no_documents
async def supported_file_types(deps: DocumentDeps) -> FileTypes:
    """Return the file extensions that are read, also by services and plugins. A file with any other
    extension is read when it is text.
    """
    services = deps.read_limits.services
    engines: dict[str, list[str]] = {}
    for suffix, kind in readable_kinds().items():
        if not services.reads(f"file{suffix}"):
            engines.setdefault(kind.parser or "text", []).append(suffix)
    engines |= services.suffixes()
    extensions = dict.fromkeys([*readable_kinds(), *chain.from_iterable(engines.values())])
    return FileTypes(supported_extensions=list(extensions), engines=engines)


@router.delete("/delete_document", operation_id="delete_document")
async def delete_document(
    request: Request, body: DeleteRequest, deps: DocumentDeps, workspace: Workspace
) -> DeleteResponse:
    """Delete documents. The answer comes once the log has the deletions durably; unknown ids are
    ignored.
    """
    note_details(request, documents=body.doc_ids)
    count = await delete(deps.log, workspace, body.doc_ids)
    count += await deps.readings.records.remove(workspace, body.doc_ids)
    return DeleteResponse(
        message=f"{count} of {len(body.doc_ids)} are being deleted.", doc_id=", ".join(body.doc_ids)
    )


@router.delete("")
async def clear(
    request: Request,
    deps: DocumentDeps,
    workspace: Workspace,
    confirm: Annotated[
        str, Query(max_length=64, description="the name of the workspace: that all are meant")
    ] = "",
) -> Done:
    """Delete every document of the workspace, and what is told of uploads that became none. Edits
    of the graph and the caches stay.

    LightRAG's page, which asks before it sends this, need not confirm it.
    """
    is_confirmed = confirm == workspace or is_sent_by_lightrag_page(request)
    count = await delete_all(
        deps.log, deps.documents, await deps.partition(workspace), is_confirmed=is_confirmed
    )
    await deps.readings.records.clear(workspace)
    return Done(status="success", message=f"{count} documents are being deleted.")


@router.post("/clear_cache")
async def clear_cache(deps: DocumentDeps, workspace: Workspace) -> Done:
    """Delete the cached answers of language models for this workspace. Cached embeddings stay."""
    await deps.caches.clear(workspace)
    return Done(status="success", message="Successfully cleared all cache")


@router.post("/reprocess_failed")
async def reprocess_failed(deps: DocumentDeps, workspace: Workspace) -> Started:
    """Try again what failed of every failed or partial document: finished chunks are not paid for
    twice.
    """
    count = await retry_failed(deps.log, deps.documents, await deps.partition(workspace))
    return Started(status="reprocessing_started", message=f"{count} documents are tried again.")


@router.get("/track_status/{track_id}", operation_id="track_status", responses=TRACKED_DOCUMENTS)
async def track_status(
    track_id: TrackId, deps: DocumentDeps, workspace: Workspace, viewer: CurrentViewer
) -> TrackStatus:
    """Return the documents of one request, or the one document of that id; none for an unknown id.

    For a scan of this process they include the documents whose text was unchanged, for an upload
    whose pages are recognized the one that it becomes: `parsing`, or `failed`.
    """
    reading = None if viewer else await deps.readings.records.of_track(workspace, track_id)
    partition = await deps.partition(workspace)
    visible_documents = await deps.documents_of(viewer, workspace)
    documents = await visible_documents.by_track_id(partition, track_id)
    read_ids = [reading.document_id] if reading and reading.is_done else []
    track_ids = {track_id, *deps.scans.unchanged(workspace, track_id), *read_ids} - {
        status.id for status in documents
    }
    if not documents or len(track_ids) > 1:
        states = await visible_documents.get(partition, sorted(track_ids))
        documents += [state for state, _ in states.values() if state.status in STATUSES]
    shown_documents = [Document.of(status) for status in documents]
    if reading and (not documents or reading.error):
        shown_documents = [Document.of_upload(reading)]
    return TrackStatus(
        track_id=track_id,
        documents=shown_documents,
        total_count=len(shown_documents),
        status_summary=Counter(document.status for document in shown_documents),
    )


@router.get("/by_id", responses=error_responses(404))
async def by_id(
    deps: DocumentDeps,
    workspace: Workspace,
    viewer: CurrentViewer,
    doc_id: Annotated[
        str, Query(min_length=1, max_length=512, examples=["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"])
    ],
) -> Document:
    """Return the state of one document. 404 for an id that is unknown in this workspace, or
    deleted.
    """
    documents = await deps.documents_of(viewer, workspace)
    states = await documents.get(await deps.partition(workspace), spellings(doc_id))
    state = next((states[id][0] for id in spellings(doc_id) if id in states), None)
    if state is None or state.status not in STATUSES:
        raise no_document(doc_id)
    return Document.of(state)


@router.post("/paginated", responses=DOCUMENT_LIST)
async def paginated(
    body: PaginatedRequest, deps: DocumentDeps, workspace: Workspace, viewer: CurrentViewer
) -> PaginatedResponse:
    """Return a page of the list of documents."""
    partition = await deps.partition(workspace)
    statuses = body.status_filters or ([body.status_filter] if body.status_filter else [])
    documents = await deps.documents_of(viewer, workspace)
    page = await documents.page(
        partition,
        Listing(
            statuses=[status.lower() for status in statuses],
            names=spellings(body.search) if body.search else (),
            ids=_spelled(body.ids or ()),
            file_paths=_spelled(body.file_paths or ()),
            order=body.sort_field,
            descending=body.sort_direction == "desc",
            skip=(body.page - 1) * body.page_size,
            limit=body.page_size,
        ),
    )
    pages = -(-page.total // body.page_size)
    return PaginatedResponse(
        documents=[Document.of(status) for status in page.documents],
        pagination=Pagination(
            page=body.page,
            page_size=body.page_size,
            total_count=page.total,
            total_pages=pages,
            has_next=body.page < pages,
            has_prev=body.page > 1,
        ),
        status_counts=all_counts(page.counts),
    )


def _spelled(names: Sequence[str]) -> list[str]:
    """Return the names in all spellings that they may have been added under."""
    return list(dict.fromkeys(spelling for name in names for spelling in spellings(name)))


@router.get("/status_counts")
async def status_counts(
    deps: DocumentDeps, workspace: Workspace, viewer: CurrentViewer
) -> StatusCounts:
    """Return the number of documents by status."""
    documents = await deps.documents_of(viewer, workspace)
    counts = await documents.counts(await deps.partition(workspace))
    return StatusCounts(status_counts=all_counts(counts))
