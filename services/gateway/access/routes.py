"""The routes about who may see a document. No logic: a request becomes a call, its result an
answer.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from publishing.access import AccessState, access_state, access_statements, change_access
from publishing.current_version import existing_id, is_known
from runtime.bus.points import FORM, NOW
from services.gateway.access.explaining import explain
from services.gateway.access.models import (
    AccessChange,
    AccessChanged,
    DocumentAccess,
    Explanation,
)
from services.gateway.auth.audit import note_details
from services.gateway.auth.permissions import split_list, viewer_of
from services.gateway.caller_places import CallerPlaces
from services.gateway.errors import no_document
from services.gateway.past.dependencies import PastDependencies, PastDeps
from services.gateway.past.points import sequence_of
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest
from services.query.event_source import SOURCE
from services.query.visibility.moves import read_moves, texts_at

router = APIRouter(prefix="/documents/access", tags=["documents"], responses=error_responses(404))

DocumentId = Annotated[
    str, Query(min_length=1, max_length=512, examples=["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"])
]


@router.get("", operation_id="document_access")
async def document_access(
    doc_id: DocumentId, deps: PastDeps, workspace: Workspace
) -> DocumentAccess:
    """Return who may see a document."""
    id, state = await _state(deps, workspace, doc_id)
    return DocumentAccess.of(id, _existing(id, state))


@router.put("", operation_id="change_document_access")
async def change_document_access(
    request: Request, doc_id: DocumentId, body: AccessChange, deps: PastDeps, workspace: Workspace
) -> AccessChanged:
    """Change who may see a document; nothing of it is extracted again. The answer comes once the
    log has it, and from then on nobody else sees the document.
    """
    note_details(request, document=doc_id, reason=body.reason)
    change = await change_access(
        deps.log,
        workspace=workspace,
        id=doc_id,
        access=body.access.access() if body.access else None,
        source=SOURCE,
        reason=body.reason,
    )
    if change is None:
        raise no_document(doc_id)
    return AccessChanged(document_id=change.document_id, is_new=change.is_new)


@router.get("/explain", operation_id="explain_document_access")
async def explain_document_access(
    doc_id: DocumentId,
    deps: PastDeps,
    workspace: Workspace,
    places: CallerPlaces,
    principals: Annotated[
        str,
        Query(
            max_length=4096,
            description="who asks: `user:ann,group:legal`; empty: somebody of no group",
            examples=["user:ann,group:legal"],
        ),
    ] = "",
    at: Annotated[str, Query(max_length=64, description=f"when: {FORM}")] = NOW,
) -> Explanation:
    """Return whether somebody may see a document, or could at a time, and why; also of one that is
    deleted.
    """
    try:
        viewer = viewer_of(split_list(principals))
    except ValueError as error:
        raise BadRequest(str(error)) from None
    sequence = None if at == NOW else await sequence_of(deps.past, workspace, at, places)
    id, state = await _state(deps, workspace, doc_id, sequence)
    if not state.is_there and not await is_known(deps.log, workspace, id):
        raise no_document(doc_id)
    is_visible, reason = explain(state.texts, viewer.principals)
    return Explanation(
        **vars(DocumentAccess.of(id, state)),
        principals=list(viewer.principals),
        is_visible=is_visible,
        reason=reason,
    )


async def _state(
    deps: PastDependencies, workspace: str, doc_id: str, sequence: int | None = None
) -> tuple[str, AccessState]:
    """Return id and access of a document, at a place of the log if one is given."""
    id = await existing_id(deps.log, workspace=workspace, id=doc_id)
    statements = await access_statements(deps.log, workspace, id)
    state = access_state(
        statement for statement in statements if sequence is None or statement.sequence <= sequence
    )
    if not state.texts.older_lists:
        return id, state
    texts = texts_at(await read_moves(deps.log, workspace, id), sequence)
    return id, state._replace(texts=texts)


def _existing(id: str, state: AccessState) -> AccessState:
    """Return the state of that document. Raises NotFound where the document is not there."""
    if not state.is_there:
        raise no_document(id)
    return state
