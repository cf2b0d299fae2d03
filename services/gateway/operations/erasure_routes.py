"""The routes about erasures: ask for some, see what was erased."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from runtime.bus.points import MAX_SEQUENCE
from services.gateway.auth.audit import note_details
from services.gateway.caller_places import CallerPlaces
from services.gateway.operations.dependencies import WorkspaceDeps
from services.gateway.operations.erasures import list_erasures, request_erasures
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace

router = APIRouter()

DocumentId = Annotated[str, Field(min_length=1, max_length=512)]


class ErasureWish(StrictModel):
    """Documents to be erased for good, and why, for whoever reads the log later."""

    document_ids: list[DocumentId] = Field(min_length=1, max_length=1000, examples=[["doc-17"]])
    reason: str = Field(default="", max_length=1000, examples=["request 17"])


class ErasuresRequested(BaseModel):
    """Documents that are deleted now and to be erased by an operator, and ids that no document
    has.
    """

    requested: list[str]
    unknown: list[str]


class ErasedDocument(BaseModel):
    """A document that was erased."""

    document: str
    at: datetime
    receipt: str = Field(description="sha256 of the receipt")
    reason: str
    actor: str | None = Field(description="in whose name")


class Erasures(BaseModel):
    """What is still to be erased, and what was, the newest first."""

    requested: list[str]
    erased: list[ErasedDocument]
    before: int | None = Field(
        description="give it as `before` to read what came earlier; null where there is no more"
    )


@router.post("/erasures", status_code=202)
async def ask_for_erasures(
    request: Request, body: ErasureWish, deps: WorkspaceDeps, workspace: Workspace
) -> ErasuresRequested:
    """Delete documents, and have an operator erase them for good: `lightstream erase --requested
    --yes`.
    """
    note_details(request, documents=body.document_ids, reason=body.reason)
    outcome = await request_erasures(deps.log, workspace, body.document_ids, body.reason)
    return ErasuresRequested(requested=outcome.requested_ids, unknown=outcome.unknown_ids)


@router.get("/erasures")
async def erasures(
    deps: WorkspaceDeps,
    workspace: Workspace,
    places: CallerPlaces,
    before: Annotated[
        int | None, Query(ge=0, le=MAX_SEQUENCE, description="what is in front of this place")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="of each of both lists")] = 1000,
) -> Erasures:
    """Return the newest documents that are still to be erased, and the receipts of those that were;
    or those in front of `before`.
    """
    sequence = None if before is None else places.sequence(before)
    page = await list_erasures(deps.feed, workspace, sequence, limit)
    return Erasures(
        requested=page.requested_ids,
        erased=[
            ErasedDocument.model_validate(document, from_attributes=True)
            for document in page.erased_documents
        ],
        before=None if page.before is None else places.shown(page.before),
    )
