"""What a rebuild runs of a service: without publishing and without paying a model.

The log is read in bulk, into a generation that nobody else writes: a `BulkReplay` takes large
batches, and writes once what they add up to. A `BoundedReplay` learns before which documents the
log ends with, so it makes nothing of the others. What enters the log meanwhile goes through a
`ReplayHandler`, as it does in the service.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from contracts.events import Event
from contracts.graph import Generations
from runtime.bus.port import Delivery

Replay = Callable[[Sequence[Delivery[Any]], Generations], Awaitable[Sequence[Sequence[Event]]]]
"""Writes a batch to the generations given, and returns for each delivery the events that the live
service publishes.
"""


@dataclass(frozen=True)
class ReplayHandler:
    """One handler and the types of the events that it takes; `Event` stands for every type."""

    events: tuple[type[Event], ...]
    handle: Replay

    def select(self, batch: Sequence[Delivery[Any]]) -> list[Delivery[Any]]:
        """Return the deliveries of the batch that this handler takes, in their order."""
        return [delivery for delivery in batch if isinstance(delivery.event, self.events)]


class BulkReplay(Protocol):
    """Fills an empty generation that nobody else writes, or a cache that no rebuild replaces."""

    @property
    def events(self) -> tuple[type[Event], ...]:
        """The types of the events that it takes; `Event` stands for every type."""
        ...

    def handlers(self) -> Sequence[ReplayHandler]:
        """Return the handlers for what enters the log later, in the order in which each batch goes
        through them.
        """
        ...

    async def take(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """Take a batch of deliveries in the order of the log; repeats change nothing. Raises what a
        handler raises.
        """
        ...

    async def finish(self, generations: Generations) -> None:
        """Write what is not written yet; repeats change nothing."""
        ...


class BoundedReplay(BulkReplay, Protocol):
    """A `BulkReplay` that makes nothing of chunks which their document no longer has."""

    async def take_bounds(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """Store the bounds of documents that these ChunksCreated and DocumentDeleted tell; repeats
        change nothing. All of the log that `take` gets comes here first.
        """
        ...
