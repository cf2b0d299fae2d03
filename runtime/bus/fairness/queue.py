"""Which messages may overtake: a fair queue over workspaces, of what a consumer has not delivered
yet.

The log delivers in order, so a small document of one workspace would wait behind ten thousand of
another (head-of-line blocking). What ordinary delivery serves soon waits for it; each of the other
workspaces has its turn (round robin), and is handled before it is delivered.
"""

from collections import OrderedDict, deque
from collections.abc import Collection
from typing import NamedTuple

Key = tuple[str, str]
"""(workspace token, subject filter of the consumer)."""


class Turn(NamedTuple):
    """Messages of one workspace, to be handled now: their sequences, in order."""

    workspace: str
    filter: str
    sequences: list[int]


class FairQueue:
    """Undelivered messages by workspace."""

    def __init__(self) -> None:
        self._seen = 0
        self._delivered = 0
        self._queues: OrderedDict[Key, deque[tuple[int, int]]] = OrderedDict()
        self._not_before: dict[Key, float] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, sequence: int, workspace: str, filter: str) -> None:
        """Add a message of the backlog. Must be called in the order of the log."""
        if sequence > self._delivered:
            self._queues.setdefault((workspace, filter), deque()).append((self._seen, sequence))
            self._seen += 1

    def delivered(self, sequence: int) -> None:
        """Forget the messages up to this sequence: ordinary delivery has reached it."""
        if sequence <= self._delivered:
            return
        self._delivered = sequence
        for key in list(self._queues):
            queue = self._queues[key]
            while queue and queue[0][1] <= sequence:
                queue.popleft()
            if not queue:
                self._drop(key)

    def put_back(self, turn: Turn, not_before: float) -> None:
        """Offer these again, not before that time, because they were not handled."""
        key = turn.workspace, turn.filter
        queue = self._queues.setdefault(key, deque())
        place = queue[0][0] if queue else self._seen
        queue.extendleft(
            (place, sequence) for sequence in reversed(turn.sequences) if sequence > self._delivered
        )
        self._not_before[key] = not_before
        if not queue:
            self._drop(key)

    def take(
        self, most: int, now: float, *, gap: int = 0, served: Collection[str] = ()
    ) -> Turn | None:
        """The next workspace's turn, at most so many messages; None when nobody waits who may
        overtake.

        `gap`: messages that must stand before one that may overtake; `served`: workspaces whose
        turn is elsewhere.
        """
        head = min((queue[0] for queue in self._queues.values()), default=(0, 0))
        for key, queue in self._queues.items():
            if (
                queue[0][0] - head[0] < gap
                or self._not_before.get(key, now) > now
                or key[0] in served
            ):
                continue
            sequences = [queue.popleft()[1] for _ in range(min(most, len(queue)))]
            self._not_before.pop(key, None)
            self._queues.move_to_end(key)
            if not queue:
                self._drop(key)
            return Turn(*key, sequences)
        return None

    def _drop(self, key: Key) -> None:
        del self._queues[key]
        self._not_before.pop(key, None)
