"""The port through which the log is watched: an event feed, a reader behind a sequence with one
filter of subjects.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

from contracts.partitions import LogPosition
from runtime.bus.port import Message


class EventPages(Protocol):
    """Reads pages of events by one filter of subjects, in which `*` stands for a token.

    Nothing it returns is a delivery: there is nothing to acknowledge. A service may read so
    whatever it may consume. Its contract is tested by `tests/contract/test_event_feed.py`. Every
    method raises `Unavailable`.
    """

    async def last_sequence(self, subject: str) -> int:
        """Return the sequence of the newest event, whatever it is, where events that pass the
        filter are; 0 for an empty log.
        """
        ...

    async def count(self, subject: str, after: int = 0) -> int:
        """Return how many events behind the sequence `after` pass the filter."""
        ...

    async def page(self, subject: str, after: int, limit: int) -> tuple[list[Message], int]:
        """Return the next `limit` events behind `after` that pass the filter, and how many come
        behind these.
        """
        ...


class EventFeed(EventPages, Protocol):
    """`EventPages` that can also wait for what comes."""

    def follow(self, subject: str, after: int, wait: float) -> AsyncGenerator[list[Message]]:
        """Yield the events behind `after` that pass the filter, in order and without a gap, for
        ever.

        After `wait` seconds without any it yields an empty list. What is not asked for is not read:
        the log waits.
        """
        ...

    def follow_all(
        self, position: LogPosition, wait: float
    ) -> AsyncGenerator[tuple[list[Message], LogPosition]]:
        """Yield the events of all workspaces behind a place in the whole log, and the place behind
        these, for ever: those of a workspace in order and without a gap, partitions as they come.
        What is about questions is among them.

        As in `follow`, silence is an empty list, and what is not asked for is not read.
        """
        ...
