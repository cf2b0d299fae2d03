"""What handlers work on, and whether they make progress: a health page tells busy handlers from
stuck ones.

A handler makes progress when an event of its is published, a model has answered or texts are
embedded. Reading and writing stores is no progress: a handler that goes round in circles does that
too. Waiting for a model is no stall: each call has a time limit of its own, and the health page
shows a paused provider anyway.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runtime.bus.port import Delivery


@dataclass(eq=False)
class Batch:
    """What one call of a handler works on. `moved_at` is the time of `time.monotonic` at which it
    last made progress.
    """

    first: Delivery[Any]
    count: int
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    moved_at: float = field(default_factory=time.monotonic)
    waits: int = 0

    @property
    def idle_seconds(self) -> float:
        """Return the seconds without progress; 0 while it waits for others."""
        return 0.0 if self.waits else time.monotonic() - self.moved_at

    def described(self, *, public: bool) -> str:
        """Return a description for people; without workspace and document where everybody may read
        it.
        """
        event = self.first.event
        of = (
            ""
            if public
            else f" of {event.aggregate_id!r:.100} in workspace {self.first.workspace!r:.100}"
        )
        return (
            f"{self.count} messages, the first of them {event.type_name()}{of}, number "
            f"{self.first.sequence}"
        )


class Activity:
    """The batches that the handlers of one durable work on now."""

    def __init__(self) -> None:
        self._batches: set[Batch] = set()

    @contextmanager
    def track(self, deliveries: Sequence[Delivery[Any]]) -> Generator[None]:
        """Record the batch while a handler works on it inside the context."""
        batch = Batch(deliveries[0], len(deliveries))
        self._batches.add(batch)
        token = _current_batch.set(batch)
        try:
            yield
        finally:
            _current_batch.reset(token)
            self._batches.discard(batch)

    def stalled(self, seconds: float, *, public: bool = False) -> str | None:
        """Return a problem when a batch has made no progress for so long, about the worst; None
        where all progress.
        """
        batch = max(self._batches, key=lambda batch: batch.idle_seconds, default=None)
        if batch is None or batch.idle_seconds <= seconds:
            return None
        since = batch.began.isoformat(timespec="seconds")
        sentence = batch.described(public=public)
        return (
            f"its handler has not moved for {batch.idle_seconds:.0f} s; since {since} it is at "
            f"{sentence}"
        )


_current_batch: ContextVar[Batch | None] = ContextVar("batch", default=None)


def note_progress() -> None:
    """Note that the current batch has made progress. Does nothing outside of a handler."""
    if batch := _current_batch.get():
        batch.moved_at = time.monotonic()


@contextmanager
def waiting() -> Generator[None]:
    """Inside, the batch waits for what has a time limit or a watch of its own; behind it, it has
    got on.
    """
    batch = _current_batch.get()
    if batch is None:
        yield
        return
    batch.waits += 1
    try:
        yield
    finally:
        batch.waits -= 1
        batch.moved_at = time.monotonic()
