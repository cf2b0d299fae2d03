"""An event that is handled again because somebody asked for it."""

from dataclasses import dataclass, replace

from contracts.events import ChunksCreated, Event, FiguresListed
from runtime.bus.port import Delivery, Message
from runtime.bus.stored_original import StoredOriginal


@dataclass
class RetriedMessage(StoredOriginal):
    """An event of the log that is handled again for a RetryRequested, as the event processor
    handles a delivery.

    `chunks`: ids of those that failed, empty where the event failed as a whole. `retry`: the
    request's sequence, which makes the ids of what results from it new. `error`: why the request
    has to come again.
    """

    request: Message
    chunks: frozenset[str]
    error: Exception | None = None

    @property
    def retry(self) -> int:
        return self.request.sequence

    @property
    def attempt(self) -> int:
        return self.request.attempt

    async def ack(self) -> None:
        """Nothing: the request is acknowledged when all of its events are done."""

    async def nak(self, delay: float) -> None:
        """Nothing: the request comes again, see `error`."""

    async def heartbeat(self) -> None:
        """Nothing: the request's own keeps it."""

    def narrowed(self, delivery: Delivery[Event]) -> Delivery[Event]:
        """Return the delivery with only the chunks that failed."""
        if not self.chunks:
            return delivery
        data = _narrowed(delivery.event, self.chunks)
        return replace(delivery, envelope=delivery.envelope.model_copy(update={"data": data}))


def _narrowed(event: Event, chunk_ids: frozenset[str]) -> Event:
    if isinstance(event, ChunksCreated):
        chunks = tuple(chunk for chunk in event.chunks if chunk.id in chunk_ids)
        return event.model_copy(update={"chunks": chunks})
    if isinstance(event, FiguresListed):
        figures = tuple(figure for figure in event.figures if figure.chunk.id in chunk_ids)
        return event.model_copy(update={"figures": figures})
    return event
