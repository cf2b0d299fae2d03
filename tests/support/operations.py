"""What operations on the deployment work with, in memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from contracts.graph import Projection
from contracts.subjects import subject
from runtime.bus.dead_letters import DeadLetter
from runtime.bus.memory import MemoryLog, MemoryParkedEvents, MemorySharedValues
from runtime.bus.nats.consumers import ConsumerState
from runtime.errors import Busy, Unavailable
from runtime.findings import Finding
from runtime.metrics.exposition import exposed
from runtime.metrics.readings import Readings
from runtime.models.rate_limiters import provider_states
from runtime.projections.operator_orders import OperatorOrder
from runtime.projections.progress import ProjectionProgress, ProjectionStates
from services.gateway.operations.consumers import ConsumerRates
from services.gateway.operations.dependencies import Operations
from services.gateway.operations.rebuilding import Rebuilds
from tests.support.events import NOON


@dataclass
class MemoryDeadLetters:
    """`DeadLetters`."""

    letters: dict[int, DeadLetter] = field(default_factory=dict[int, DeadLetter])

    async def headers(self) -> list[DeadLetter]:
        return [replace(letter, data=b"") for letter in self.letters.values()]

    async def get(self, number: int) -> DeadLetter | None:
        return self.letters.get(number)

    async def remove(self, number: int) -> None:
        self.letters.pop(number, None)


@dataclass
class MemoryOperatorProcess:
    """`OperatorProcess`, which begins what is ordered and nothing else. `away`: nobody takes
    orders.
    """

    orders: list[OperatorOrder] = field(default_factory=list[OperatorOrder])
    away: bool = False

    async def current(self) -> str | None:
        return None if self.away else self.orders[-1].id if self.orders else ""

    async def order(self, order: OperatorOrder) -> None:
        if self.away:
            raise Unavailable("no operator process takes orders")
        if self.orders:
            raise Busy("another step is under way")
        self.orders.append(order)


def letter(
    number: int,
    consumer: str = "chunker",
    *,
    workspace: str = "w",
    document: str = "port",
    sequence: int = 7,
    reason: str = "no text",
) -> DeadLetter:
    """A letter of that number about a DocumentAdded."""
    about = subject(workspace, document, "DocumentAdded")
    return DeadLetter(number, NOON, consumer, reason, sequence, about, b"raw")


CURRENT = ProjectionProgress("graph", 2, 1, None, 412, 412, 0, 0.0, "current", "")


def memory_operations(
    *letters: DeadLetter, states: Sequence[ProjectionProgress] = (CURRENT,)
) -> Operations:
    """Operations over these dead letters and projections."""

    async def read_projections() -> ProjectionStates:
        return ProjectionStates(states, None)

    async def plan(targets: Sequence[Projection], events_per_second: int) -> dict[str, Any]:
        generations = dict.fromkeys(targets, 2)
        return {
            "targets": targets,
            "events": 7,
            "seconds": None,
            "generations": generations,
            "dropped": {},
        }

    async def examine() -> AsyncIterator[Finding]:
        yield Finding("note", "merger: 3 events wait")

    async def read_consumers() -> Sequence[ConsumerState]:
        return [ConsumerState("extractor", 120, 4, 1, 4711, 4700, 900)]

    return Operations(
        MemoryDeadLetters({one.number: one for one in letters}),
        read_projections,
        Rebuilds(MemoryOperatorProcess(), MemorySharedValues(), plan),
        examine,
        ConsumerRates(read_consumers),
        partial(exposed, Readings()),
        partial(provider_states, MemorySharedValues()),
        MemoryParkedEvents(MemoryLog()),
    )
