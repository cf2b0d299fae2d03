"""The route that shows which events are parked, and why."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from runtime.bus.parking.counts import ParkedCount, count_parked
from runtime.bus.parking.port import Reason
from services.gateway.caller_places import CallerPlaces
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.scope import ChosenWorkspace

router = APIRouter()


class ParkedEvents(BaseModel):
    """Events of one workspace that are parked for one reason, and the first of them."""

    workspace: str
    reason: Reason
    events: int
    durables: list[str] = Field(description="the consumers that the events wait for")
    first: int = Field(description="sequence of the first of them")
    type: str
    version: int
    document: str
    error: str
    is_least: bool = Field(False, description="there may be more, among older ones")
    summary: str = Field(description="all of this as a sentence")

    @classmethod
    def of(cls, count: ParkedCount) -> "ParkedEvents":
        """Return them as the API shows them."""
        return cls.model_validate({**vars(count), "summary": str(count)})


class ParkedList(BaseModel):
    """What is parked, by workspace and reason."""

    parked: list[ParkedEvents]
    total: int = Field(
        0,
        description="all that is parked, for each consumer apart; of more than 5,000 the newest "
        "5,000 are counted by reason, and those of one workspace up to 100,000",
    )


@router.get("/parked")
async def list_parked(
    operations: OperationDeps, workspace: ChosenWorkspace, places: CallerPlaces
) -> ParkedList:
    """Return how many events of the workspace are parked, for which reason, and the first of
    them.
    """
    counts = await count_parked(operations.parked_events, workspace)
    groups = [ParkedEvents.of(count) for count in counts.counts]
    return places.shown_in(ParkedList(parked=groups, total=counts.total), "first")
