"""What operations on the deployment work with. Each operation adds the port that it needs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from runtime.bus.dead_letters import DeadLetters
from runtime.bus.parking.port import ParkedEvents
from runtime.findings import Finding
from runtime.models.limits import ProviderState
from runtime.projections.progress import ProjectionStates
from services.query.operations.consumers import ConsumerRates
from services.query.operations.rebuilding import Rebuilds
from services.query.webhooks.delivery import Webhooks


@dataclass(frozen=True)
class Operations:
    """The ports of operations. `read_projections` returns how far the projections are, `examine`
    what is wrong.

    `metrics` returns what Prometheus reads, `read_providers` what all replicas share about
    providers of models.
    """

    dead_letters: DeadLetters
    read_projections: Callable[[], Awaitable[ProjectionStates]]
    rebuilds: Rebuilds
    examine: Callable[[], AsyncIterator[Finding]]
    consumers: ConsumerRates
    webhooks: Webhooks
    metrics: Callable[[], Awaitable[bytes]]
    read_providers: Callable[[], Awaitable[list[ProviderState]]]
    parked: ParkedEvents
