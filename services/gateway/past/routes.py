"""The routes that compare two places of the log, and that take an event back."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from runtime.bus.points import FORM, NOW
from services.gateway.past.diff import Change, Diff, Difference, diff
from services.gateway.past.reader import VisiblePast
from services.gateway.reference.responses import error_responses

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


@router.get("/diff", operation_id="diff", responses=error_responses(404))
async def compare(
    past: VisiblePast,
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
