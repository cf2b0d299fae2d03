"""The route that shows the providers of models: what is asked of them, and which of them waits
until when.
"""

import time
from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from runtime.models.limits import ProviderState
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.scope import WholeDeployment

router = APIRouter()


class Provider(BaseModel):
    """One provider, as all replicas of all services share it."""

    name: str
    calls: int = Field(description="that run or are waited for now")
    requests: int = Field(description="of the last minute, where a limit is set")
    tokens: int = Field(description="of the last minute, where a limit is set")
    failures: int = Field(description="one after the other, until now")
    paused: bool
    paused_since: datetime | None
    paused_until: datetime | None = Field(description="no call goes out before; then one tries")
    reason: str = Field(description="why it is paused")

    @classmethod
    def of(cls, state: ProviderState, now: float) -> "Provider":
        """Return it as the API shows it."""
        is_paused = state.until > now or state.is_open
        bookings = state.booked.values()
        return cls(
            name=state.name,
            calls=sum(lease.want for lease in state.shares.values() if lease.until > now),
            requests=sum(requests for requests, _ in bookings),
            tokens=sum(tokens for _, tokens in bookings),
            failures=state.failures,
            paused=is_paused,
            paused_since=datetime.fromtimestamp(state.since, UTC) if is_paused else None,
            paused_until=datetime.fromtimestamp(state.until, UTC) if is_paused else None,
            reason=state.reason if is_paused else "",
        )


class Providers(BaseModel):
    """The providers that were called within a day."""

    providers: list[Provider]


@router.get("/providers")
async def list_providers(operations: OperationDeps, _: WholeDeployment) -> Providers:
    """Return each provider of models: calls, requests and tokens of the last minute, and whether it
    is paused.
    """
    states = await operations.read_providers()
    now = time.time()
    return Providers(
        providers=sorted(
            (Provider.of(state, now) for state in states), key=lambda provider: provider.name
        )
    )
