"""Exceptions to the partition that the hash of a workspace's token names: workspaces that somebody
moved to another one.

A move copies nothing, since an event's sequence is its name everywhere: the events of a workspace
stay at theirs, and from a place on further ones enter another partition. That one has a greater
number, so its sequences are greater, and the events of the workspace have one order as before.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

PLACEMENTS_KEY = "lightstream.placements"
"""Where exceptions stand in the metadata of the log, beside the number of its partitions."""


@dataclass(frozen=True)
class Placement:
    """Where a workspace that was moved has its events. `workspace`: its name, for people.

    `partitions`: those that hold them, in the order of their sequences; the last one takes new
    ones. `ends`: of each but the last, the sequence up to which its events count: what stands
    behind was published by somebody who did not know of the move, and is carried to the last one.
    `moved_at`: when the last move ended, in seconds since 1970. `target`: the partition that the
    workspace is being moved to, None while it is not; `run` names the run that moves it, and
    `began_at` is when that began, in seconds since 1970.
    """

    partitions: tuple[int, ...]
    ends: tuple[int, ...] = ()
    moved_at: float = 0.0
    target: int | None = None
    run: str = ""
    began_at: float = 0.0
    workspace: str = ""

    @property
    def partition(self) -> int:
        """Return the partition that takes new events."""
        return self.partitions[-1]

    def end_in(self, partition: int) -> int | None:
        """Return the sequence up to which events of a partition count; None without an end."""
        earlier_ends = dict(zip(self.partitions, self.ends, strict=False))
        return earlier_ends.get(partition)


NO_PLACEMENTS: Mapping[str, Placement] = {}

_PLACEMENTS = TypeAdapter(dict[str, Placement])


def placements_in(text: str) -> dict[str, Placement]:
    """Return the exceptions that a text of `placements_text` holds, by the workspace's token."""
    return _PLACEMENTS.validate_json(text) if text else {}


def placements_text(placements: Mapping[str, Placement]) -> str:
    """Return exceptions as one text; empty without any."""
    return _PLACEMENTS.dump_json(dict(sorted(placements.items()))).decode() if placements else ""
