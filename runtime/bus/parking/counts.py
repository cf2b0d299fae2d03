"""Counts parked events by workspace and reason, for people to read."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contracts import subjects
from runtime.bus.parking.port import ParkedEvent, ParkedEvents, Reason

MAX_RECORDS = 5_000
"""Records that are read, the newest ones: of the workspace that is asked for, else of all
together.
"""


@dataclass(frozen=True)
class ParkedCount:
    """Events of one workspace that wait for one reason; `error` is that of one of them, and `first`
    its sequence. `is_least`: there may be more, among records that were not read.
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
    is_least: bool = False

    def __str__(self) -> str:
        event_count = f"{self.events} events" if self.events > 1 else "one event"
        event_count = f"at least {event_count}" if self.is_least else event_count
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


@dataclass(frozen=True)
class ParkedCounts:
    """Parked events by workspace and reason, of the `read_count` records that were written last;
    `total`: how many there are.
    """

    counts: Sequence[ParkedCount]
    read_count: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Return whether all records were read."""
        return self.read_count >= self.total


async def count_parked(parked_events: ParkedEvents, workspace: str | None = None) -> ParkedCounts:
    """Parked events by workspace and reason; of all workspaces unless one is named. Raises
    `Unavailable`.
    """
    parked_by_cause: dict[tuple[str, Reason], list[ParkedEvent]] = defaultdict(list)
    token = "*" if workspace is None else subjects.token(workspace)
    page = await parked_events.newest_page(MAX_RECORDS, token)
    is_least = len(page.records) < page.total
    for entry in page.records:
        if entry.event:
            parked_by_cause[entry.event.workspace, entry.event.reason].append(entry.event)
    counts = [
        _count_of(name, reason, events, is_least=is_least)
        for (name, reason), events in sorted(parked_by_cause.items())
    ]
    return ParkedCounts(counts, len(page.records), page.total)


def _count_of(
    workspace: str, reason: Reason, events: Sequence[ParkedEvent], *, is_least: bool
) -> ParkedCount:
    first = min(events, key=lambda event: event.sequence)
    return ParkedCount(
        workspace,
        reason,
        len({event.sequence for event in events}),
        tuple(sorted({event.durable for event in events})),
        first.sequence,
        first.event_type,
        first.version,
        first.document,
        first.error,
        is_least,
    )
