"""Reads a stream in pages, by consumers that acknowledge nothing."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from uuid import uuid4

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from runtime.bus.nats.messages import NatsMessage

PAGE = 500
"""Messages of one fetch, unless a caller wants fewer."""


def reader_config(
    after: int,
    *,
    forgotten: float,
    subject: str | None = None,
    subjects: Sequence[str] = (),
    headers_only: bool = False,
) -> ConsumerConfig:
    """Configure a reader behind a sequence, which the server removes after `forgotten` idle seconds."""
    return ConsumerConfig(
        name=f"read-{uuid4().hex}",
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=after + 1,
        ack_policy=AckPolicy.NONE,
        mem_storage=True,
        filter_subject=subject,
        filter_subjects=list(subjects) or None,
        headers_only=headers_only,
        inactive_threshold=forgotten,
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

    A page that comes short ends its consumer, and another one goes on behind it. An account that imports JetStream's
    answers takes a message without headers and data, which a publisher may put into the log, for the end of the
    answer: what the server sent behind it never comes, and with AckPolicy.NONE it sends nothing twice. A consumer of
    one subject is a service's, which may remove none: it ends by itself. Raises what the client raises; TimeoutError
    when nothing comes within `patience` seconds.
    """
    left = 1
    while left > 0:
        config = config_behind(after)
        info = await jetstream.add_consumer(stream, config)
        left, wanted, messages = info.num_pending or 0, 0, list[NatsMessage]()
        subscription = await jetstream.pull_subscribe_bind(consumer=info.name, stream=stream)
        try:
            while left > 0 and len(messages) == wanted:
                wanted = min(page, left)
                fetched = await subscription.fetch(wanted, timeout=patience)
                messages = list(map(NatsMessage, fetched))
                left = min(left - len(fetched), fetched[-1].metadata.num_pending)
                after = messages[-1].sequence
                yield messages
        finally:
            # One that the server has lost, or that cannot be removed now, ends by itself.
            with suppress(NatsError):
                await subscription.unsubscribe()
                if config.filter_subject is None:
                    await jetstream.delete_consumer(stream, info.name)
