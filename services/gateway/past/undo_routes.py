"""The routes that take events back: one, or all behind a place of the log."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from contracts.text import sanitize
from runtime.bus.points import FORM, MAX_SEQUENCE
from runtime.errors import NotFound
from services.gateway.auth.audit import note_details
from services.gateway.auth.permissions import Principal
from services.gateway.caller_places import CallerPlaces
from services.gateway.past.dependencies import PastDeps
from services.gateway.past.points import sequence_of
from services.gateway.past.undo import Undo, Undoing
from services.gateway.past.undo_events import CommonUndoing, plan_events
from services.gateway.past.undo_since import plan_since
from services.gateway.places import Places
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest, Conflict

router = APIRouter()

MAX_UNDONE = 1000
"""Events, and documents, of one request."""

UndoReason = Annotated[str, AfterValidator(sanitize), Field(max_length=2000)]


class UndoRequest(StrictModel):
    """Which event is to be taken back. `dry_run`: only say what would be published."""

    sequence: int = Field(
        ge=1, le=MAX_SEQUENCE, description="of the event in the log", examples=[17]
    )
    reason: UndoReason = Field(default="", description="kept with the undoing of an edit")
    dry_run: bool = False


class UndoResponse(BaseModel):
    """What takes the event back. `position`: when it was published, in microseconds since 1970; 0
    for a dry run.
    """

    sequence: int
    type: str
    description: str
    published: bool
    position: int
    event_type: str
    event: dict[str, Any]

    @classmethod
    def of(cls, undoing: Undoing) -> "UndoResponse":
        """Return the answer; texts of documents are left out."""
        return cls(
            sequence=undoing.sequence,
            type=undoing.type,
            description=undoing.description,
            published=bool(undoing.position),
            position=undoing.position,
            event_type=undoing.event.type_name(),
            event=undoing.event.model_dump(
                mode="json", exclude={"text", "knowledge"}, exclude_defaults=True
            ),
        )


class UndoSinceRequest(StrictModel):
    """Behind which place of the log everything is to be taken back. `dry_run`: only say what would
    be published.
    """

    since: str = Field(min_length=1, max_length=64, description=FORM, examples=["17"])
    reason: UndoReason = Field(default="", description="kept with the undoing of each edit")
    dry_run: bool = False


class UndoEventsRequest(StrictModel):
    """Which events are to be taken back: those at `sequences`, and the last deletions of
    `documents`, at least one of them. `dry_run`: only say what would be published.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sequences": [17, 18], "reason": "a bad afternoon"}]}
    )

    sequences: Annotated[
        list[Annotated[int, Field(ge=1, le=MAX_SEQUENCE)]], Field(max_length=MAX_UNDONE)
    ] = Field(default=[], description="of events in the log")
    documents: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=512)]], Field(max_length=MAX_UNDONE)
    ] = Field(default=[], description="ids of documents that were deleted")
    reason: UndoReason = Field(default="", description="kept with the undoing of each edit")
    dry_run: bool = False


class EventLeft(BaseModel):
    """An event that is not taken back, and why."""

    sequence: int
    type: str
    reason: str


class UndoEventsResponse(BaseModel):
    """What takes the events back, newest first, and which of them stay."""

    published: bool
    undone: list[UndoResponse]
    left: list[EventLeft]


class UndoSinceResponse(UndoEventsResponse):
    """The same of everything behind the sequence `since`."""

    since: int


@router.post("/undo", operation_id="undo", responses=error_responses(404, 409))
async def undo(
    body: UndoRequest, deps: PastDeps, workspace: Workspace, request: Request, places: CallerPlaces
) -> UndoResponse:
    """Take back an edit of the graph, a deletion or a new text of a document, or what was stated of
    its validity, by the event that compensates it.
    """
    note_details(request, sequence=body.sequence, reason=body.reason, dry_run=body.dry_run)
    principal: Principal = request.state.principal
    work = Undo(deps.log, workspace, principal.name, body.reason)
    sequence = places.sequence(body.sequence)
    try:
        undone = await (work.plan(sequence) if body.dry_run else work.apply(sequence))
    except (BadRequest, Conflict, NotFound) as error:
        raise type(error)(places.shown_in_sentence(str(error))) from None
    return _shown(UndoResponse.of(undone), places)


@router.post("/undo_since", operation_id="undo_since")
async def undo_since(
    body: UndoSinceRequest,
    deps: PastDeps,
    workspace: Workspace,
    request: Request,
    places: CallerPlaces,
) -> UndoSinceResponse:
    """Take back all edits, deletions and new texts behind a place of the log, as one act.

    Documents that were added since stay, and are listed: to take one back, delete it.
    """
    note_details(request, since=body.since, reason=body.reason, dry_run=body.dry_run)
    principal: Principal = request.state.principal
    work = Undo(deps.log, workspace, principal.name, body.reason)
    since = await sequence_of(deps.past, workspace, body.since, places)
    plan = await plan_since(work, since)
    undoing = plan if body.dry_run else await plan.publish(work)
    return UndoSinceResponse(
        since=places.shown(since),
        published=not body.dry_run,
        undone=_undone(undoing, places),
        left=_left(undoing, places),
    )


@router.post("/undo_events", operation_id="undo_events")
async def undo_events(
    body: UndoEventsRequest,
    deps: PastDeps,
    workspace: Workspace,
    request: Request,
    places: CallerPlaces,
) -> UndoEventsResponse:
    """Take back several events as one act: edits, deletions, new texts and statements of validity.

    What cannot be taken back stays, and is listed with the reason; the others are taken back.
    """
    if not body.sequences and not body.documents:
        raise BadRequest("name what to undo: sequences, or documents that were deleted")
    note_details(
        request,
        sequences=body.sequences,
        documents=body.documents,
        reason=body.reason,
        dry_run=body.dry_run,
    )
    principal: Principal = request.state.principal
    work = Undo(deps.log, workspace, principal.name, body.reason)
    sequences = [places.sequence(sequence) for sequence in body.sequences]
    plan = await plan_events(work, sequences, body.documents)
    undoing = plan if body.dry_run else await plan.publish(work)
    return UndoEventsResponse(
        published=not body.dry_run, undone=_undone(undoing, places), left=_left(undoing, places)
    )


def _undone(undoing: CommonUndoing, places: Places) -> list[UndoResponse]:
    return [_shown(UndoResponse.of(plan), places) for plan in undoing.undoings]


def _left(undoing: CommonUndoing, places: Places) -> list[EventLeft]:
    return [
        EventLeft(
            sequence=places.shown(remainder.sequence),
            type=remainder.type,
            reason=places.shown_in_sentence(remainder.reason),
        )
        for remainder in undoing.remainders
    ]


def _shown(answer: UndoResponse, places: Places) -> UndoResponse:
    """Return the answer with sequences as its caller sees them."""
    shown_answer = places.shown_in(answer)
    description = places.shown_in_sentence(shown_answer.description)
    return shown_answer.model_copy(update={"description": description})
