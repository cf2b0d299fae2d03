"""What every route is given: what the service was wired with, and the workspace that a request names."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, HTTPException, Request

from contracts.envelope import WORKSPACE_PATTERN
from contracts.envelope import Header as Attributes
from runtime.bus.port import Blobs, GenerationPointers, Log
from services.query.answering.dependencies import QueryDependencies
from services.query.ingestion.scanning import Scans
from services.query.ingestion.uploading import Readers
from services.query.settings import QuerySettings
from services.query.status.port import Documents, Positions

VERSION = "0.1.0"


@dataclass(frozen=True)
class Context:
    """What every route works with."""

    log: Log
    blobs: Blobs
    pointers: GenerationPointers
    documents: Documents
    positions: Positions
    deps: QueryDependencies
    settings: QuerySettings

    @cached_property
    def readers(self) -> Readers:
        """What bounds the reading of files."""
        return Readers(self.settings.max_upload_size)

    @cached_property
    def scans(self) -> Scans:
        """The scans of this process."""
        return Scans(self.settings.input_dir, self.readers)


# Coroutines, though they wait for nothing: FastAPI gives a plain function to another thread, which costs a millisecond.
async def context(request: Request) -> Context:
    """What the service was wired with; 503 until it is."""
    found: Context | None = getattr(request.app.state, "context", None)
    if found is None:
        raise HTTPException(503, "the service is starting; see /health/ready", {"Retry-After": "2"})
    return found


def brand(app: FastAPI) -> tuple[str | None, str | None]:
    """What pages call this deployment and say about it; None before the service is wired, or where nothing is set."""
    found: Context | None = getattr(app.state, "context", None)
    return (found.settings.webui_title or None, found.settings.webui_description or None) if found else (None, None)


def _named(header: str) -> Any:
    # Told only: what it says is checked where all of it is known, the usual workspace included.
    told = {"pattern": f"^$|{WORKSPACE_PATTERN}", "examples": ["default"]}
    return Header(alias=header, description="the workspace", json_schema_extra=told)


async def workspace(
    request: Request,
    _lightrag_workspace: Annotated[str | None, _named("lightrag-workspace")] = None,
    _x_workspace: Annotated[str | None, _named("x-workspace")] = None,
) -> str:
    """The tenant a request means; the gate has read its headers and knows that its credentials are for it."""
    return tenant(request)


def tenant(request: Request) -> str:
    """The workspace that the gate let the request into. Raises HTTPException for a name that none can have."""
    name: str = request.state.workspace
    try:
        Attributes(id="-", source="-", type="-", workspace=name)
    except ValueError:
        raise HTTPException(
            422, "workspace: 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit, not with 'x-'"
        ) from None
    return name


Ctx = Annotated[Context, Depends(context)]
Workspace = Annotated[str, Depends(workspace)]
