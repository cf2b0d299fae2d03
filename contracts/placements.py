"""Exceptions to the partition that the hash of a workspace's token names: workspaces that somebody
moved to another one.

A move copies nothing, since an event's sequence is its name everywhere: the events of a workspace
stay at theirs, and from a place on further ones enter another partition. That one has a greater
number, so its sequences are greater, and the events of the workspace have one order as before.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

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


def placements_in(text: str) -> dict[str, Placement]:
    """Return the exceptions that a text of `placements_text` holds, by the workspace's token."""
    stored: dict[str, dict[str, object]] = json.loads(text) if text else {}
    return {token: _placement(fields) for token, fields in stored.items()}


def _placement(fields: Mapping[str, object]) -> Placement:
    lists = {name: tuple(fields[name]) for name in ("partitions", "ends")}  # pyright: ignore[reportArgumentType] - lists of numbers, as written below
    return Placement(**{**fields, **lists})  # pyright: ignore[reportArgumentType] - as written below


def placements_text(placements: Mapping[str, Placement]) -> str:
    """Return exceptions as one text; empty without any."""
    if not placements:
        return ""
    fields = {token: asdict(placement) for token, placement in sorted(placements.items())}
    return json.dumps(fields, separators=(",", ":"))
