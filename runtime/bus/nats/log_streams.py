"""The streams of the log: which there are, and which of them holds what.

Whoever reads or writes events asks here, so that nothing reads one partition and takes it for the
log: what has not learnt to go over several asks for the `sole` stream, and is refused.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.partitions import (
    COUNT_KEY,
    LOG,
    LogPosition,
    partition_at,
    partition_in,
    partition_of,
    stream_name,
    subject_in,
)
from contracts.placements import NO_PLACEMENTS, PLACEMENTS_KEY, Placement, placements_in
from contracts.topology import SHARED_KEY
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.errors import ConfigurationError
from runtime.workarounds.nats_py import connection_of

PLACEMENT_SECONDS = 2.0
"""Seconds for which a process goes by what it has read of moved workspaces, where the log has
partitions: whoever moves one waits longer than that.
"""


@dataclass(frozen=True)
class Home:
    """A stream that holds events of a workspace. `end`: the sequence up to which they count, None
    for the stream that takes new ones.
    """

    stream: str
    end: int | None = None

    def holds(self, sequence: int) -> bool:
        """Return whether an event of the workspace at this sequence counts."""
        return self.end is None or sequence <= self.end


@dataclass(frozen=True)
class LogStreams:
    """The streams of a log of `count` partitions. `shares_subjects`: its documents share subjects
    for what services make of them. `placements`: of workspaces that were moved, by their tokens.
    `id_seconds`: for how long its streams know ids.
    """

    count: int = 1
    shares_subjects: bool = False
    placements: Mapping[str, Placement] = field(default_factory=lambda: NO_PLACEMENTS)
    id_seconds: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all streams, by partition."""
        return tuple(map(stream_name, range(self.count)))

    def holding(self, sequence: int) -> str:
        """Return the stream in which a sequence stands."""
        return stream_name(min(partition_at(sequence), self.count - 1))

    def placement(self, workspace: str) -> Placement:
        """Return where a workspace has its events."""
        return self._placement(subjects.token(workspace))

    def _placement(self, token: str) -> Placement:
        return self.placements.get(token) or Placement((partition_of(token, self.count),))

    def of_workspace(self, workspace: str) -> str:
        """Return the stream that takes the events of a workspace."""
        return stream_name(self.placement(workspace).partition)

    def homes(self, workspace: str) -> list[Home]:
        """Return the streams that have the events of a workspace, in the order of sequences."""
        return self._homes(subjects.token(workspace))

    def _homes(self, token: str) -> list[Home]:
        placement = self._placement(token)
        return [
            Home(stream_name(partition), placement.end_in(partition))
            for partition in placement.partitions
        ]

    def homes_of_subject(self, subject: str) -> list[Home]:
        """Return the streams that may hold events of a subject, or of a filter of subjects, in the
        order of sequences. What is about questions counts wherever it stands.
        """
        token = subjects.workspace_in_filter(subject)
        homes = [Home(name) for name in self.names] if token is None else self._homes(token)
        return [Home(home.stream) for home in homes] if subjects.is_apart(subject) else homes

    def homes_after(self, stream: str) -> list[str]:
        """Return a stream, and behind it those to which workspaces were moved from it: what speaks
        of its events may stand there.
        """
        partition = partition_in(stream)
        later_partitions = {
            later
            for placement in self.placements.values()
            if partition in placement.partitions
            for later in placement.partitions[placement.partitions.index(partition) + 1 :]
        }
        return [stream, *map(stream_name, sorted(later_partitions))]

    def of_subject(self, subject: str) -> Sequence[str]:
        """Return the streams that may hold events of a subject, or of a filter of subjects."""
        if self.count == 1:
            return self.names
        return [home.stream for home in self.homes_of_subject(subject)]

    def of_subjects(self, filters: Sequence[str]) -> Sequence[str]:
        """Return the streams that may hold what passes any of these filters, or, without filters,
        anything.
        """
        streams = {stream for filter in filters for stream in self.of_subject(filter)}
        return [name for name in self.names if name in streams or not filters]

    def is_misplaced(self, subject: str, sequence: int) -> bool:
        """Return whether an event counts only where it is carried to: it was published to a
        partition that its workspace had left.
        """
        placement = self.placements.get(subjects.workspace_token(subject))
        end = placement.end_in(partition_at(sequence)) if placement else None
        return end is not None and sequence > end

    def is_moving(self, subject: str) -> bool:
        """Return whether the workspace of an event is being moved."""
        placement = self.placements.get(subjects.workspace_token(subject))
        return placement is not None and placement.target is not None

    def published_to(self, subject: str) -> str:
        """Return the subject to publish an event to.

        What is about questions says the workspace at another place than the server's mapping looks,
        and of a moved workspace the server knows nothing.
        """
        token = subjects.addressed(subject)[0] if self.count > 1 else ""
        is_mapped_here = self.count > 1 and (subjects.is_apart(subject) or token in self.placements)
        return subject_in(self._placement(token).partition, subject) if is_mapped_here else subject

    def held_at(self, subject: str) -> tuple[str, dict[str, str]]:
        """Return the subject at which the log is to hold an event, and the headers that belong to
        its address there.
        """
        shared = subjects.shared(subject) if self.shares_subjects else subject
        if shared == subject:
            return subject, {}
        return shared, {subjects.DOCUMENT_HEADER: subjects.document_token(subject)}

    def sole(self, purpose: str) -> str:
        """Return the only stream. Raises ConfigurationError where there are more: `purpose` is what
        cannot be done then, as the subject of a sentence.
        """
        if self.count > 1:
            raise ConfigurationError(
                f"{purpose} cannot be done yet on a log of {self.count} partitions: it would see "
                "one of them and take it for all; see docs/scaling.md for what can"
            )
        return LOG

    def start(self) -> LogPosition:
        """Return the place before all events."""
        return LogPosition.start(self.count)


ONE_STREAM = LogStreams()


@dataclass
class _Knowledge:
    """What a connection knows of the streams of its log. `asked_at`: on the monotonic clock."""

    streams: LogStreams
    asked_at: float
    is_forgotten: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_old(self) -> bool:
        """Return whether the server is to be asked again: a workspace may have been moved since, as
        whoever moves one reckons.
        """
        age = time.monotonic() - self.asked_at
        return self.is_forgotten or (self.streams.count > 1 and age > PLACEMENT_SECONDS)


_KNOWLEDGE_BY_CLIENT: WeakKeyDictionary[Client, _Knowledge] = WeakKeyDictionary()
"""Of each connection, the streams of its log: their number never changes, and where there are
several, placements are read again and again. A log that comes to share subjects has those of before
as well, from who was connected by then.
"""


def streams_in(config: StreamConfig) -> LogStreams:
    """Return the streams of the log whose first one has this configuration."""
    metadata = config.metadata or {}
    return LogStreams(
        int(metadata.get(COUNT_KEY, "1")),
        SHARED_KEY in metadata,
        placements_in(metadata.get(PLACEMENTS_KEY, "")),
        config.duplicate_window or 0.0,
    )


def known_streams(jetstream: JetStreamContext) -> LogStreams:
    """Return the streams as far as this connection has asked for them; one until then."""
    knowledge = _KNOWLEDGE_BY_CLIENT.get(connection_of(jetstream))
    return knowledge.streams if knowledge else ONE_STREAM


async def log_streams(jetstream: JetStreamContext) -> LogStreams:
    """Return the streams of the log, and of moved workspaces what it said at most PLACEMENT_SECONDS
    ago. With one partition the server is asked once for each connection; where it has no log yet
    there is one, and it is asked again. Raises `Unavailable`.
    """
    client = connection_of(jetstream)
    knowledge = _KNOWLEDGE_BY_CLIENT.get(client)
    if knowledge is None:
        return await _asked(jetstream, client)
    if knowledge.is_old:
        async with knowledge.lock:
            if knowledge.is_old:
                return await _asked(jetstream, client)
    return knowledge.streams


async def _asked(jetstream: JetStreamContext, client: Client) -> LogStreams:
    asked_at = time.monotonic()
    try:
        with translated():
            info = await first_answer(lambda: jetstream.stream_info(LOG))
    except NotFoundError:
        return ONE_STREAM
    streams = streams_in(info.config)
    if knowledge := _KNOWLEDGE_BY_CLIENT.get(client):
        knowledge.streams, knowledge.asked_at, knowledge.is_forgotten = streams, asked_at, False
    else:
        _KNOWLEDGE_BY_CLIENT[client] = _Knowledge(streams, asked_at)
    return streams


def forget_streams(jetstream: JetStreamContext) -> None:
    """Have the server asked for the streams of the log again."""
    if knowledge := _KNOWLEDGE_BY_CLIENT.get(connection_of(jetstream)):
        knowledge.is_forgotten = True


async def has_log(jetstream: JetStreamContext) -> bool:
    """Return whether the bus has a log, of its own or a mirror."""
    try:
        await jetstream.stream_info(LOG)
    except NotFoundError:
        return False
    return True
