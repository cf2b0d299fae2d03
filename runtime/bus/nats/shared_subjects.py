"""Reads what one document has at subjects that documents share: first the headers of all that is
there, then what is its own.

A service may read so whatever it consumes: each reader has one filter, which permissions can
narrow.
"""

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from contracts import subjects
from runtime.batching import batched
from runtime.bus.nats import reading
from runtime.bus.nats.asking import first_answer
from runtime.bus.nats.connection import translated
from runtime.bus.nats.lookahead import stored
from runtime.bus.nats.messages import NatsMessage

AT_ONCE = 100
"""Events that are fetched together: one has up to 256 KiB."""


async def sequences_at_shared(
    jetstream: JetStreamContext, stream: str, filter: str, after: int
) -> AsyncGenerator[int]:
    """Yield the sequences behind `after` of the events that pass a filter of one document and stand
    at shared subjects, in order. Raises `Unavailable`, and what the client raises.
    """
    shared_filter = subjects.shared(filter)

    def behind(sequence: int) -> ConsumerConfig:
        return reading.reader_config(
            sequence, inactive_seconds=5.0, subject=shared_filter, headers_only=True
        )

    with translated():
        pages = reading.read_pages(jetstream, stream, behind, after, reading.PAGE)
        async with aclosing(pages):
            async for messages in pages:
                for message in messages:
                    if subjects.passes(message.subject, [filter]):
                        yield message.sequence


async def end_of(jetstream: JetStreamContext, stream: str) -> int:
    """Return the last sequence of a stream. What two readers yield up to there leaves nothing
    out. Raises `Unavailable`.
    """
    with translated():
        return (await first_answer(lambda: jetstream.stream_info(stream))).state.last_seq


async def with_shared(
    own: AsyncGenerator[NatsMessage],
    jetstream: JetStreamContext,
    stream: str,
    filter: str,
    after: int,
    at_once: int = AT_ONCE,
) -> AsyncGenerator[NatsMessage]:
    """Yield what passes a filter of one document, in the order of the log: the events at its `own`
    subjects, and those at shared ones, of which `at_once` are fetched together. What came after
    the call is left out. Raises as `sequences_at_shared`.
    """
    shared_filter = subjects.shared(filter)
    end = await end_of(jetstream, stream)
    places = sequences_at_shared(jetstream, stream, filter, after)
    async with aclosing(places), aclosing(own):
        waiting = deque([sequence async for sequence in places if sequence <= end])
        async for message in own:
            if message.sequence > end:
                break
            earlier = list[int]()
            while waiting and waiting[0] < message.sequence:
                earlier.append(waiting.popleft())
            for batch in batched(earlier, at_once):
                for earlier_message in await stored(jetstream, stream, shared_filter, batch):
                    yield earlier_message
            yield message
        for batch in batched(waiting, at_once):
            for later_message in await stored(jetstream, stream, shared_filter, batch):
                yield later_message
