"""The route that shows a page of the file that a document was read from."""

from bisect import bisect_right
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from contracts.events import DocumentAdded
from runtime.bus.port import Blobs
from runtime.errors import NotFound
from runtime.parsing.page_pictures import MAX_PAGES, draw_page
from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.original_routes import HEADERS, media_type_of, seen_document
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace

router = APIRouter(tags=["documents"])

PDF = "application/pdf"
NO_PAGES = NotFound(
    "no pages to show: the file of the document is no PDF, or is not kept (KEEP_ORIGINALS)"
)

Marks = Annotated[
    str,
    Query(
        pattern=r"^(\d{1,9}-\d{1,9}(,\d{1,9}-\d{1,9}){0,19})?$",
        description="parts of the text, as passages count its characters: 120-180,240-300",
    ),
]


@router.get(
    "/documents/{document_id:path}/page",
    response_class=Response,
    responses={
        200: {
            "description": "The page",
            "content": {
                "image/webp": {"schema": {"type": "string"}, "example": "the bytes of a picture"}
            },
        },
        **error_responses(404),
    },
)
async def document_page(
    document: Annotated[DocumentAdded | None, Depends(seen_document)],
    deps: DocumentDeps,
    workspace: Workspace,
    number: Annotated[
        int | None,
        Query(ge=1, le=MAX_PAGES, description="from 1; else the one where the first mark begins"),
    ] = None,
    marks: Marks = "",
) -> Response:
    """Return a page of the PDF that the document's text was read from, as a picture, with `marks`
    marked as far as they stand on it. 404 where there is no such file.

    The headers Lightstream-Page and Lightstream-Pages say which page of how many it is;
    Lightstream-Mark, where there is a mark, how far down it begins, from 0 to 1.
    """
    if document is None or document.original is None or media_type_of(document) != PDF:
        raise NO_PAGES
    ranges = [tuple(map(int, part.split("-"))) for part in marks.split(",") if part]
    if number is None:
        number = max(1, bisect_right(document.pages, ranges[0][0] if ranges else 0))
    async with deps.read_limits.slots.hold(workspace):
        text = await _text(document, deps.blobs) if ranges else ""
        passages = [text[start:end] for start, end in ranges]
        file = b"".join(await deps.blobs.parts(document.original))
        picture = await draw_page(file, number, passages)
    mark_header = (
        {} if picture.mark_top is None else {"Lightstream-Mark": f"{picture.mark_top:.3f}"}
    )
    return Response(
        picture.data,
        media_type="image/webp",
        headers={
            **HEADERS,
            **mark_header,
            "Lightstream-Page": str(number),
            "Lightstream-Pages": str(picture.page_count),
        },
    )


async def _text(document: DocumentAdded, blobs: Blobs) -> str:
    return await blobs.get(document.blob) if document.blob else document.text or ""
