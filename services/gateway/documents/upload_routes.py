"""The routes that tell, and forget, which uploads became no document."""

from fastapi import APIRouter, Request

from services.gateway.auth.audit import note_details
from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.models import Document, DocumentIds, Done, Uploads
from services.gateway.workspaces import Workspace

router = APIRouter(prefix="/documents", tags=["documents"])


@router.get("/uploads")
async def uploads(deps: DocumentDeps, workspace: Workspace) -> Uploads:
    """Return the uploads of the last week that became no document: those whose pages are being
    recognized, and those that were refused or interrupted, with the reason.

    They stay until the file is taken, until a week has passed, or until they are removed by `DELETE
    /documents/uploads`, or as documents are.
    """
    records = await deps.readings.records.of(workspace)
    return Uploads(
        uploads=[
            Document.of_upload(record) for record in records if record.error or record.is_running
        ]
    )


@router.delete("/uploads")
async def remove_uploads(
    request: Request, body: DocumentIds, deps: DocumentDeps, workspace: Workspace
) -> Done:
    """Remove uploads that were refused or interrupted from the list, by the ids that their
    documents would have. A document of that id stays, and so does what is still being read.
    """
    note_details(request, documents=body.doc_ids)
    count = await deps.readings.records.remove(workspace, body.doc_ids)
    return Done(status="success", message=f"{count} of {len(body.doc_ids)} are removed.")
