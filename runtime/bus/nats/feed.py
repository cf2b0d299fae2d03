"""`EventFeed` on NATS: ephemeral readers with one filter, which permissions can narrow and the
server forgets.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo

from contracts import subjects
from contracts.partitions import LogPosition
from runtime.bus.nats.connection import translated
from runtime.bus.nats.log_streams import PLACEMENT_SECONDS, Home, log_streams
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.nats.pulling import Pull, open_pull
from runtime.bus.nats.reading import read_pages, reader_config
from runtime.bus.nats.shared_subjects import end_of, sequences_at_shared, with_shared
from runtime.bus.port import Message
from runtime.concurrency.merging import merged
from runtime.errors import Unavailable

FETCH = 5.0
"""Seconds a fetch of events that are known to be there may take."""

FORGOTTEN = 10.0
"""Seconds without a fetch after which the server removes a reader."""

MOST_AT_ONCE = 100
"""Events of one fetch: an event has up to 256 KiB."""

ALL_WORKSPACES = "reading events of all workspaces by sequences"


@dataclass(frozen=True)
class NatsEventFeed:
    """`EventFeed` on the streams of the log, each filter on the one of its workspace."""

    jetstream: JetStreamContext

    async def last_sequence(self, subject: str) -> int:
        with _reading():
            stream = (await self._homes(subject))[-1].stream
            return (await self.jetstream.stream_info(stream)).state.last_seq

    async def count(self, subject: str, after: int = 0) -> int:
        with _reading():
            homes = await self._homes(subject)
        return sum([await self._count_in(home, subject, after) for home in homes])

    async def _count_in(self, home: Home, subject: str, after: int) -> int:
        """Return how many events of a filter count in one stream, behind a sequence."""
        if home.end is not None:
            behind_end = await self._count_in(Home(home.stream), subject, max(after, home.end))
            return await self._count_in(Home(home.stream), subject, after) - behind_end
        info = await self._opened_in(home.stream, subject, after, inactive_seconds=1.0)
        count = info.num_pending or 0
        if subjects.shared(subject) != subject:
            with _reading():
                async with aclosing(
                    sequences_at_shared(self.jetstream, home.stream, subject, after)
                ) as places:
                    count += len([sequence async for sequence in places])
        return count

    async def page(self, subject: str, after: int, limit: int) -> tuple[list[Message], int]:
        if limit <= 0:
            return [], await self.count(subject, after)
        with _reading():
            homes = await self._homes(subject)
        page_in = self._page_with_shared if subjects.shared(subject) != subject else self._page_in
        page_messages = list[Message]()
        left_count = 0
        for home in homes:
            if not home.holds(after + 1):
                continue
            if len(page_messages) == limit:
                left_count += await self._count_in(home, subject, after)
                continue
            messages, pending_count = await page_in(
                home.stream, subject, after, limit - len(page_messages)
            )
            counting = [message for message in messages if home.holds(message.sequence)]
            page_messages += counting
            if home.end is not None:  # what does not count here is among those that are pending
                behind = counting[-1].sequence if counting else home.end
                pending_count = await self._count_in(home, subject, behind)
            left_count += pending_count
        return page_messages, left_count

    async def _page_in(
        self, stream: str, subject: str, after: int, limit: int
    ) -> tuple[list[Message], int]:
        messages = list[Message]()
        pending_count = 0
        with _reading():
            config_behind = partial(reader_config, inactive_seconds=FORGOTTEN, subject=subject)
            page_size = min(limit, MOST_AT_ONCE)
            async with aclosing(
                read_pages(self.jetstream, stream, config_behind, after, page_size, patience=FETCH)
            ) as pages:
                async for page in pages:
                    messages += page
                    pending_count = page[-1].raw.metadata.num_pending
                    if len(messages) >= limit:
                        break
        return messages[:limit], pending_count + len(messages[limit:])

    async def _page_with_shared(
        self, stream: str, subject: str, after: int, limit: int
    ) -> tuple[list[Message], int]:
        """Return what `_page_in` does, of a filter of one document."""
        count = await self._count_in(Home(stream), subject, after)
        messages = list[Message]()
        at_once = min(limit, MOST_AT_ONCE)
        with _reading():
            own = self._events(stream, subject, after, at_once)
            async with aclosing(
                with_shared(own, self.jetstream, stream, subject, after, at_once)
            ) as events:
                async for message in events:
                    messages.append(message)
                    if len(messages) == limit:
                        return messages, max(0, count - limit)
        return messages, 0

    async def _events(
        self, stream: str, subject: str, after: int, page_size: int
    ) -> AsyncGenerator[NatsMessage]:
        config_behind = partial(reader_config, inactive_seconds=FORGOTTEN, subject=subject)
        async with aclosing(
            read_pages(self.jetstream, stream, config_behind, after, page_size, patience=FETCH)
        ) as pages:
            async for page in pages:
                for message in page:
                    yield message

    async def follow(self, subject: str, after: int, wait: float) -> AsyncGenerator[list[Message]]:
        with _reading():
            is_sole = (await log_streams(self.jetstream)).count == 1
            home = await self._home_behind(subject, after)
        clock = asyncio.get_running_loop().time
        silent_until = clock() + wait
        # A workspace may be moved: what follows stands elsewhere then.
        look_seconds = wait if is_sole else min(wait, PLACEMENT_SECONDS)
        while True:
            pages = self._follow_home(home, subject, after, look_seconds)
            async with aclosing(pages):
                async for messages in pages:
                    if messages:
                        after = messages[-1].sequence
                        yield messages
                        silent_until = clock() + wait
                        continue
                    if is_sole or clock() >= silent_until:
                        yield []
                        silent_until = clock() + wait
                    with _reading():
                        following_home = await self._home_behind(subject, after)
                    if not is_sole and following_home != home:
                        home = following_home
                        break

    async def _home_behind(self, subject: str, after: int) -> Home:
        """Return the stream that has the next event of a filter, or that takes it."""
        *earlier_homes, home = await self._homes(subject)
        for earlier_home in earlier_homes:
            if earlier_home.holds(after + 1) and await self._count_in(earlier_home, subject, after):
                return earlier_home
        return home

    async def _follow_home(
        self, home: Home, subject: str, after: int, wait: float
    ) -> AsyncGenerator[list[Message]]:
        """Yield what `follow` does, of one stream of the log, and silence where its events end."""
        is_shared = subjects.shared(subject) != subject
        follow = self._follow_with_shared if is_shared else self._follow_in
        async with aclosing(follow(home.stream, subject, after, wait)) as pages:
            async for messages in pages:
                streams = await log_streams(self.jetstream)
                yield [m for m in messages if not streams.is_misplaced(m.subject, m.sequence)]

    async def _follow_with_shared(
        self, stream: str, subject: str, after: int, wait: float
    ) -> AsyncGenerator[list[Message]]:
        """Yield what `follow` does, of a filter of one document.

        Of two readers neither knows what the other has yet to deliver. So they only say when to
        look, and what is behind the place is read then, in the order of the log.
        """
        with _reading():
            end = await end_of(self.jetstream, stream)
        filters = subjects.with_shared([subject])
        clock = asyncio.get_running_loop().time
        silent_until = clock() + wait
        is_due = True
        readers = [self._follow_in(stream, filter, end, wait) for filter in filters]
        async with aclosing(merged(readers)) as signals:
            while True:
                while is_due:
                    messages, _ = await self._page_with_shared(stream, subject, after, MOST_AT_ONCE)
                    is_due = len(messages) == MOST_AT_ONCE
                    if messages:
                        after = messages[-1].sequence
                        yield messages
                        silent_until = clock() + wait
                signal = await anext(signals)
                is_due = any(
                    message.sequence > after and subjects.passes(message.subject, [subject])
                    for message in signal
                )
                if not is_due and clock() >= silent_until:
                    yield []
                    silent_until = clock() + wait

    async def follow_all(
        self, position: LogPosition, wait: float
    ) -> AsyncGenerator[tuple[list[Message], LogPosition]]:
        with _reading():
            streams = await log_streams(self.jetstream)
        followers = [
            self._follow_in(stream, subjects.ALL, after, wait)
            for stream, after in zip(streams.names, position.sequences, strict=True)
        ]
        clock = asyncio.get_running_loop().time
        silent_until = clock() + wait
        async with aclosing(merged(followers)) as pages:
            async for messages in pages:
                if not messages and clock() < silent_until:
                    continue  # only this partition is silent
                silent_until = clock() + wait
                position = position.behind(message.sequence for message in messages)
                streams = await log_streams(self.jetstream)
                yield (
                    [m for m in messages if not streams.is_misplaced(m.subject, m.sequence)],
                    position,
                )

    async def _follow_in(
        self, stream: str, subject: str, after: int, wait: float
    ) -> AsyncGenerator[list[Message]]:
        while True:
            # A reader that is silent for so long may be one that the server has forgotten: the next
            # one is new.
            async with aclosing(self._until_silent(stream, subject, after, wait)) as pages:
                async for messages in pages:
                    after = messages[-1].sequence if messages else after
                    yield messages

    async def _until_silent(
        self, stream: str, subject: str, after: int, wait: float
    ) -> AsyncGenerator[list[Message]]:
        """Yield what one reader delivers: up to a silence, which is an empty list, or to a delivery
        that was lost.

        Lost is what a connection drops that breaks, and what a fetch that comes short may have lost
        (`read_pages`).
        """
        info = await self._opened_in(stream, subject, after)
        delivered_count = 0
        async with _reading_by(self.jetstream, info.stream_name, info.name) as reader:
            while True:
                messages = list[Message]()
                try:
                    with _reading():
                        raws, is_complete = await _fetched(reader, wait)
                except Unavailable:
                    if delivered_count:
                        # Forgotten, as its client was slow: if the bus is away, the next one says
                        # so.
                        return
                    raise
                for raw in raws:
                    if raw.metadata.sequence.consumer != delivered_count + 1:
                        return  # one got lost on a connection that broke
                    delivered_count += 1
                    messages.append(NatsMessage(raw))
                yield messages
                if not messages or not is_complete:
                    return

    async def _opened_in(
        self, stream: str, subject: str, after: int, inactive_seconds: float = FORGOTTEN
    ) -> ConsumerInfo:
        with _reading():
            config = reader_config(after, inactive_seconds=inactive_seconds, subject=subject)
            return await self.jetstream.add_consumer(stream, config)

    async def _homes(self, subject: str) -> list[Home]:
        """Return the streams that have all events of a filter, in the order of sequences. Raises
        ConfigurationError where that are several for other reasons than a move: the place behind an
        event is a place in one of them.
        """
        streams = await log_streams(self.jetstream)
        if subjects.workspace_in_filter(subject) is None:
            streams.sole(ALL_WORKSPACES)
        return streams.homes_of_subject(subject)


async def _fetched(reader: Pull, wait: float) -> tuple[list[Msg], bool]:
    """Return the next events as soon as there is one, and whether they are all that were there.

    None after `wait` seconds.
    """
    raws = await reader.fetch(MOST_AT_ONCE, wait)
    if not raws:
        return [], False
    return raws, len(raws) == MOST_AT_ONCE or not raws[-1].metadata.num_pending


@asynccontextmanager
async def _reading_by(
    jetstream: JetStreamContext, stream: str, consumer: str
) -> AsyncGenerator[Pull]:
    """Open the pull of a reader of the log, and close it in the end."""
    with _reading():
        pull = await open_pull(jetstream, stream, consumer)
    try:
        yield pull
    finally:
        await pull.close()


@contextmanager
def _reading() -> Generator[None]:
    """Translate every error of the client to `Unavailable`, but for a missing permission."""
    try:
        with translated():
            yield
    except (NatsError, TimeoutError) as error:
        raise Unavailable(f"events of the log could not be read: {error!r}") from error
