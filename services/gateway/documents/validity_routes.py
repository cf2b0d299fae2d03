"""The routes about when documents hold and what they supersede."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from contracts.events import SupersessionStated
from contracts.values import Validity
from publishing.draft import validated
from publishing.statements import publish_statement
from publishing.supersession import decide_supersession
from runtime.bus.actor import current_actor
from services.gateway.auth.audit import note_details
from services.gateway.caller_places import caller_places
from services.gateway.documents.dependencies import DocumentDependencies, DocumentDeps
from services.gateway.documents.supersession_proposals import proposals
from services.gateway.documents.supersession_rules import RULES, Rule
from services.gateway.documents.validity_models import (
    DocumentValidity,
    SupersessionDecision,
    SupersessionProposal,
    SupersessionProposals,
    ValidityStated,
    ValidityStatement,
)
from services.gateway.errors import no_document
from services.gateway.reference.responses import error_responses
from services.gateway.workspaces import Workspace
from services.query.event_source import SOURCE
from services.query.status.document_status import LEAVING, DocumentStatus

router = APIRouter(tags=["documents"])

PATH = "/documents/{document_id:path}/validity"

DocumentId = Annotated[
    str, Path(min_length=1, max_length=512, examples=["policy-2026.md"], description="its id")
]


@router.get(PATH, responses=error_responses(404))
async def document_validity(
    document_id: DocumentId, deps: DocumentDeps, workspace: Workspace
) -> DocumentValidity:
    """Return when a document holds, what it supersedes and what supersedes it."""
    status = await _document(document_id, deps, workspace)
    partition = await deps.partition(workspace)
    links = await deps.documents.related_by_validity(partition, [document_id])
    other_ids = sorted(links.get(document_id, set()) - {document_id})
    states = await deps.documents.get(partition, other_ids)
    superseded_by = [
        id
        for id, (state, _) in sorted(states.items())
        if state.status not in LEAVING
        and state.validity
        and document_id in state.validity.supersedes
    ]
    return DocumentValidity.of(status, superseded_by)


@router.put(PATH, responses=error_responses(404))
async def state_document_validity(
    document_id: DocumentId,
    body: ValidityStatement,
    deps: DocumentDeps,
    workspace: Workspace,
    request: Request,
) -> ValidityStated:
    """State when a document holds and what it supersedes, in place of what was said before."""
    validity = body.validity()
    note_details(request, document=document_id, supersedes=body.supersedes, reason=body.reason)
    statement = await _stated(document_id, validity, body.reason, deps, workspace)
    places = await caller_places(request, workspace)
    return places.shown_in(statement)


@router.delete(PATH, responses=error_responses(404))
async def withdraw_document_validity(
    document_id: DocumentId,
    deps: DocumentDeps,
    workspace: Workspace,
    request: Request,
    reason: Annotated[str, Query(max_length=1000)] = "",
) -> ValidityStated:
    """Take back what was stated: what the document was added with holds again."""
    note_details(request, document=document_id, reason=reason)
    statement = await _stated(document_id, None, reason, deps, workspace)
    places = await caller_places(request, workspace)
    return places.shown_in(statement)


@router.get("/documents/supersessions/proposals")
async def supersession_proposals(
    deps: DocumentDeps,
    workspace: Workspace,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    rule: Annotated[list[Rule] | None, Query(description="only of these rules")] = None,
) -> SupersessionProposals:
    """Return documents that, by their names, may supersede others and of which nobody has decided.

    It compares the names of the newest 20,000 documents.
    """
    partition = await deps.partition(workspace)
    page = await proposals(deps.documents, partition, limit=limit, rules=rule or RULES)
    return SupersessionProposals(
        proposals=[SupersessionProposal.of(item) for item in page.supersessions],
        looked_at=page.looked_at,
        documents=page.documents,
    )


@router.post(f"{PATH}/decisions", responses=error_responses(404))
async def decide_document_supersession(
    document_id: DocumentId,
    body: SupersessionDecision,
    deps: DocumentDeps,
    workspace: Workspace,
    request: Request,
) -> ValidityStated:
    """Decide that a document supersedes another one, or that both stay in force. What else holds
    of it stays as it is; the other decision takes this one back.
    """
    note_details(
        request,
        document=document_id,
        decision="accepted" if body.is_accepted else "rejected",
        supersedes=body.supersedes,
        reason=body.reason,
    )
    decision = validated(
        lambda: SupersessionStated(
            document_id=document_id,
            editor=(current_actor() or "")[:256],
            reason=body.reason,
        )
    )
    sequence = await decide_supersession(
        deps.log,
        workspace=workspace,
        decision=decision,
        supersedes=body.supersedes,
        is_accepted=body.is_accepted,
        source=SOURCE,
    )
    if sequence is None:
        raise no_document(document_id)
    unknown_ids = await _unknown_ids([body.supersedes], deps, workspace)
    statement = ValidityStated(document_id=document_id, sequence=sequence, unknown=unknown_ids)
    return (await caller_places(request, workspace)).shown_in(statement)


async def _stated(
    document_id: str,
    validity: Validity | None,
    reason: str,
    deps: DocumentDependencies,
    workspace: str,
) -> ValidityStated:
    statement = validated(
        lambda: SupersessionStated(
            document_id=document_id,
            validity=validity,
            editor=(current_actor() or "")[:256],
            reason=reason,
        )
    )
    sequence = await publish_statement(
        deps.log, workspace=workspace, statement=statement, source=SOURCE
    )
    if sequence is None:
        raise no_document(document_id)
    superseded_ids = validity.supersedes if validity else ()
    unknown_ids = await _unknown_ids(superseded_ids, deps, workspace)
    return ValidityStated(document_id=document_id, sequence=sequence, unknown=unknown_ids)


async def _unknown_ids(ids: Sequence[str], deps: DocumentDependencies, workspace: str) -> list[str]:
    states = await deps.documents.get(await deps.partition(workspace), ids)
    present_ids = {id for id, (state, _) in states.items() if state.status not in LEAVING}
    return [id for id in ids if id not in present_ids]


async def _document(document_id: str, deps: DocumentDependencies, workspace: str) -> DocumentStatus:
    states = await deps.documents.get(await deps.partition(workspace), [document_id])
    if document_id not in states or states[document_id][0].status in LEAVING:
        raise no_document(document_id)
    return states[document_id][0]
