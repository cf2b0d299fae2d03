"""The dependencies of every route: the stores and settings of the service, and the workspace of the
request.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Protocol

from fastapi import Depends, FastAPI, Header, HTTPException, Request

from contracts.envelope import Header as Attributes
from contracts.ids import WORKSPACE_PATTERN
from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Blobs, LiveGenerations, Log
from services.query.answering.dependencies import QueryDependencies
from services.query.charges import Charges
from services.query.feeds.streams import EventStreams
from services.query.ingestion.scanning import Scans
from services.query.ingestion.uploading import ReadLimits
from services.query.operations.dependencies import Operations
from services.query.partitions import Partitions
from services.query.past.present import Present
from services.query.past.reading import Past
from services.query.settings import QuerySettings
from services.query.status.current_partitions import CurrentPartitions
from services.query.status.port import Documents, Positions


class PastAnswers(Protocol):
    """Gives what questions about the past are answered from."""

    async def at(
        self, past: Past, workspace: str, sequence: int, deps: QueryDependencies, generation: int, /
    ) -> tuple[QueryDependencies, Partitions]:
        """Return where to search, by the embedding model of this generation of vectors, which is
        the live one.

        Raises TooLarge, Unavailable, and what embedding raises.
        """
        ...


@dataclass(frozen=True)
class Context:
    """The stores, ports and settings that routes pass to use cases."""

    log: Log
    blobs: Blobs
    pointers: LiveGenerations
    documents: Documents
    positions: Positions
    deps: QueryDependencies
    settings: QuerySettings
    operations: Operations
    feed: EventFeed
    streams: EventStreams
    past_answers: PastAnswers
    present: Present | None = None
    """Where large pasts are read from; None: they are refused."""

    @cached_property
    def current(self) -> CurrentPartitions:
        """Return where questions are answered from."""
        return CurrentPartitions(self.pointers, self.positions)

    @cached_property
    def past(self) -> Past:
        """Return the past of all workspaces, as far as this process has read it."""
        return Past(self.log, self.settings.summary_limits, self.present)

    @cached_property
    def charges(self) -> Charges:
        """Return what questions were paid for and is not in the log yet."""
        return Charges(self.log)

    @cached_property
    def read_limits(self) -> ReadLimits:
        """Return the bounds for reading files, shared by all requests."""
        return ReadLimits(self.settings.max_upload_size)

    @cached_property
    def scans(self) -> Scans:
        """Return the scans of this process."""
        return Scans(self.settings.input_dir, self.read_limits)


# Coroutines, though they await nothing: FastAPI runs a plain function in another thread, which
# costs a millisecond.
async def context(request: Request) -> Context:
    """Return the stores and settings of the service. Raises a 503 until they are set."""
    ctx: Context | None = getattr(request.app.state, "context", None)
    if ctx is None:
        raise HTTPException(503, "the service is starting; see /health/ready", {"Retry-After": "2"})
    return ctx


def brand(app: FastAPI) -> tuple[str | None, str | None]:
    """Return the title and description of this deployment; None where not set, or before the
    service is wired.
    """
    ctx: Context | None = getattr(app.state, "context", None)
    return (
        (ctx.settings.webui_title or None, ctx.settings.webui_description or None)
        if ctx
        else (None, None)
    )


def _workspace_header(header: str) -> Any:
    # For the OpenAPI document only: AuthMiddleware reads the header, and `checked_workspace` checks
    # the value.
    schema = {"pattern": f"^$|{WORKSPACE_PATTERN}", "examples": ["default"]}
    return Header(alias=header, description="the workspace", json_schema_extra=schema)


async def workspace(
    request: Request,
    _lightrag_workspace: Annotated[str | None, _workspace_header("lightrag-workspace")] = None,
    _x_workspace: Annotated[str | None, _workspace_header("x-workspace")] = None,
) -> str:
    """Return the workspace of a request; AuthMiddleware has read its headers and checked the
    permissions.
    """
    return checked_workspace(request)


def checked_workspace(request: Request) -> str:
    """Return the workspace that AuthMiddleware permitted. Raises HTTPException for a name that none
    can have.
    """
    name: str = request.state.workspace
    try:
        Attributes(id="-", source="-", type="-", workspace=name)
    except ValueError:
        raise HTTPException(
            422,
            (
                "workspace: 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or "
                "digit, not with 'x-'"
            ),
        ) from None
    return name


Ctx = Annotated[Context, Depends(context)]
Workspace = Annotated[str, Depends(workspace)]
