"""Reads a stream in pages, by consumers that acknowledge nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header
from nats.js.errors import APIError

from runtime.bus.nats.messages import NatsMessage

PAGE = 500
"""Messages of one request, unless a caller wants fewer."""

_ENDS = ("404", "408", "409")
"""Statuses with which the server ends an answer that is not complete."""


def reader_config(
    after: int,
    *,
    forgotten: float,
    subject: str | None = None,
    subjects: Sequence[str] = (),
    headers_only: bool = False,
) -> ConsumerConfig:
    """Configure a reader behind a sequence, which the server removes after `forgotten` idle
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

    While the caller works on one page the next one comes. A page that comes short ends its
    consumer, and another one goes on behind it. An account that imports JetStream's answers takes a
    message without headers and data, which a publisher may put into the log, for the end of the
    answer: what the server sent behind it never comes, and with AckPolicy.NONE it sends nothing
    twice. Raises what the client raises; TimeoutError when nothing comes within `patience` seconds.
    """
    left = 1
    while left > 0:
        config = config_behind(after)
        info = await jetstream.add_consumer(stream, config)
        left, complete = info.num_pending or 0, True
        async with _pulled(jetstream, stream, config, patience) as pull:
            await pull.ask(min(page, left))
            while left > 0 and complete:
                messages = await pull.answer()
                complete = len(messages) == pull.wanted
                left, after = min(left - len(messages), messages[-1].pending), messages[-1].sequence
                if complete:
                    await pull.ask(min(page, left))
                yield messages


@dataclass
class _Pull:
    """Requests for messages, one at a time, and their answers; `subject` is that of the consumer's
    requests.

    The client's own `fetch` makes two tasks for each message, which takes longer than all else that
    reading does.
    """

    jetstream: JetStreamContext
    subject: str
    inbox: str
    patience: float
    wanted: int = 0
    """Messages of the present request."""
    _messages: list[NatsMessage] = field(default_factory=list[NatsMessage])
    _error: Exception | None = None
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, count: int) -> None:
        """Ask for so many messages, which are known to be there; for none nothing is done."""
        self.wanted, self._messages, self._error = count, [], None
        self._ended.clear()
        if count:
            request = {"batch": count, "expires": int(self.patience * 1e9)}
            await self.jetstream._nc.publish(self.subject, json.dumps(request).encode(), self.inbox)  # pyright: ignore[reportPrivateUsage]

    async def receive(self, message: Msg) -> None:
        """Take a message of the answer, or the status that ends it."""
        status = message.headers and message.headers.get(Header.STATUS)
        if not status:
            self._messages.append(NatsMessage(message))
        elif status not in _ENDS:
            self._error = APIError.from_msg(message)
        if status or len(self._messages) == self.wanted:
            self._ended.set()

    async def answer(self) -> list[NatsMessage]:
        """Return the messages that have come when all have, the server ends the answer, or patience
        does.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self.patience):
                await self._ended.wait()
        if not self._messages:
            raise self._error or NatsTimeout
        return self._messages


@asynccontextmanager
async def _pulled(
    jetstream: JetStreamContext, stream: str, config: ConsumerConfig, patience: float
) -> AsyncGenerator[_Pull]:
    """Open requests to a consumer, and remove it in the end.

    A consumer of one subject is a service's, which may remove none: it ends by itself, as does one
    that the server has lost, or that cannot be removed now.
    """
    client, prefix = jetstream._nc, jetstream._prefix  # pyright: ignore[reportPrivateUsage]
    pull = _Pull(
        jetstream,
        f"{prefix}.CONSUMER.MSG.NEXT.{stream}.{config.name}",
        client.new_inbox(),
        patience,
    )
    subscription = await client.subscribe(pull.inbox, cb=pull.receive)
    try:
        yield pull
    finally:
        with suppress(NatsError):
            await subscription.unsubscribe()
            if config.filter_subject is None:
                await jetstream.delete_consumer(stream, str(config.name))
