"""Partitions of the log: streams that share its events by workspace, each workspace whole in one.

Other systems publish to the same subjects whatever the number of partitions: the server maps a
subject to that of the partition, and the stream there stores the event under the subject it was
published to. Each partition gives out sequences of a range of its own, so a sequence is unique in
the whole log and says where it stands. With one partition nothing of this shows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from contracts import subjects

LOG = "KB_EVENTS"
"""The stream of partition 0, which is the whole log where there is no other. Its metadata says how
many there are. Who reads events asks `runtime/bus/nats/log_streams.py` for streams: naming this one
would leave the others out.
"""

COUNT_KEY = "lightstream.partitions"
"""Where the number of partitions stands in the metadata of LOG; without it there is one."""

SEQUENCE_BITS = 44
"""Bits of a sequence below the number of its partition: 17 million million events in each."""

MAX_PARTITIONS = 256
"""So that JSON numbers, exact to 53 bits, hold every sequence."""

MAPPED_PREFIX = "kb.p"
"""What the server maps published subjects to: behind it stand the partition, and what followed
`kb.v1`.
"""

_FNV_OFFSET = 2166136261
_FNV_PRIME = 16777619


def stream_name(partition: int) -> str:
    """Return the name of the stream of a partition."""
    return f"{LOG}_{partition}" if partition else LOG


def is_log(stream: str) -> bool:
    """Return whether the stream of that name is a partition of the log."""
    return stream == LOG or stream.startswith(f"{LOG}_")


def partition_in(stream: str) -> int:
    """Return the partition that a stream of the log is."""
    return int(stream.removeprefix(LOG).removeprefix("_") or 0)


def first_sequence(partition: int) -> int:
    """Return the sequence of the first event of a partition."""
    return (partition << SEQUENCE_BITS) + 1


def partition_at(sequence: int) -> int:
    """Return the partition in which a sequence stands."""
    return sequence >> SEQUENCE_BITS


def number_at(sequence: int) -> int:
    """Return which event of its partition stands at a sequence: 1 for the first."""
    return sequence & ((1 << SEQUENCE_BITS) - 1)


@lru_cache(maxsize=16_384)  # asked for each event
def partition_of(token: str, count: int) -> int:
    """Return the partition of the workspace with this subject token, of `count`: as nats-server's
    `partition(count, 1)` computes it (FNV-1a of 32 bits).
    """
    value = _FNV_OFFSET
    for byte in token.encode():
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return value % count


def mapped_subject(subject: str, count: int) -> str:
    """Return the subject under which the stream of its partition takes an event."""
    workspace, _, _ = subjects.addressed(subject)
    return subject_in(partition_of(workspace, count), subject)


def subject_in(partition: int, subject: str) -> str:
    """Return the subject under which this partition takes what it stores under `subject`."""
    tail = subject.removeprefix(f"{subjects.PREFIX}.")
    return f"{MAPPED_PREFIX}.{partition}.{tail}"


def server_mapping(count: int) -> tuple[str, str]:
    """Return the mapping of subjects that a server of `count` partitions has to have."""
    tail = ".".join(f"{{{{wildcard({number})}}}}" for number in (1, 2, 3))
    return subjects.ALL, f"{MAPPED_PREFIX}.{{{{partition({count},1)}}}}.{tail}"


def stored_mapping(partition: int) -> tuple[str, str]:
    """Return what the stream of a partition takes, and what it stores that as: as it was published,
    so whoever reads knows nothing of the mapping.
    """
    tail = ".".join(f"{{{{wildcard({number})}}}}" for number in (1, 2, 3))
    return f"{MAPPED_PREFIX}.{partition}.*.*.*", f"{subjects.PREFIX}.{tail}"


@dataclass(frozen=True)
class LogPosition:
    """A place in the whole log: for each partition, in order, a sequence up to which it is read,
    handled, or filled.
    """

    sequences: tuple[int, ...]

    @classmethod
    def start(cls, count: int = 1) -> "LogPosition":
        """Return the place before the first event."""
        return cls(tuple(first_sequence(partition) - 1 for partition in range(count)))

    @property
    def event_count(self) -> int:
        """Return how many sequences stand up to here; with one partition, the sequence itself."""
        return sum(map(number_at, self.sequences))

    @classmethod
    def of_stored(cls, stored: "int | Sequence[int]", count: int = 1) -> "LogPosition":
        """Return the place that was stored of a log of `count` partitions; 0 is its start."""
        if isinstance(stored, int):
            return cls((stored,)) if count == 1 else cls.start(count)
        return cls(tuple(stored))

    @property
    def stored(self) -> "int | tuple[int, ...]":
        """Return the place as it is stored: with one partition, as its sequence."""
        first, *others = self.sequences
        return (first, *others) if others else first

    @classmethod
    def of_text(cls, text: str) -> "LogPosition":
        """Return the place that was written as `text`. Raises ValueError for any other text, and
        for sequences that are not of partitions 0 and on, in order.
        """
        place = cls(tuple(map(int, text.split("-"))))
        if [*map(partition_at, place.sequences)] != [*range(len(place.sequences))]:
            raise ValueError(f"{text!r:.100} is no place in a log")
        return place

    @property
    def text(self) -> str:
        """Return the place in one word; with one partition, its sequence."""
        return "-".join(map(str, self.sequences))

    def progress_to(self, end: "LogPosition") -> dict[str, int]:
        """Return how far this is on the way to an end, as reports of long work say it."""
        return {"position": self.event_count, "end": end.event_count}

    def holds(self, sequence: int) -> bool:
        """Return whether that sequence stands at or before this place."""
        partition = partition_at(sequence)
        return partition < len(self.sequences) and sequence <= self.sequences[partition]

    def includes(self, other: "LogPosition") -> bool:
        """Return whether no partition of `other` is further."""
        return all(map(self.holds, other.sequences))

    def joined(self, other: "LogPosition") -> "LogPosition":
        """Return the place up to which everything is that either has."""
        return self.behind(other.sequences)

    def common(self, other: "LogPosition") -> "LogPosition":
        """Return the place up to which everything is that both have."""
        return LogPosition(tuple(map(min, self.sequences, other.sequences)))

    def events_beyond(self, other: "LogPosition") -> int:
        """Return how many sequences up to here stand behind `other`, at most."""
        return self.joined(other).event_count - other.event_count

    def up_to(self, sequence: int) -> "LogPosition":
        """Return the place that is no further than a sequence in the partition of that one."""
        sequences = list(self.sequences)
        partition = partition_at(sequence)
        sequences[partition] = min(sequences[partition], sequence)
        return LogPosition(tuple(sequences))

    def behind(self, reached: Iterable[int]) -> "LogPosition":
        """Return the place behind these sequences, too."""
        sequences = list(self.sequences)
        for sequence in reached:
            partition = partition_at(sequence)
            sequences[partition] = max(sequences[partition], sequence)
        return LogPosition(tuple(sequences))
