"""The route that tries again what failed."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from contracts.events import Stage
from publishing.retries import Retries, request_retries
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import WorkspaceDeps
from services.gateway.operations.retries import ids_to_retry
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import Name, StrictModel
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest
from services.query.event_source import SOURCE
from services.query.partitions import status_partition

router = APIRouter()


class RetryBody(StrictModel):
    """Documents by id or file name, or all of the workspace that failed; with a stage only what
    failed there.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"failed": True, "reason": "the model answers again"}]}
    )

    documents: list[Name] = Field(default=[], max_length=1000, examples=[["port.md"]])
    failed: bool = Field(default=False, description="every document of which a part failed")
    stage: Stage | None = None
    reason: str = Field(default="", max_length=1000, examples=["the model answers again"])


class Retried(BaseModel):
    """Ids that are tried again, and those of which nothing has failed."""

    requested: list[str]
    nothing_failed: list[str]


@router.post("/retry", responses=error_responses(400))
async def retry_documents(
    request: Request, body: RetryBody, deps: WorkspaceDeps, workspace: Workspace
) -> Retried:
    """Try again what failed of documents: only that, so finished chunks are not paid for twice.

    A document that somebody cancelled has not failed; `POST /documents/reprocess_failed` takes that
    up too.
    """
    if bool(body.documents) == body.failed:
        raise BadRequest("name documents, or say failed: true")
    note_details(request, documents=body.documents, stage=body.stage or "", reason=body.reason)
    partition = await status_partition(deps.pointers, workspace)
    ids = await ids_to_retry(deps.documents, partition, body.documents)
    outcome = await request_retries(
        deps.log, Retries(workspace, ids, body.stage, body.reason), SOURCE
    )
    return Retried(requested=outcome.requested, nothing_failed=outcome.nothing_failed)
