"""Parked events wait outside of their durable's window; this is the port of the list that holds
them.

A durable delivers at most `max_ack_pending` messages that nobody has acknowledged. An event that
cannot be handled for long is acknowledged and put on this list, so that it takes no place from
others. The list is no truth: the event itself stays in the log, and a record only says that, why
and until when it waits.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from runtime.bus.port import Message

Reason = Literal["newer-version", "over-budget", "awaiting-batch", "retried"]


class ParkedEvent(BaseModel):
    """One record: which event waits for which durable, and why. Times are seconds since 1970.

    `wait`: seconds that `not_before` was ahead when it was written; nobody waits longer, whatever
    the clock says. `is_claimed`: whether a replica is trying it until then. `workspace` and
    `document` are names where the event could be read, else tokens of its subject. `attempts`:
    failures by cause. Nothing of the event's text is in it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    durable: str
    sequence: int
    subject: str
    reason: Reason
    event_type: str
    version: int = 0
    workspace: str = ""
    document: str = ""
    error: str = ""
    attempts: Mapping[str, int] = {}
    parked_at: float
    not_before: float
    wait: float = 3600.0
    is_claimed: bool = False

    def due_in(self, seconds: float) -> "ParkedEvent":
        """Return the same, to be tried in so many seconds."""
        return self.model_copy(
            update={"not_before": time.time() + seconds, "wait": seconds, "is_claimed": False}
        )

    def claimed(self, seconds: float) -> "ParkedEvent":
        """Return the same for a replica that has it to itself for so many seconds."""
        return self.due_in(seconds).model_copy(update={"is_claimed": True})


@dataclass(frozen=True)
class ParkedRecord:
    """The list's entry for one event. `revision` changes with each write; without `event` it was
    removed.
    """

    revision: int
    durable: str
    workspace: str
    """The workspace's token."""
    sequence: int
    event: ParkedEvent | None = None


@dataclass(frozen=True)
class ParkedPage:
    """The records that were written last, the newest first, and how many there are in all."""

    records: Sequence[ParkedRecord]
    total: int


class ParkedEvents(Protocol):
    """The list of parked events. Every method raises `Unavailable` when the bus does not answer."""

    async def put(self, event: ParkedEvent, revision: int = 0) -> int:
        """Write a record, and return its new revision.

        It replaces the one with `revision` (0: there must be none). Returns 0, and changes nothing,
        when another record stands there.
        """
        ...

    async def remove(self, event: ParkedEvent, revision: int) -> bool:
        """Remove the record of a handled event if it still has that revision, and return whether it
        had.
        """
        ...

    async def changes(
        self, durable: str, after: int, max_records: int = 1000, workspace: str = "*"
    ) -> list[ParkedRecord]:
        """Return the records written for this durable (`*`: any) after the revision `after`, oldest
        first; of the workspace with this token, `*`: of all.
        """
        ...

    async def newest_page(self, max_records: int, workspace: str = "*") -> ParkedPage:
        """Return the records of the workspace with this token, `*`: of all. Where there are more
        than `max_records`, the total has those that were removed a moment ago, and of one workspace
        it ends at 100,000.
        """
        ...

    async def originals(self, events: Sequence[ParkedEvent]) -> list[Message]:
        """Return the events themselves from the log, in its order; erased ones are left out."""
        ...
