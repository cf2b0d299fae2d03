"""The routes that compare two places of the log, and that take an event back."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AfterValidator, BaseModel, Field

from contracts.text import sanitize
from runtime.bus.points import FORM, MAX_SEQUENCE, NOW
from services.gateway.auth.audit import note_details
from services.gateway.auth.permissions import Principal
from services.gateway.caller_places import CallerPlaces
from services.gateway.past.dependencies import PastDeps
from services.gateway.past.diff import Change, Diff, Difference, diff
from services.gateway.past.reader import WorkspacePast
from services.gateway.past.undo import Undo, Undoing
from services.gateway.reference.responses import error_responses
from services.gateway.strict_model import StrictModel
from services.gateway.workspaces import Workspace
from services.query.errors import BadRequest, Conflict, NotFound

router = APIRouter()

Point = Annotated[str, Query(max_length=64, description=FORM)]

MAX_LISTED = 1000


class FieldChange(BaseModel):
    """A field that differs; null where there was, or is, nothing."""

    before: Any = None
    after: Any = None


class DocumentDifference(BaseModel):
    """A document that is not the same at both places."""

    id: str
    change: Change
    fields: dict[str, FieldChange]


class EntityDifference(BaseModel):
    """An entity that is not the same at both places."""

    name: str
    change: Change
    fields: dict[str, FieldChange]


class RelationDifference(BaseModel):
    """A relation that is not the same at both places."""

    source: str
    target: str
    change: Change
    fields: dict[str, FieldChange]


class DiffResponse(BaseModel):
    """What differs between two places of the log. `counts` counts all; the lists are cut off where
    `is_truncated`.
    """

    from_sequence: int
    to_sequence: int
    counts: dict[str, dict[Change, int]]
    documents: list[DocumentDifference]
    entities: list[EntityDifference]
    relations: list[RelationDifference]
    is_truncated: bool

    @classmethod
    def of(cls, diff: Diff) -> "DiffResponse":
        """Return the answer."""
        return cls(
            from_sequence=diff.before,
            to_sequence=diff.after,
            counts=diff.counts,
            documents=[
                DocumentDifference(
                    id=difference.key[0], change=difference.change, fields=_fields(difference)
                )
                for difference in diff.documents
            ],
            entities=[
                EntityDifference(
                    name=difference.key[0], change=difference.change, fields=_fields(difference)
                )
                for difference in diff.entities
            ],
            relations=[
                RelationDifference(
                    source=difference.key[0],
                    target=difference.key[1],
                    change=difference.change,
                    fields=_fields(difference),
                )
                for difference in diff.relations
            ],
            is_truncated=diff.is_truncated,
        )


def _fields(difference: Difference) -> dict[str, FieldChange]:
    return {
        name: FieldChange(before=before, after=after)
        for name, (before, after) in difference.fields.items()
    }


class UndoRequest(StrictModel):
    """Which event is to be taken back. `dry_run`: only say what would be published."""

    sequence: int = Field(
        ge=1, le=MAX_SEQUENCE, description="of the event in the log", examples=[17]
    )
    reason: Annotated[str, AfterValidator(sanitize), Field(max_length=2000)] = Field(
        default="", description="kept with the undoing of an edit"
    )
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


@router.get("/diff", operation_id="diff")
async def compare(
    past: WorkspacePast,
    from_: Annotated[Point, Query(alias="from", examples=["1"])],
    to: Point = NOW,
    document: Annotated[
        str | None, Query(max_length=4096, description="only what this id or file name says")
    ] = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_LISTED, description="things listed of each kind")
    ] = 200,
) -> DiffResponse:
    """Return documents, entities and relations that appeared, changed or went between two places of
    the log.
    """
    places = [await past.point(point) for point in (from_, to)]
    before, after = await past.states(*places)
    return past.places.shown_in(
        DiffResponse.of(diff(before, after, document=document, limit=limit))
    )


@router.post("/undo", operation_id="undo", responses=error_responses(404, 409))
async def undo(
    body: UndoRequest, deps: PastDeps, workspace: Workspace, request: Request, places: CallerPlaces
) -> UndoResponse:
    """Take back an edit of the graph, a deletion or a new text of a document, by the event that
    compensates it.
    """
    note_details(request, sequence=body.sequence, reason=body.reason, dry_run=body.dry_run)
    principal: Principal = request.state.principal
    work = Undo(deps.log, workspace, principal.name, body.reason)
    sequence = places.sequence(body.sequence)
    try:
        undone = await (work.plan(sequence) if body.dry_run else work.apply(sequence))
    except (BadRequest, Conflict, NotFound) as error:
        raise type(error)(places.shown_in_sentence(str(error))) from None
    answer = places.shown_in(UndoResponse.of(undone))
    return answer.model_copy(update={"description": places.shown_in_sentence(answer.description)})
