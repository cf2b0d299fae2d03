"""Calls that are gathered for the next batch. They stand in memory only: what gathers them is
parked on the bus, and comes again after a crash.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contracts.values import DocumentVersion
from runtime.models.batches.records import BatchedCall
from runtime.models.port import Message

MOST_CALLS = 1000
"""Calls of one batch: their record is one message on the bus."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of the prompts of one batch."""


@dataclass(frozen=True)
class BatchCall:
    """A call that may wait for a batch: the messages, the key of its result, and for whom it is."""

    workspace: str
    key: str
    document: DocumentVersion
    messages: Sequence[Message]
    json: bool = False

    @property
    def bytes(self) -> int:
        """Return the bytes of its messages."""
        return sum(len(message.content.encode("utf-8", "replace")) for message in self.messages)

    def recorded(self, tokens: tuple[int, int]) -> BatchedCall:
        """Return what the record of its batch says of it."""
        document = self.document
        return BatchedCall(
            key=self.key,
            document=document.id,
            version=document.version,
            prompt=tokens[0],
            completion=tokens[1],
        )


@dataclass
class Gathering:
    """The calls of one workspace that stand in no batch yet."""

    since: float = field(default_factory=time.time)
    began: float = field(default_factory=time.monotonic)
    calls: dict[str, BatchCall] = field(default_factory=dict[str, BatchCall])
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """What each of them is expected to read and to write."""
    trouble: str = ""
    """Why the provider did not take the last batch."""
    held_until: float = 0.0
    """Time of the monotonic clock before which none is submitted."""

    def add(self, call: BatchCall, tokens: tuple[int, int]) -> None:
        """Add a call that is not among them."""
        if not self.calls:
            self.since = time.time()
            self.began = time.monotonic()
        self.calls[call.key] = call
        self.tokens[call.key] = tokens

    def wait(self, gather: float) -> float:
        """Return the seconds until a batch is made of them."""
        moment = time.monotonic()
        due = moment if len(self.calls) >= MOST_CALLS else self.began + gather
        return max(0.0, due - moment, self.held_until - moment)

    def next_batch(self) -> list[BatchCall]:
        """Return the first of them, as many as one batch takes."""
        chosen_calls: list[BatchCall] = []
        size = 0
        for call in self.calls.values():
            size += call.bytes
            if chosen_calls and (size > MOST_BYTES or len(chosen_calls) == MOST_CALLS):
                break
            chosen_calls.append(call)
        return chosen_calls

    def forget(self, calls: Iterable[BatchCall]) -> None:
        """Take calls away that are in a batch, or wanted no more."""
        for call in calls:
            self.calls.pop(call.key, None)
            self.tokens.pop(call.key, None)
