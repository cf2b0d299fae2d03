"""The port of checkpoints: how far a projection has come, kept in its own stores, which lose it
with their data.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Checkpoint:
    """Everything of the log up to `sequence` is in the store. `log`: when that log's stream was
    created.
    """

    sequence: int
    log: str


@dataclass(frozen=True)
class LogMark:
    """A record of how far the log reached: later it may hold more, never less.

    `created` is the creation time of its stream, `sequence` its last message, `sha256` the hash of
    that message, `missing` the number of sequences up to there that hold no message. `accepted`
    counts the losses that an operator accepted: a greater one replaces every mark before it.
    """

    created: str
    sequence: int
    sha256: str
    missing: int = 0
    accepted: int = 0


class CheckpointStore(Protocol):
    """Keeps one checkpoint for each generation of a projection. A store that does not answer raises
    `Unavailable`.
    """

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """Return the checkpoint of that generation, None when it has none."""
        ...

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """Store it, unless the stored one has a greater sequence: the greatest always wins."""
        ...
