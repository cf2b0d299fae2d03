"""Messages of a consumer, asked for by one request at a time, which the server ends.

Every reader of the log pulls by it: the event processor's loops, looking ahead, feeds, dead
letters, rebuilds. nats-py's own `fetch` makes two tasks for each message, asks again at the moment
at which the server ends its request, and ends with two kinds of timeouts.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StatusCode
from nats.js.errors import APIError

from runtime.workarounds.nats_py import api_subject, connection_of

ANSWER_SECONDS = 1.0
"""Seconds that the server has to go on with an answer or to say that it has ended.

After that the connection was lost meanwhile, or the account imports JetStream's answers: that takes
a message without headers and data for the end of one, and lets nothing through behind it.
"""

CONNECTION_SECONDS = 5.0
"""Seconds until a reader that waits sees that its connection was lost and is back."""

_ENDED = frozenset({StatusCode.NO_MESSAGES, StatusCode.REQUEST_TIMEOUT})
"""How the server says that it has given all that is there, or that nothing came in time."""


@dataclass
class Pull:
    """Requests to one consumer and their answers; `subject` is that of the requests."""

    client: Client
    subject: str
    inbox: str
    _wanted_count: int = 0
    """Messages of the present request."""
    _subscription: Subscription | None = None
    _messages: list[Msg] = field(default_factory=list[Msg])
    _refusal: NatsError | None = None
    _begin_signal: asyncio.Event = field(default_factory=asyncio.Event)
    """Of the answer, that something of it has come."""
    _end_signal: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(self, max_messages: int, seconds: float) -> list[Msg]:
        """Return what is there as soon as there is anything, at most `max_messages` messages; none
        after `seconds`.

        Raises APIError when the server refuses the request, and what the client raises.
        """
        if self._messages:  # which came when their own fetch had ended
            return self._taken(max_messages)
        await self.ask(max_messages, seconds, no_wait=True)
        await self._begun(seconds + ANSWER_SECONDS)
        received_count = 0
        while len(self._messages) > received_count and not self._end_signal.is_set():
            received_count = len(self._messages)
            await _waited(self._end_signal, ANSWER_SECONDS)
        return self._answered()

    async def ask(self, count: int, seconds: float, *, no_wait: bool = False) -> None:
        """Ask for so many messages, for at most `seconds`. With `no_wait` the answer ends with what
        is there as soon as there is anything; else when all have come.
        """
        self._wanted_count = count
        self._refusal = None
        self._begin_signal.clear()
        self._end_signal.clear()
        request: dict[str, int | bool] = {"batch": count, "expires": int(seconds * 1e9)}
        if no_wait:
            request["no_wait"] = True
        await self.client.publish(self.subject, json.dumps(request).encode(), self.inbox)

    async def answer(self, seconds: float) -> list[Msg]:
        """Return the messages that have come when all have, the server ends the answer, or
        `seconds` are over.

        Raises APIError when the server has refused the request.
        """
        await _waited(self._end_signal, seconds)
        return self._answered()

    async def _begun(self, seconds: float) -> None:
        """Return when the answer begins, the seconds are over, or the connection was lost: the
        server has forgotten the request then.
        """
        end = asyncio.get_running_loop().time() + seconds
        connection_count = self.client.stats["reconnects"]
        while not self._begin_signal.is_set():
            seconds_left = end - asyncio.get_running_loop().time()
            if seconds_left <= 0 or self.client.stats["reconnects"] != connection_count:
                return
            await _waited(self._begin_signal, min(CONNECTION_SECONDS, seconds_left))

    def _answered(self) -> list[Msg]:
        if self._refusal and not self._messages:
            raise self._refusal
        return self._taken(self._wanted_count)

    async def open(self) -> None:
        """Begin to listen for answers."""
        self._subscription = await self.client.subscribe(self.inbox, cb=self._receive)

    async def close(self) -> None:
        """Listen no more. What the client raises is of no use to anybody."""
        subscription = self._subscription
        self._subscription = None
        if subscription:
            with suppress(NatsError):
                await subscription.unsubscribe()

    def _taken(self, max_messages: int) -> list[Msg]:
        messages = self._messages[:max_messages]
        del self._messages[:max_messages]
        return messages

    async def _receive(self, message: Msg) -> None:
        """Take a message of the answer, or the status that ends it."""
        status = JetStreamContext.is_status_msg(message)
        if not status:
            self._messages.append(message)
        elif status not in _ENDED:
            self._refusal = _refusal(message)
        if status or len(self._messages) >= self._wanted_count:
            self._end_signal.set()
        self._begin_signal.set()


async def _waited(event: asyncio.Event, seconds: float) -> None:
    """Return when the event is set, or the seconds are over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _refusal(message: Msg) -> NatsError:
    """Return the error that this status of the server stands for."""
    try:
        APIError.from_msg(message)
    except NatsError as error:
        return error


async def open_pull(jetstream: JetStreamContext, stream: str, consumer: str) -> Pull:
    """Return the pull of a consumer that is there; whoever opens it closes it. Raises what the
    client raises.
    """
    client = connection_of(jetstream)
    subject = api_subject(jetstream, f"CONSUMER.MSG.NEXT.{stream}.{consumer}")
    pull = Pull(client, subject, client.new_inbox())
    await pull.open()
    return pull


@asynccontextmanager
async def opened_pull(
    jetstream: JetStreamContext, stream: str, consumer: str
) -> AsyncGenerator[Pull]:
    """Open the pull of a consumer, and close it in the end."""
    pull = await open_pull(jetstream, stream, consumer)
    try:
        yield pull
    finally:
        await pull.close()
