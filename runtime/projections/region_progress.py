"""How far a following region is, as its follower notes it on both buses."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from contracts.partitions import LogPosition
from runtime.bus.nats.region import FOLLOWER_PREFIX, REGION_KEY
from runtime.bus.port import SharedValues

PLACES = ("position", "removed_to", "cleaned_to", "writer_end")
"""Fields of a progress that are places in the log."""

SILENCE = 30.0
"""Seconds without a word after which a region counts as cut off."""


@dataclass(frozen=True)
class RegionProgress:
    """What a follower has done. Places are of the log, the same in both regions."""

    region: str = ""
    """The name of the following region: the JetStream domain of its bus."""
    position: LogPosition = field(default_factory=LogPosition.start)
    """Up to here its stores hold the log."""
    removed_to: LogPosition = field(default_factory=LogPosition.start)
    """Up to here its mirrors lack what tombstones list."""
    cleaned_to: LogPosition = field(default_factory=LogPosition.start)
    """Up to here its stores were made anew after erasures."""
    writer_end: LogPosition = field(default_factory=LogPosition.start)
    """The end of the writing region's log, when that was last asked."""
    writer_heard: float = 0.0
    """When that was, in seconds since 1970."""
    floors: Mapping[str, int] = field(default_factory=dict[str, int])
    """Up to where the writing region's consumers, by name and stream, had handled everything: all
    of that is mirrored. A promoted region goes on behind it.
    """
    promoting: bool = False
    """Whether this region is being promoted: no follower may work any more."""
    noted_at: float = 0.0
    """When this was noted, in seconds since 1970."""

    @property
    def events_behind(self) -> int:
        """Return how many events, at most, the writing region had more when it was last heard."""
        return self.writer_end.events_beyond(self.position)

    @property
    def is_erasing(self) -> bool:
        """Return whether words of erased documents may still stand in its stores."""
        return not self.cleaned_to.includes(self.removed_to)

    @property
    def is_cut_off(self) -> bool:
        """Return whether it has not heard of the writing region for long."""
        return time.time() - self.writer_heard > SILENCE

    @property
    def is_silent(self) -> bool:
        """Return whether its follower has not noted anything for long."""
        return time.time() - self.noted_at > SILENCE

    def fields(self) -> dict[str, Any]:
        """Return it as plain values, places as they are stored."""
        places: dict[str, LogPosition] = {name: getattr(self, name) for name in PLACES}
        return {**asdict(self), **{name: place.stored for name, place in places.items()}}

    def to_json(self) -> bytes:
        """Return it as a value of a bucket."""
        return json.dumps(self.fields()).encode()

    @classmethod
    def of(cls, value: bytes, partitions: int = 1) -> "RegionProgress":
        """Return what such a value says; for an empty one the beginning of a log of so many
        partitions.
        """
        fields: dict[str, Any] = json.loads(value) if value else {}
        for name in PLACES:
            fields[name] = LogPosition.of_stored(fields.get(name, 0), partitions)
        return cls(**fields)


async def read_own_progress(values: SharedValues, partitions: int) -> tuple[RegionProgress, int]:
    """Return how far this region is, whose log has so many partitions, and the revision to replace
    it.
    """
    value, revision = await values.read(REGION_KEY)
    return RegionProgress.of(value, partitions), revision


async def read_followers(values: SharedValues) -> list[RegionProgress]:
    """Return how far each region is that follows this one, as its follower said last."""
    keys = [key for key in await values.keys() if key.startswith(FOLLOWER_PREFIX)]
    notes = [(await values.read(key))[0] for key in keys]
    return [RegionProgress.of(note) for note in notes if note]
