"""What operations on the deployment work with, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contracts.subjects import subject
from runtime.bus.dead_letters import DeadLetter
from runtime.bus.memory import MemorySharedValues
from runtime.bus.nats.consumers import ConsumerState
from runtime.projections.progress import ProjectionProgress, ProjectionStates
from services.query.adapters.webhook_poster import HttpPoster
from services.query.operations.consumers import ConsumerRates
from services.query.operations.dependencies import Operations
from services.query.webhooks.delivery import Webhooks
from services.query.webhooks.endpoints import Endpoints
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
    return DeadLetter(number, NOON, consumer, reason, sequence, about, b"raw")  # fmt: skip


CURRENT = ProjectionProgress("graph", 2, 1, None, 412, 412, 0, 0.0, "current", "")


def memory_operations(*letters: DeadLetter, states: Sequence[ProjectionProgress] = (CURRENT,)) -> Operations:
    """Operations over these dead letters and projections."""

    async def read_projections() -> ProjectionStates:
        return ProjectionStates(states, None)

    async def read_consumers() -> Sequence[ConsumerState]:
        return [ConsumerState("extractor", 120, 4, 1, 4711, 4700, 900)]

    return Operations(
        MemoryDeadLetters({letter.number: letter for letter in letters}),
        read_projections,
        ConsumerRates(read_consumers),
        Webhooks(Endpoints(MemorySharedValues()), HttpPoster()),
    )
