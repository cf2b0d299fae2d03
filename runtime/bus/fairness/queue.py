"""A fair queue over workspaces, of the messages that a consumer has not delivered yet: which of
them may be handled before their delivery.

The log delivers in order, so a small document of one workspace would wait behind ten thousand of
another (head-of-line blocking). A workspace that ordinary delivery serves soon waits for it; each
of the others has its turn (round robin), and its messages are handled before they are delivered.
See decision 42.
"""

from collections import OrderedDict, deque
from collections.abc import Collection
from typing import NamedTuple

from runtime.bus.fairness.lanes import Lane

Key = tuple[Lane, str]
"""Lane, and subject filter of the consumer."""


class Turn(NamedTuple):
    """Messages of one lane, to be handled now: their sequences, in order."""

    lane: Lane
    filter: str
    sequences: list[int]


class QueuedMessage(NamedTuple):
    """A message that is not delivered yet: its position in the backlog, from 0, and its sequence in
    the log.
    """

    position: int
    sequence: int


class FairQueue:
    """Undelivered messages by lane."""

    def __init__(self) -> None:
        self._backlog_length = 0
        self._last_delivered = 0
        self._queues: OrderedDict[Key, deque[QueuedMessage]] = OrderedDict()
        self._not_before: dict[Key, float] = {}

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._queues.values())

    def add(self, sequence: int, lane: Lane, filter: str) -> None:
        """Add a message of the backlog. Must be called in the order of the log."""
        if sequence <= self._last_delivered:
            return
        queue = self._queues.setdefault((lane, filter), deque())
        queue.append(QueuedMessage(self._backlog_length, sequence))
        self._backlog_length += 1

    def remove_delivered(self, sequence: int) -> None:
        """Remove the messages up to this sequence: ordinary delivery has reached it."""
        if sequence <= self._last_delivered:
            return
        self._last_delivered = sequence
        for key, queue in list(self._queues.items()):
            while queue and queue[0].sequence <= sequence:
                queue.popleft()
            if not queue:
                self._remove_queue(key)

    def put_back(self, turn: Turn, not_before: float) -> None:
        """Offer the messages of this turn again, not before that time, because they were not
        handled.
        """
        key = (turn.lane, turn.filter)
        queue = self._queues.setdefault(key, deque())
        position = queue[0].position if queue else self._backlog_length
        for sequence in reversed(turn.sequences):
            if sequence > self._last_delivered:
                queue.appendleft(QueuedMessage(position, sequence))
        self._not_before[key] = not_before
        if not queue:
            self._remove_queue(key)

    def take(
        self, limit: int, now: float, *, gap: int = 0, served_lanes: Collection[Lane] = ()
    ) -> Turn | None:
        """Return the next lane's turn of at most `limit` messages; None when no lane is waiting
        whose messages may be handled before their delivery.

        `gap`: messages of the backlog that must be ahead of such a message; `served_lanes`: lanes
        that ordinary delivery serves now.
        """
        head = min((queue[0].position for queue in self._queues.values()), default=0)
        for key, queue in self._queues.items():
            is_near_head = queue[0].position - head < gap
            is_delayed = self._not_before.get(key, now) > now
            if is_near_head or is_delayed or key[0] in served_lanes:
                continue
            return self._take_from(key, limit)
        return None

    def _take_from(self, key: Key, limit: int) -> Turn:
        """Take the turn of one lane, which is the last in the round robin from now on."""
        queue = self._queues[key]
        sequences = [queue.popleft().sequence for _ in range(min(limit, len(queue)))]
        self._not_before.pop(key, None)
        self._queues.move_to_end(key)
        if not queue:
            self._remove_queue(key)
        return Turn(*key, sequences)

    def _remove_queue(self, key: Key) -> None:
        del self._queues[key]
        self._not_before.pop(key, None)
