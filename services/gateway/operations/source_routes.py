"""The routes about sources. Reading one needs its files, keys and network: `lightstream sync`."""

from typing import Self

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from contracts.events import SourceState
from publishing.sources import SyncedSource, read_sources, set_source
from services.gateway.auth.audit import note_details
from services.gateway.operations.dependencies import WorkspaceDeps
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace
from services.query.event_source import SOURCE

router = APIRouter(prefix="/sources")


class SourceEntry(BaseModel):
    """A source, and how its last run ended that did; null and 0 where none has."""

    source: str = Field(description="its address, without secrets")
    state: SourceState
    state_reason: str = Field(description="why it was paused or resumed")
    state_by: str
    documents: int = Field(description="documents that were read and are there")
    synced_at: AwareDatetime | None
    synced_by: str
    refused: int = Field(description="documents that could not be read")
    kept: int = Field(description="gone from it, and not deleted as they were too many at once")

    @classmethod
    def of(cls, source: SyncedSource) -> Self:
        """Return the source as the log has it."""
        last_run = source.last_run
        return cls(
            source=source.name,
            state=source.state,
            state_reason=source.state_reason,
            state_by=source.state_actor,
            documents=len(source.versions),
            synced_at=source.synced_at,
            synced_by=source.actor,
            refused=last_run.refusal_count if last_run else 0,
            kept=last_run.kept_count if last_run else 0,
        )


class SourceChange(StrictModel):
    """A source by its address, and why it is paused or resumed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"source": "s3://harbour/minutes", "reason": "the bucket is moved"}]
        }
    )

    source: str = Field(min_length=1, max_length=1024)
    reason: str = Field(default="", max_length=1000)


class SourceChanged(BaseModel):
    """The state of a source, and the one before."""

    source: str
    state: SourceState
    before: SourceState


@router.get("")
async def sources(deps: WorkspaceDeps, workspace: Workspace) -> list[SourceEntry]:
    """Return the sources that the workspace is kept in step with, by address."""
    return [SourceEntry.of(source) for source in await read_sources(deps.log, workspace)]


@router.post("/pause", responses=error_responses(404))
async def pause_source(
    request: Request, body: SourceChange, deps: WorkspaceDeps, workspace: Workspace
) -> SourceChanged:
    """Have nothing read of a source until it is resumed; its documents stay."""
    return await _set(request, body, deps, workspace, "paused")


@router.post("/resume", responses=error_responses(404))
async def resume_source(
    request: Request, body: SourceChange, deps: WorkspaceDeps, workspace: Workspace
) -> SourceChanged:
    """Let a paused source be read again by the next run of `lightstream sync`."""
    return await _set(request, body, deps, workspace, "active")


async def _set(
    request: Request, body: SourceChange, deps: WorkspaceDeps, workspace: str, state: SourceState
) -> SourceChanged:
    note_details(request, source=body.source, reason=body.reason)
    before = await set_source(
        deps.log, workspace, body.source, state, reason=body.reason, publisher=SOURCE
    )
    return SourceChanged(source=body.source, state=state, before=before.state)
