"""The port through which the past of a large workspace is read from its present."""

from dataclasses import dataclass
from typing import Protocol

from runtime.stores.documents.memory import MemoryRows
from services.query.past.events import WorkspaceEvents


@dataclass(frozen=True)
class PresentPast:
    """A past that was read from the present.

    `events` give the graph at its sequence, but neither the history nor the contents of documents.
    `rows` are those of documents and chunks, as the status projection would have them.
    """

    events: WorkspaceEvents
    rows: MemoryRows


class Present(Protocol):
    """The stores as they are now, and what changed in them."""

    async def at(self, workspace: str, sequence: int) -> PresentPast:
        """Return the past of a workspace up to a sequence.

        Raises TooLarge when it does not fit in memory or too much has changed since, Unavailable.
        """
        ...
