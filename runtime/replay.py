"""Replay handlers: the handlers of a service as a rebuild runs them, without publishing and without paying a model."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.events import Event
from contracts.graph import Generations
from runtime.bus.port import Delivery

Replay = Callable[[Sequence[Delivery[Any]], Generations], Awaitable[Sequence[Sequence[Event]]]]
"""Writes a batch to the generations given, and returns for each delivery the events that the live service publishes."""


@dataclass(frozen=True)
class ReplayHandler:
    """One handler and the types of the events that it takes; `Event` stands for every type."""

    events: tuple[type[Event], ...]
    handle: Replay

    def select(self, batch: Sequence[Delivery[Any]]) -> list[Delivery[Any]]:
        """Return the deliveries of the batch that this handler takes, in their order."""
        return [delivery for delivery in batch if isinstance(delivery.event, self.events)]
