"""What handlers do alike with a batch of deliveries."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

from contracts.events import ChunksCreated, DocumentDeleted, Event
from contracts.graph import DocumentBounds
from runtime.bus.port import Delivery

E = TypeVar("E", bound=Event, covariant=True)


def by_workspace(batch: Sequence[Delivery[E]]) -> dict[str, list[Delivery[E]]]:
    """Return the deliveries of a batch by workspace, each list in the order of the batch."""
    groups: dict[str, list[Delivery[E]]] = defaultdict(list)
    for delivery in batch:
        groups[delivery.workspace].append(delivery)
    return groups


def document_bounds(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
) -> list[dict[str, DocumentBounds]]:
    """Return the bounds of the batch's documents in rounds: older versions first, one of each
    document in a round.
    """
    versions: dict[str, dict[int, DocumentBounds]] = defaultdict(dict)
    for delivery in batch:
        event = delivery.event
        if isinstance(event, DocumentDeleted):
            versions[event.aggregate_id][delivery.sequence] = DocumentBounds(delivery.sequence, 0)
        elif event.chunk_count is not None:
            version = event.document.version
            extent = DocumentBounds(version, event.chunk_count, event.text_count)
            of_document = versions[event.aggregate_id]
            of_document[version] = extent.joined(of_document.get(version, extent))
    rounds: list[dict[str, DocumentBounds]] = []
    for document, bounds in versions.items():
        for number, (_, extent) in enumerate(sorted(bounds.items())):
            rounds += [{}] if number == len(rounds) else []
            rounds[number][document] = extent
    return rounds
