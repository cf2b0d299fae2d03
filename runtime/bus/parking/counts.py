"""Counts parked events by workspace and reason, for people to read."""

from collections import defaultdict
from dataclasses import dataclass

from contracts import subjects
from runtime.bus.parking.port import ParkedEvent, ParkedEvents, Reason

MAX_RECORDS = 5_000
"""Records that are read: of the workspace that is asked for, else of all together."""


@dataclass(frozen=True)
class ParkedCount:
    """Events of one workspace that wait for one reason; `error` is that of one of them, and `first`
    its sequence.
    """

    workspace: str
    reason: Reason
    events: int
    durables: tuple[str, ...]
    first: int
    type: str
    version: int
    document: str
    error: str

    def __str__(self) -> str:
        event_count = f"{self.events} events" if self.events > 1 else "one event"
        if self.reason == "newer-version":
            first_event = f"{self.type} v{self.version} of {self.document} at {self.first}"
            return f"{event_count} of a version newer than the code, the first {first_event}"
        if self.reason in ("over-budget", "awaiting-batch"):
            return f"{event_count} of the {', '.join(self.durables)}: {self._sentence}"
        return (
            f"{event_count} that failed again and again, the first at {self.first}, when parked: "
            f"{self.error}"
        )

    @property
    def _sentence(self) -> str:
        """Return the error without the name of its kind."""
        return self.error.partition(": ")[2] or self.error


async def count_parked(
    parked_events: ParkedEvents, workspace: str | None = None
) -> list[ParkedCount]:
    """Parked events by workspace and reason; of all workspaces unless one is named. Raises
    `Unavailable`.
    """
    parked_by_cause: dict[tuple[str, Reason], list[ParkedEvent]] = defaultdict(list)
    token = "*" if workspace is None else subjects.token(workspace)
    for entry in await parked_events.changes("*", 0, MAX_RECORDS, token):
        if entry.event:
            parked_by_cause[entry.event.workspace, entry.event.reason].append(entry.event)
    counts: list[ParkedCount] = []
    for (name, reason), events in sorted(parked_by_cause.items()):
        first = min(events, key=lambda event: event.sequence)
        durables = tuple(sorted({event.durable for event in events}))
        number = len({event.sequence for event in events})
        counts.append(
            ParkedCount(
                name,
                reason,
                number,
                durables,
                first.sequence,
                first.event_type,
                first.version,
                first.document,
                first.error,
            )
        )
    return counts
