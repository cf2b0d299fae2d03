"""The routes about the graph as it was."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from runtime.bus.points import FORM, NOW
from runtime.errors import NotFound
from services.gateway.graph.models import Name
from services.gateway.past.history import Effect, EntityHistory, HistoryEvent
from services.gateway.past.reader import VisiblePast
from services.gateway.reference.responses import error_responses

router = APIRouter(tags=["graph"])


class RelationStatement(BaseModel):
    """A relation of the entity that a chunk states."""

    source: str
    target: str
    description: str


class EntityEvent(BaseModel):
    """One event of an entity's history; what does not apply to its type is empty. `at`:
    microseconds since 1970.

    `names`: the entity as the event calls it; of an edit all that it is about.
    """

    sequence: int
    at: int
    type: str
    effect: Effect
    names: list[str]
    document_id: str = ""
    file_path: str = ""
    chunk_id: str = ""
    order: int | None = None
    entity_type: str = ""
    description: str = ""
    relations: list[RelationStatement] = []
    operation: str = ""
    target: str = ""
    editor: str = ""
    reason: str = ""
    undone_by: int | None = None

    @classmethod
    def of(cls, event: HistoryEvent) -> "EntityEvent":
        """Return the entry of an event."""
        return cls.model_validate(asdict(event))


class EntityHistoryResponse(BaseModel):
    """The events that made an entity what it is, oldest first. `names`: those that documents use
    for it.

    `exists`: whether the entity is there at `sequence`. `total` counts all events.
    """

    name: str
    sequence: int
    exists: bool
    names: list[str]
    total: int
    events: list[EntityEvent]

    @classmethod
    def of(cls, history: EntityHistory, after: int, limit: int) -> "EntityHistoryResponse":
        """Return a page of the history."""
        page = [event for event in history.events if event.sequence > after][:limit]
        return cls(
            name=history.name,
            sequence=history.sequence,
            exists=history.exists,
            names=history.names,
            total=len(history.events),
            events=list(map(EntityEvent.of, page)),
        )


@router.get("/graph/entity/history", operation_id="entity_history", responses=error_responses(404))
async def history(
    past: VisiblePast,
    name: Annotated[Name, Query(examples=["Ada Marlow"])],
    at: Annotated[str, Query(max_length=64, description=f"up to {FORM}")] = NOW,
    after: Annotated[int, Query(ge=0, description="the last `sequence` of the page before")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> EntityHistoryResponse:
    """Return the events that made an entity what it is, each with its chunk. 404: nothing ever
    spoke of it.
    """
    sequence = await past.point(at)
    changes = await past.entity_history(sequence, name)
    if not changes.events:
        place = past.places.shown(sequence)
        raise NotFound(f"up to sequence {place} nothing speaks of an entity of the name {name!r}")
    page = EntityHistoryResponse.of(changes, past.places.sequence(after), limit)
    return past.places.shown_in(page)
