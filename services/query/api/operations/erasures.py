"""The routes about erasures: ask for some, see what was erased."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from services.query.api.auth.audit import note_details
from services.query.api.context import Ctx, Workspace
from services.query.api.strict_model import StrictModel
from services.query.operations.erasures import list_erasures, request_erasures

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
    """What is still to be erased, and what was, oldest first; at most 1,000 of each."""

    requested: list[str]
    erased: list[ErasedDocument]


@router.post("/erasures", status_code=202)
async def ask_for_erasures(
    request: Request, body: ErasureWish, ctx: Ctx, workspace: Workspace
) -> ErasuresRequested:
    """Delete documents, and have an operator erase them for good: `lightstream erase --requested
    --yes`.
    """
    note_details(request, documents=body.document_ids, reason=body.reason)
    outcome = await request_erasures(ctx.log, workspace, body.document_ids, body.reason)
    return ErasuresRequested(requested=outcome.requested, unknown=outcome.unknown)


@router.get("/erasures")
async def erasures(ctx: Ctx, workspace: Workspace) -> Erasures:
    """Return the documents that are still to be erased, and the receipts of those that were."""
    requested, erased = await list_erasures(ctx.log, workspace)
    return Erasures(
        requested=requested,
        erased=[ErasedDocument.model_validate(one, from_attributes=True) for one in erased],
    )
