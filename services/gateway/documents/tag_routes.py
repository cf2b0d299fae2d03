"""The route that gives a document its tags."""

from fastapi import APIRouter, Request

from contracts.events import TagsChanged
from publishing.draft import validated
from publishing.statements import publish_statement
from services.gateway.auth.audit import note_details
from services.gateway.caller_places import CallerPlaces
from services.gateway.documents.dependencies import DocumentDeps
from services.gateway.documents.models import DocumentTagged, DocumentTags
from services.gateway.documents.validity_routes import DocumentId
from services.gateway.errors import no_document
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.event_source import SOURCE

router = APIRouter(tags=["documents"])


@router.put("/documents/{document_id:path}/tags", responses=error_responses(404))
async def tag_document(
    request: Request,
    document_id: DocumentId,
    body: DocumentTags,
    deps: DocumentDeps,
    workspace: Workspace,
    places: CallerPlaces,
) -> DocumentTagged:
    """Give a document these tags in place of those it has, for this and later versions of it."""
    note_details(request, document=document_id, reason=body.reason)
    statement = validated(
        lambda: TagsChanged(document_id=document_id, tags=tuple(body.tags), reason=body.reason)
    )
    sequence = await publish_statement(
        deps.log, workspace=workspace, statement=statement, source=SOURCE
    )
    if sequence is None:
        raise no_document(document_id)
    answer = DocumentTagged(document_id=document_id, tags=body.tags, sequence=sequence)
    return places.shown_in(answer)
