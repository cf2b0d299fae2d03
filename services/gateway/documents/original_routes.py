"""The routes that give the file that a document was read from, and its figures."""

from bisect import bisect_right
from contextlib import aclosing
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import StreamingResponse

from contracts.events import DocumentAdded
from contracts.text import MAX_TEXT_BYTES
from contracts.values import Figure
from publishing.current_version import current_version
from runtime.bus.codec import decode
from runtime.bus.points import FORM
from runtime.errors import NotFound, ServiceError
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.documents.dependencies import DocumentDependencies, DocumentDeps
from services.gateway.documents.validity_routes import DocumentId
from services.gateway.errors import no_document
from services.gateway.past.reader import WorkspacePast
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.status.document_status import LEAVING
from services.query.visibility.viewer import Viewer

router = APIRouter(tags=["documents"])

SAFE_TYPES = ("application/pdf", "text/plain", "text/markdown", "text/csv", "application/json")
"""Media types that files are sent with; all others are bytes, for browsers run some of them."""

NO_FIGURE = NotFound("there is no such figure of a document of that id")

PictureHash = Annotated[
    str,
    Path(
        pattern=r"^[0-9a-f]{64}$",
        description="`sha256` of the figure, as passages name it",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ),
]
AsOf = Annotated[
    str | None, Query(max_length=64, description=f"of the document as it was then: {FORM}")
]

HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'"}


@router.get(
    "/documents/{document_id:path}/original",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file",
            "content": {
                "application/octet-stream": {"schema": {"type": "string"}, "example": "%PDF-1.7 …"}
            },
        },
        **error_responses(404),
    },
)
async def document_original(
    document_id: DocumentId,
    deps: DocumentDeps,
    workspace: Workspace,
    viewer: CurrentViewer,
    character: Annotated[
        int | None,
        Query(ge=0, le=MAX_TEXT_BYTES, description="a place in the text; see Lightstream-Page"),
    ] = None,
) -> StreamingResponse:
    """Return the file that the document's text was read from, as an attachment. 404 where it is not
    kept: KEEP_ORIGINALS was off when the document was added.

    With `character`, the header Lightstream-Page says on which page of the file, from 1, that
    character of the text stands, where the file has pages.
    """
    if not await _is_there(deps, workspace, document_id, viewer):
        raise no_document(document_id)
    _, event, _ = await current_version(deps.log, workspace, document_id)
    if event is None or event.original is None:
        raise NotFound(
            "the file is not kept: add it again while KEEP_ORIGINALS is on, as its newest version"
        )
    parts = await deps.blobs.parts(event.original)
    media_type = media_type_of(event)
    name = str(event.metadata.get("file_name") or event.file_path.rsplit("/", 1)[-1])
    return StreamingResponse(
        iter(parts),
        media_type=media_type if media_type in SAFE_TYPES else "application/octet-stream",
        headers={
            **HEADERS,
            **_page_header(event, character),
            "Content-Length": str(event.original.size),
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        },
    )


async def _is_there(
    deps: DocumentDependencies, workspace: str, id: str, viewer: Viewer | None
) -> bool:
    """Return whether there is such a document, for who asks."""
    documents = await deps.documents_of(viewer, workspace)
    states = await documents.get(await deps.partition(workspace), [id])
    return id in states and states[id][0].status not in LEAVING


def _page_header(event: DocumentAdded, character: int | None) -> dict[str, str]:
    if character is None or not event.pages:
        return {}
    return {"Lightstream-Page": str(max(1, bisect_right(event.pages, character)))}


async def seen_document(
    document_id: DocumentId,
    deps: DocumentDeps,
    workspace: Workspace,
    viewer: CurrentViewer,
    past: WorkspacePast,
    as_of: AsOf = None,
) -> DocumentAdded | None:
    """Return what the document said, for who sees it. Raises NotFound for others."""
    if as_of is None:
        return await _seen_now(deps, workspace, document_id, viewer)
    return await _seen_then(deps, workspace, document_id, viewer, await past.point(as_of))


@router.get(
    "/documents/{document_id:path}/figures/{sha256}",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The picture: PNG, JPEG, GIF or WebP",
            "content": {
                "image/png": {"schema": {"type": "string"}, "example": "the bytes of a picture"}
            },
        },
        **error_responses(404),
    },
)
async def document_figure(
    sha256: PictureHash,
    document: Annotated[DocumentAdded | None, Depends(seen_document)],
    deps: DocumentDeps,
) -> StreamingResponse:
    """Return a figure of the document, as it was in its file, for who sees the document. The
    figures of a passage stand beside it in answers and lists.
    """
    figure = _figure(document, sha256)
    parts = await deps.blobs.parts(figure.blob)
    name = f"figure-{figure.number}.{figure.media_type.rpartition('/')[2]}"
    return StreamingResponse(
        iter(parts),
        media_type=figure.media_type,
        headers={
            **HEADERS,
            "Content-Length": str(figure.blob.size),
            "Content-Disposition": f'inline; filename="{name}"',
        },
    )


def _figure(event: DocumentAdded | None, sha256: str) -> Figure:
    figures = event.figures if event else ()
    for figure in figures:
        if figure.sha256 == sha256:
            return figure
    raise NO_FIGURE


async def _seen_now(
    deps: DocumentDependencies, workspace: str, id: str, viewer: Viewer | None
) -> DocumentAdded | None:
    if not await _is_there(deps, workspace, id, viewer):
        raise no_document(id)
    return (await current_version(deps.log, workspace, id)).event


async def _seen_then(
    deps: DocumentDependencies, workspace: str, id: str, viewer: Viewer | None, sequence: int
) -> DocumentAdded | None:
    """Return what the log had of the document at a sequence, for who saw it then and sees it
    now.
    """
    if viewer is not None:
        history = await deps.visibility.history(workspace, viewer)
        if id not in (await history.at(sequence)).ids:
            raise no_document(id)
    last_event: DocumentAdded | None = None
    async with aclosing(deps.log.history(workspace, id, "DocumentAdded")) as messages:
        async for message in messages:
            if message.sequence > sequence:
                break
            try:
                event = decode(message.data, message.subject, message.headers).data
            except ServiceError:
                continue
            last_event = event if isinstance(event, DocumentAdded) else last_event
    return last_event


def media_type_of(document: DocumentAdded) -> str:
    """Return the media type of the file of a document; empty where none is known."""
    return str(document.metadata.get("media_type", ""))
