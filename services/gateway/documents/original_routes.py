"""The route that gives the file that a document was read from, where it is kept."""

from bisect import bisect_right
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from contracts.events import DocumentAdded
from contracts.text import MAX_TEXT_BYTES
from publishing.current_version import current_version
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.validity_routes import DocumentId
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import NotFound
from services.query.status.document_status import LEAVING

router = APIRouter(tags=["documents"])

SAFE_TYPES = ("application/pdf", "text/plain", "text/markdown", "text/csv", "application/json")
"""Media types that files are sent with; all others are bytes, for browsers run some of them."""

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
    documents = await deps.documents_of(viewer, workspace)
    states = await documents.get(await deps.partition(workspace), [document_id])
    if document_id not in states or states[document_id][0].status in LEAVING:
        raise NotFound("there is no document of that id")
    _, event, _ = await current_version(deps.log, workspace, document_id)
    if event is None or event.original is None:
        raise NotFound(
            "the file is not kept: add it again while KEEP_ORIGINALS is on, as its newest version"
        )
    parts = await deps.blobs.parts(event.original)
    media_type = str(event.metadata.get("media_type", ""))
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


def _page_header(event: DocumentAdded, character: int | None) -> dict[str, str]:
    if character is None or not event.pages:
        return {}
    return {"Lightstream-Page": str(max(1, bisect_right(event.pages, character)))}
