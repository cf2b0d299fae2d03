"""What the routes of operations work with. Each operation adds the port that it needs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from contracts.graph import Partition
from runtime.bus.dead_letters import DeadLetters
from runtime.bus.feed.port import EventFeed
from runtime.bus.parking.port import ParkedEvents
from runtime.bus.port import LiveGenerations, Log
from runtime.costs.port import Ledger
from runtime.costs.prices import Prices
from runtime.findings import Finding
from runtime.models.limits import ProviderState
from runtime.projections.progress import ProjectionStates
from runtime.settings import Settings
from services.gateway.dependencies import depends_on
from services.gateway.operations.consumers import ConsumerRates
from services.gateway.operations.rebuilding import Rebuilds
from services.query.partitions import status_partition
from services.query.status.port import Documents


@dataclass(frozen=True)
class Operations:
    """The ports of operations on the whole deployment.

    `read_projections` returns how far the projections are, `examine` what is wrong, `metrics` what
    Prometheus reads, `read_providers` what all replicas share about providers of models.
    """

    dead_letters: DeadLetters
    read_projections: Callable[[], Awaitable[ProjectionStates]]
    rebuilds: Rebuilds
    examine: Callable[[], AsyncIterator[Finding]]
    consumers: ConsumerRates
    metrics: Callable[[], Awaitable[bytes]]
    read_providers: Callable[[], Awaitable[list[ProviderState]]]
    parked_events: ParkedEvents


@dataclass(frozen=True)
class WorkspaceOperations:
    """What operations on one workspace read and write, and the settings of its models."""

    settings: Settings
    log: Log
    feed: EventFeed
    pointers: LiveGenerations
    documents: Documents


@dataclass(frozen=True)
class CostDependencies:
    """What was paid to models, by which prices, and the log that has the budgets."""

    log: Log
    pointers: LiveGenerations
    ledger: Ledger
    prices: Prices
    documents: Documents

    async def partition(self, workspace: str) -> Partition:
        """Return where the costs of the workspace are read."""
        return await status_partition(self.pointers, workspace)


OperationDeps = Annotated[Operations, depends_on(Operations)]
WorkspaceDeps = Annotated[WorkspaceOperations, depends_on(WorkspaceOperations)]
CostDeps = Annotated[CostDependencies, depends_on(CostDependencies)]
