"""Reads a stream in pages, by consumers that acknowledge nothing."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError

from runtime.bus.nats.messages import NatsMessage
from runtime.bus.nats.pulling import Pull, opened_pull

PAGE = 500
"""Messages of one request, unless a caller wants fewer."""


def reader_config(
    after: int,
    *,
    inactive_seconds: float,
    subject: str | None = None,
    subjects: Sequence[str] = (),
    headers_only: bool = False,
) -> ConsumerConfig:
    """Configure a reader behind a sequence, which the server removes after `inactive_seconds` idle
    seconds.
    """
    return ConsumerConfig(
        name=f"read-{uuid4().hex}",
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=after + 1,
        ack_policy=AckPolicy.NONE,
        mem_storage=True,
        filter_subject=subject,
        filter_subjects=list(subjects) or None,
        headers_only=headers_only,
        inactive_threshold=inactive_seconds,
    )


async def read_pages(
    jetstream: JetStreamContext,
    stream: str,
    config_behind: Callable[[int], ConsumerConfig],
    after: int,
    page: int,
    *,
    patience: float = 10.0,
) -> AsyncGenerator[list[NatsMessage]]:
    """Yield pages of at most `page` messages behind `after`, up to what the stream holds now.

    While the caller works on one page the next one comes. A page that comes short ends its
    consumer, and another one goes on behind it. An account that imports JetStream's answers takes a
    message without headers and data, which a publisher may put into the log, for the end of the
    answer: what the server sent behind it never comes, and with AckPolicy.NONE it sends nothing
    twice. Raises what the client raises; TimeoutError when nothing comes within `patience` seconds.
    """
    pending_count = 1
    while pending_count > 0:
        config = config_behind(after)
        info = await jetstream.add_consumer(stream, config)
        pending_count = info.num_pending or 0
        complete = True
        async with _reader(jetstream, stream, config) as pull:
            requested_count = await _asked(pull, page, pending_count, patience)
            while pending_count > 0 and complete:
                messages = await _answered(pull, patience)
                complete = len(messages) == requested_count
                pending_count = min(pending_count - len(messages), messages[-1].pending)
                after = messages[-1].sequence
                if complete:
                    requested_count = await _asked(pull, page, pending_count, patience)
                yield messages


async def _asked(pull: Pull, page: int, pending_count: int, patience: float) -> int:
    """Ask for the next page of messages that are known to be there; return how many it has."""
    requested_count = min(page, pending_count)
    if requested_count > 0:
        await pull.ask(requested_count, patience)
    return requested_count


async def _answered(pull: Pull, patience: float) -> list[NatsMessage]:
    """Return the messages of a page. Raises nats-py's TimeoutError when nothing comes."""
    try:
        messages = await pull.answer(patience)
    except APIError as refusal:
        # A consumer that the server has lost, with its messages: the next one goes on behind it.
        raise NatsTimeout from refusal
    if not messages:
        raise NatsTimeout
    return [NatsMessage(message) for message in messages]


@asynccontextmanager
async def _reader(
    jetstream: JetStreamContext, stream: str, config: ConsumerConfig
) -> AsyncGenerator[Pull]:
    """Open the pull of a reader, and remove the reader in the end.

    A consumer of one subject is a service's, which may remove none: it ends by itself, as does one
    that the server has lost, or that cannot be removed now.
    """
    name = str(config.name)
    try:
        async with opened_pull(jetstream, stream, name) as pull:
            yield pull
    finally:
        if config.filter_subject is None:
            with suppress(NatsError):
                await jetstream.delete_consumer(stream, name)
