"""The streams of the log: which there are, and which of them holds what.

Whoever reads or writes events asks here, so that nothing reads one partition and takes it for the
log: what has not learnt to go over several asks for the `sole` stream, and is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    mapped_subject,
    partition_at,
    partition_of,
    stream_name,
)
from contracts.topology import SHARED_KEY
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.errors import ConfigurationError
from runtime.workarounds.nats_py import connection_of


@dataclass(frozen=True)
class LogStreams:
    """The streams of a log of `count` partitions. `shares_subjects`: its documents share subjects
    for what services make of them.
    """

    count: int = 1
    shares_subjects: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all streams, by partition."""
        return tuple(map(stream_name, range(self.count)))

    def holding(self, sequence: int) -> str:
        """Return the stream in which a sequence stands."""
        return stream_name(min(partition_at(sequence), self.count - 1))

    def of_workspace(self, workspace: str) -> str:
        """Return the stream that has all events of a workspace."""
        return stream_name(partition_of(subjects.token(workspace), self.count))

    def of_subject(self, subject: str) -> Sequence[str]:
        """Return the streams that may hold events of a subject, or of a filter of subjects."""
        if self.count == 1:
            return self.names
        token = subjects.workspace_in_filter(subject)
        return self.names if token is None else (stream_name(partition_of(token, self.count)),)

    def of_subjects(self, filters: Sequence[str]) -> Sequence[str]:
        """Return the streams that may hold what passes any of these filters, or, without filters,
        anything.
        """
        streams = {stream for filter in filters for stream in self.of_subject(filter)}
        return [name for name in self.names if name in streams or not filters]

    def published_to(self, subject: str) -> str:
        """Return the subject to publish an event to.

        What is about questions says the workspace at another place than the server's mapping looks.
        """
        is_mapped_here = self.count > 1 and subjects.is_apart(subject)
        return mapped_subject(subject, self.count) if is_mapped_here else subject

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

_STREAMS_BY_CLIENT: WeakKeyDictionary[Client, LogStreams] = WeakKeyDictionary()
"""Of each connection, the streams of its log: their number never changes. A log that comes to share
subjects has those of before as well, from who was connected by then.
"""


def streams_in(config: StreamConfig) -> LogStreams:
    """Return the streams of the log whose first one has this configuration."""
    metadata = config.metadata or {}
    return LogStreams(int(metadata.get(COUNT_KEY, "1")), SHARED_KEY in metadata)


def known_streams(jetstream: JetStreamContext) -> LogStreams:
    """Return the streams as far as this connection has asked for them; one until then."""
    return _STREAMS_BY_CLIENT.get(connection_of(jetstream), ONE_STREAM)


async def log_streams(jetstream: JetStreamContext) -> LogStreams:
    """Return the streams of the log. The server is asked once for each connection; where it has no
    log yet there is one, and it is asked again. Raises `Unavailable`.
    """
    client = connection_of(jetstream)
    if client not in _STREAMS_BY_CLIENT:
        try:
            with translated():
                info = await first_answer(lambda: jetstream.stream_info(LOG))
        except NotFoundError:
            return ONE_STREAM
        _STREAMS_BY_CLIENT[client] = streams_in(info.config)
    return _STREAMS_BY_CLIENT[client]


def forget_streams(jetstream: JetStreamContext) -> None:
    """Have the server asked for the streams of the log again."""
    _STREAMS_BY_CLIENT.pop(connection_of(jetstream), None)


async def has_log(jetstream: JetStreamContext) -> bool:
    """Return whether the bus has a log, of its own or a mirror."""
    try:
        await jetstream.stream_info(LOG)
    except NotFoundError:
        return False
    return True
