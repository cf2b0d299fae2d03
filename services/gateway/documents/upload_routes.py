"""The route that tells which uploads became no document."""

from fastapi import APIRouter

from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.models import Document, Uploads
from services.gateway.workspaces import Workspace

router = APIRouter(prefix="/documents", tags=["documents"])


@router.get("/uploads")
async def uploads(deps: DocumentDeps, workspace: Workspace) -> Uploads:
    """Return the uploads of the last week that became no document: those whose pages are being
    recognized, and those that were refused or interrupted, with the reason.

    They stay until the file is taken, until a week has passed, or until they are deleted as
    documents are, by `DELETE /documents/delete_document`.
    """
    records = await deps.readings.records.of(workspace)
    return Uploads(
        uploads=[
            Document.of_upload(record) for record in records if record.error or record.is_running
        ]
    )
