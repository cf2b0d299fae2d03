"""The log on NATS JetStream, as it is read: a workspace from one stream, all of them from each."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, ConsumerInfo
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.partitions import LogPosition, partition_at, partition_in, stream_name
from contracts.topology import CONSUMERS, PARKED_STREAM
from runtime.bus.nats import reading
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log_streams import Home, log_streams
from runtime.bus.nats.messages import NatsMessage, StoredMessage, stated_size
from runtime.bus.nats.shared_subjects import end_of, sequences_at_shared, with_shared
from runtime.bus.port import Message

MOST_LISTED = 100_000
"""Subjects the server lists in one answer."""


@dataclass(frozen=True)
class NatsLogReader:
    """The reading half of `Log`."""

    jetstream: JetStreamContext
    with_misplaced: bool = field(default=False, kw_only=True)
    """Whether `read` yields, too, what was published to a partition that its workspace had left:
    it is carried to where it counts, and whoever removes an event removes both.
    """

    async def newest(
        self, workspace: str, about: str, event_type: str, *, exact: bool = True
    ) -> Message | None:
        if event_type in subjects.SHARED:
            return await self._last_of_history(workspace, about, event_type)
        subject = subjects.subject(workspace, about, event_type)
        streams = await log_streams(self.jetstream)
        for home in reversed(streams.homes_of_subject(subject)):
            # Of a direct read, a replica that lags behind would show an older one.
            if message := await self._last_at(home, subject, direct=not exact):
                return message
        return None

    async def _last_at(self, home: Home, subject: str, *, direct: bool = False) -> Message | None:
        """Return the newest event of a workspace's subject, or filter, that counts in a stream."""
        try:
            with translated():
                message = StoredMessage(
                    await first_answer(
                        lambda: self.jetstream.get_last_msg(home.stream, subject, direct=direct)
                    )
                )
        except NotFoundError:
            return None
        if home.holds(message.sequence):
            return message
        newest_message: Message | None = None
        async with aclosing(self._matching_in(home, subject, 0)) as messages:
            async for earlier_message in messages:
                newest_message = earlier_message
        return newest_message

    async def _last_of_history(self, workspace: str, about: str, event_type: str) -> Message | None:
        newest: Message | None = None
        async with aclosing(self.history(workspace, about, event_type)) as messages:
            async for message in messages:
                newest = message
        return newest

    async def following(self, after: int, subject: str) -> Message | None:
        for stream in await self._streams_behind(after, [subject]):
            if message := await self._counting_in(stream, after, subject):
                return message
        return None

    async def _counting_in(self, stream: str, after: int, subject: str) -> Message | None:
        """Return the first event behind a sequence of a stream that counts there."""
        while message := await self._following_in(stream, after, subject):
            streams = await log_streams(self.jetstream)
            if not streams.is_misplaced(message.subject, message.sequence):
                return message
            after = message.sequence
        return None

    async def first_behind(self, position: LogPosition, subject: str) -> Message | None:
        """Return an event behind a place in the whole log whose subject fits, the first one of its
        partition; None where there is none.
        """
        for stream in (await log_streams(self.jetstream)).of_subject(subject):
            after = position.sequences[partition_in(stream)]
            if message := await self._counting_in(stream, after, subject):
                return message
        return None

    async def _following_in(self, stream: str, after: int, subject: str) -> Message | None:
        first = await self._first_at(stream, after, subject)
        shared_subject = subjects.shared(subject)
        if shared_subject == subject:
            return first
        places = sequences_at_shared(self.jetstream, stream, subject, after)
        async with aclosing(places):
            place = await anext(places, None)
        if place is None or (first and first.sequence < place):
            return first
        return await self._first_at(stream, place - 1, shared_subject)

    async def _first_at(self, stream: str, after: int, subject: str) -> Message | None:
        try:
            with translated():
                message = await first_answer(
                    lambda: self.jetstream.get_msg(
                        stream, seq=after + 1, subject=subject, next=True, direct=False
                    )
                )
        except NotFoundError:
            return None
        return StoredMessage(message)

    async def _streams_behind(self, after: int, filters: Sequence[str]) -> Sequence[str]:
        """Return the streams that may hold such events at greater sequences than `after`, in the
        order of their sequences.
        """
        streams = await log_streams(self.jetstream)
        earlier = set(map(stream_name, range(partition_at(after))))
        return [name for name in streams.of_subjects(filters) if name not in earlier]

    async def end(self) -> LogPosition:
        streams = await log_streams(self.jetstream)
        with translated():
            infos = [
                await first_answer(partial(self.jetstream.stream_info, name))
                for name in streams.names
            ]
        # A mirror that has not heard of its source yet stands before the beginning of a partition.
        return streams.start().behind(info.state.last_seq for info in infos)

    async def last_sequence(self) -> int:
        (await log_streams(self.jetstream)).sole("what asks for the last event of all workspaces")
        return (await self.end()).sequences[0]

    async def end_of(self, workspace: str) -> int:
        stream = (await log_streams(self.jetstream)).of_workspace(workspace)
        return await end_of(self.jetstream, stream)

    async def partitions_of(self, workspace: str) -> tuple[int, ...]:
        return (await log_streams(self.jetstream)).placement(workspace).partitions

    async def last(self, workspace: str) -> int:
        streams = await log_streams(self.jetstream)
        for home in reversed(streams.homes(workspace)):
            # Not a direct read: a replica that lags behind would show an older one.
            if message := await self._last_at(home, subjects.of_workspace(workspace)):
                return message.sequence
        return 0

    async def last_about(self, workspace: str, about: str) -> int:
        """Return the sequence of the newest event of a document, 0 for none. Raises
        `Unavailable`.
        """
        return max(await self.newest_about(workspace, about))

    async def newest_about(self, workspace: str, about: str) -> list[int]:
        """Return the sequence of the newest event of a document in each partition that has events
        of its workspace, 0 for none. Raises `Unavailable`.
        """
        subject = subjects.of_document(workspace, about)
        newest_sequences: list[int] = []
        for home in (await log_streams(self.jetstream)).homes(workspace):
            newest_own = await self._last_at(home, subject)
            # What stands in front of that cannot be the newest.
            after = newest_own.sequence if newest_own else 0
            places = sequences_at_shared(self.jetstream, home.stream, subject, after)
            async with aclosing(places):
                shared_places = [sequence async for sequence in places if home.holds(sequence)]
            newest_sequences.append(max([after, *shared_places]))
        return newest_sequences

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        streams = await log_streams(self.jetstream)
        if workspace is None:
            stream = streams.sole("what asks how far all workspaces are handled")
            return await self._handled_in(stream, durables, None)
        *earlier_homes, home = streams.homes(workspace)
        left_end = 0
        for earlier_home in earlier_homes:
            left_end = earlier_home.end or 0
            handled_to = await self._handled_in(
                earlier_home.stream, durables, workspace, end=left_end
            )
            if handled_to < left_end:
                return handled_to
        return max(left_end, await self._handled_in(home.stream, durables, workspace))

    async def handled_position(self) -> LogPosition:
        streams = await log_streams(self.jetstream)
        return streams.start().behind(
            [
                await self._handled_in(stream, (), None, end=sequence)
                for stream, sequence in zip(
                    streams.names, (await self.end()).sequences, strict=True
                )
            ]
        )

    async def _handled_in(
        self, stream: str, durables: Sequence[str], workspace: str | None, end: int = 0
    ) -> int:
        """Return what `handled` does, of one stream. `end`: where it ended before; a durable for
        which nothing is left has handled all of that, also where nothing was ever for it.
        """
        names = durables or [durable.name for durable in CONSUMERS]
        with translated():
            infos = [await self.jetstream.consumer_info(stream, name) for name in names]
        floor = min(_floor(info, end) for info in infos)
        # In this order: an event that was acknowledged because it was parked is on the list by now.
        first_parked = await self._first_parked(
            stream, names, "*" if workspace is None else subjects.token(workspace)
        )
        return floor if first_parked is None else min(floor, max(0, first_parked - 1))

    async def _first_parked(
        self, stream: str, durables: Sequence[str], workspace: str
    ) -> int | None:
        """Return the lowest parked sequence of these durables in a stream: None without any, 0
        when there are too many to list.
        """
        try:
            with translated():
                info = await self.jetstream.stream_info(
                    PARKED_STREAM, subjects_filter=subjects.parked(workspace=workspace)
                )
        except NotFoundError:  # a bus of an older version, before its topology is applied
            return None
        subject_tokens = [subject.split(".") for subject in info.state.subjects or {}]
        if len(subject_tokens) >= MOST_LISTED:
            return 0
        return min(
            (
                int(sequence)
                for _, durable, _, sequence in subject_tokens
                if durable in durables and stream_name(partition_at(int(sequence))) == stream
            ),
            default=None,
        )

    async def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        for stream in await self._streams_behind(after, subjects):
            async with aclosing(self._read_in(stream, after, subjects, page)) as pages:
                async for messages in pages:
                    yield messages

    async def read_behind(
        self,
        position: LogPosition,
        subjects: Sequence[str] = (),
        *,
        page: int = 500,
        until: LogPosition | None = None,
    ) -> AsyncGenerator[list[Message]]:
        streams = await log_streams(self.jetstream)
        for stream in streams.of_subjects(subjects):
            partition = partition_in(stream)
            after = position.sequences[partition]
            if until is not None and until.sequences[partition] <= after:
                continue
            async with aclosing(self._read_in(stream, after, subjects, page)) as pages:
                async for messages in pages:
                    earlier = [m for m in messages if until is None or until.holds(m.sequence)]
                    if earlier:
                        yield earlier
                    if until is not None and until.sequences[partition] <= messages[-1].sequence:
                        break

    async def _read_in(
        self, stream: str, after: int, filters: Sequence[str], page: int
    ) -> AsyncGenerator[list[Message]]:
        held_at = subjects.with_shared(filters)

        def behind(sequence: int) -> ConsumerConfig:
            return reading.reader_config(sequence, inactive_seconds=60.0, subjects=held_at)

        with translated():
            async with aclosing(
                reading.read_pages(self.jetstream, stream, behind, after, page)
            ) as pages:
                async for messages in pages:
                    passed = await self._counting(messages)
                    if len(held_at) > len(filters):
                        passed = [m for m in passed if subjects.passes(m.subject, filters)]
                    if passed:
                        yield passed

    async def _counting(self, messages: Sequence[NatsMessage]) -> list[Message]:
        """Return those of these messages that count where they stand."""
        streams = await log_streams(self.jetstream)
        if self.with_misplaced or not streams.placements:
            return [*messages]
        return [m for m in messages if not streams.is_misplaced(m.subject, m.sequence)]

    async def history(
        self, workspace: str, about: str | None, event_type: str, after: int = 0
    ) -> AsyncGenerator[Message]:
        # One filter, which a service's permissions can narrow.
        subject = subjects.of_type_in(workspace, event_type, about)
        for home in (await log_streams(self.jetstream)).homes_of_subject(subject):
            if home.holds(after + 1):
                events = self._matching_in(home, subject, after)
                if subjects.shared(subject) != subject:
                    stream = home.stream
                    events = with_shared(events, self.jetstream, stream, subject, after)
                async with aclosing(events) as messages:
                    async for message in messages:
                        if home.holds(message.sequence):
                            yield message

    async def sizes(
        self, workspace: str, event_type: str, after: int = 0
    ) -> AsyncGenerator[tuple[int, int]]:
        subject = subjects.of_type_in(workspace, event_type)
        headers = self._matching(subject, after, headers_only=True)
        async with aclosing(headers) as messages:
            async for message in messages:
                yield message.sequence, stated_size(message.headers)

    async def subjects(self, workspace: str, after: int) -> AsyncGenerator[str]:
        subject = subjects.of_workspace(workspace)
        headers = self._matching(subject, after, headers_only=True)
        async with aclosing(headers) as messages:
            async for message in messages:
                yield message.subject

    async def _matching(
        self, subject: str, after: int, *, headers_only: bool = False
    ) -> AsyncGenerator[NatsMessage]:
        for home in (await log_streams(self.jetstream)).homes_of_subject(subject):
            if home.holds(after + 1):
                events = self._matching_in(home, subject, after, headers_only=headers_only)
                async with aclosing(events) as messages:
                    async for message in messages:
                        yield message

    async def _matching_in(
        self, home: Home, subject: str, after: int, *, headers_only: bool = False
    ) -> AsyncGenerator[NatsMessage]:
        def behind(sequence: int) -> ConsumerConfig:
            return reading.reader_config(
                sequence, inactive_seconds=5.0, subject=subject, headers_only=headers_only
            )

        with translated():
            pages = reading.read_pages(self.jetstream, home.stream, behind, after, reading.PAGE)
            async with aclosing(pages):
                async for messages in pages:
                    for message in messages:
                        if home.end is not None and message.sequence > home.end:
                            return
                        yield message


def _floor(info: ConsumerInfo, end: int) -> int:
    """Return up to where a durable has handled everything; `end`: where its stream ended before."""
    acknowledged = info.ack_floor.stream_seq if info.ack_floor else 0
    is_done = not (info.num_pending or info.num_ack_pending)
    return max(acknowledged, end) if is_done else acknowledged
