"""The route that shows how far the projections are."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from contracts.graph import Projection
from runtime.projections.progress import ProjectionStates
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.rebuild_models import RebuildUnderWay
from services.gateway.operations.scope import WholeDeployment

router = APIRouter()


class ProjectionState(BaseModel):
    """One projection. Positions are sequences of the log."""

    projection: Projection
    generation: int = Field(description="the live one")
    previous: int | None = Field(description="the one that a rollback goes back to")
    candidate: int | None = Field(description="the one that waits for promotion")
    cursor: int = Field(description="up to where its slowest consumer has handled the log")
    head: int = Field(description="the end of the log")
    lag: int = Field(description="events that consumer has yet to handle")
    rate: float = Field(description="events a second that it handled just now")
    state: Literal["current", "behind", "waiting", "lost"]
    why: str = Field(description="what keeps it from being current, where anything but time does")


class PartitionState(BaseModel):
    """One partition of the log."""

    stream: str
    end: int = Field(description="its newest sequence")
    events: int
    size: int = Field(description="bytes on the bus's disk")
    lags: dict[Projection, int] = Field(
        description="by projection: events that its slowest consumer has yet to handle here"
    )


class Projections(BaseModel):
    """All projections, and the rebuild under way, if there is one."""

    projections: list[ProjectionState]
    rebuild: RebuildUnderWay | None
    partitions: list[PartitionState] = Field(
        default=[], description="of the log, where it has several", exclude_if=lambda some: not some
    )

    @classmethod
    def of(cls, read: ProjectionStates) -> "Projections":
        """Return the states as the API shows them."""
        states = [
            ProjectionState.model_validate(state, from_attributes=True)
            for state in read.projections
        ]
        return cls(
            projections=states,
            rebuild=RebuildUnderWay.of(read.rebuild) if read.rebuild else None,
            partitions=[
                PartitionState.model_validate(partition, from_attributes=True)
                for partition in read.partitions
            ],
        )


@router.get("/projections")
async def list_projections(operations: OperationDeps, _: WholeDeployment) -> Projections:
    """Return how far status, graph and vectors are: generation, cursor, head of the log, lag, rate
    and state.

    Takes a second where one is behind, to know its rate.
    """
    return Projections.of(await operations.read_projections())
