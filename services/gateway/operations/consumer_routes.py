"""The route that shows how far every consumer is, and how fast."""

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, Field

from contracts.registry import service_of
from contracts.topology import declared_consumer
from services.gateway.operations.consumers import ConsumerRate
from services.gateway.operations.dependencies import OperationDeps, WorkspaceDeps
from services.gateway.operations.scope import WholeDeployment

router = APIRouter()


class ConsumerProgress(BaseModel):
    """One durable consumer. `pending + ack_pending` over `rate` is about how many seconds it still
    takes.
    """

    name: str
    stage: str = Field(description="the service whose consumer it is")
    pending: int = Field(description="events that were not delivered yet")
    ack_pending: int = Field(description="delivered and not handled yet")
    redelivered: int = Field(description="of these, delivered more than once")
    delivered: int = Field(description="sequence of the newest event delivered")
    handled: int = Field(description="sequence up to which everything is handled")
    rate: float | None = Field(
        description="events a second since `rate_since`; null at the first request"
    )
    rate_since: AwareDatetime | None

    @classmethod
    def of(cls, rate: ConsumerRate) -> "ConsumerProgress":
        """Return the consumer as the API shows it."""
        state = rate.state
        return cls(
            name=state.name,
            stage=service_of(declared_consumer(state.name)),
            pending=state.pending,
            ack_pending=state.ack_pending,
            redelivered=state.redelivered_count,
            delivered=state.delivered_sequence,
            handled=state.handled_sequence,
            rate=rate.rate,
            rate_since=rate.since,
        )


class Consumers(BaseModel):
    """Every consumer in the order of the pipeline, and the end of the log."""

    consumers: list[ConsumerProgress]
    last_sequence: int


@router.get("/consumers")
async def list_consumers(
    operations: OperationDeps, deps: WorkspaceDeps, _: WholeDeployment
) -> Consumers:
    """Return how far every consumer of the deployment is. Rates are counted from requests of the
    last minute.
    """
    rates = await operations.consumers.current()
    return Consumers(
        consumers=[ConsumerProgress.of(rate) for rate in rates],
        last_sequence=(await deps.log.end()).event_count,
    )
