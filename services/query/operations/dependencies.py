"""What operations on the deployment work with. Each operation adds the port that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from runtime.bus.dead_letters import DeadLetters
from runtime.projections.progress import ProjectionStates
from services.query.operations.consumers import ConsumerRates
from services.query.webhooks.delivery import Webhooks


@dataclass(frozen=True)
class Operations:
    """The ports of operations; `read_projections` returns how far the projections are."""

    dead_letters: DeadLetters
    read_projections: Callable[[], Awaitable[ProjectionStates]]
    consumers: ConsumerRates
    webhooks: Webhooks
