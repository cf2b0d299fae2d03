"""Fetch the messages of one pull consumer: all that are there, as soon as one is, and no more than can be worked on.

A request to the server waits until there is a message, and is answered with what there is at that moment (`no_wait`
with an expiry). So a lone message is handled at once, what piles up meanwhile comes as one batch, and an idle consumer
costs a request every few seconds. The client's own `fetch` takes two requests, and leaves behind what arrives as its
time ends.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from contracts.topology import Consumer
from runtime.bus.nats.messages import NatsMessage

logger = structlog.get_logger(__name__)

EXPIRES = 5.0
"""Seconds that a request waits at the server for a first message."""

SLACK = 1.0
"""Seconds after which a request is taken for lost, beyond its expiry."""

REST = 0.25
"""Seconds in which the rest of an answer comes, once its first message is here."""

AGAIN = 1.0
"""Seconds until the next request after one that the server refused: a consumer that is gone is not asked in a loop."""

ENDED = {"404", "408"}
"""Statuses that end a request in good order: nothing more is there, the time is up."""

Work = Callable[[Sequence[NatsMessage]], Awaitable[None]]


class PullConsumer:
    """Hands what a consumer delivers to `work`, in up to `workers` batches at once of at most `durable.batch` messages.

    `prefix` is that of the JetStream API. An error that `work` raises is logged: its messages are delivered again.
    """

    def __init__(
        self, client: Client, durable: Consumer, work: Work, *, workers: int = 1, prefix: str = "$JS.API"
    ) -> None:
        self._client, self._durable, self._work, self._workers = client, durable, work, workers
        self._subject = f"{prefix}.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}"
        self._inbox, self._number, self._wanted = client.new_inbox(), 0, 0
        self._subscription: Subscription | None = None
        self._arrived: deque[Msg] = deque()
        self._some, self._end, self._status = asyncio.Event(), asyncio.Event(), ""
        self._loop: asyncio.Task[None] | None = None
        self._batches: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to fetch."""
        self._subscription = await self._client.subscribe(f"{self._inbox}.*", cb=self._receive)
        self._loop = asyncio.create_task(self._run())

    async def stop(self, grace: float) -> None:
        """Fetch no more, and give the batches at work `grace` seconds. The rest is delivered again."""
        if self._loop:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        with suppress(NatsError):
            if self._subscription:
                await self._subscription.unsubscribe()
            for message in self._arrived:
                await message.nak()
        self._arrived.clear()
        if self._batches:
            _, late = await asyncio.wait(self._batches, timeout=grace)
            for batch in late:
                batch.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def ask_again(self) -> None:
        """Send the request again: the server that had it was away."""
        self._status = "lost"
        self._some.set()
        self._end.set()

    async def _run(self) -> None:
        size = self._durable.batch
        while True:
            if len(self._batches) >= self._workers:
                await asyncio.wait(self._batches, return_when=asyncio.FIRST_COMPLETED)
                continue
            try:
                messages = await self._fetch(size if size > 1 else self._workers - len(self._batches))
            except Exception as error:
                # Whatever it is, nobody would notice a loop that has ended.
                logger.warning("cannot fetch", durable=self._durable.name, error=repr(error))
                await asyncio.sleep(AGAIN)
                continue
            for start in range(0, len(messages), size):
                batch = asyncio.create_task(self._handle(messages[start : start + size]))
                self._batches.add(batch)
                batch.add_done_callback(self._batches.discard)

    async def _handle(self, messages: Sequence[NatsMessage]) -> None:
        try:
            await self._work(messages)
        except Exception as error:
            logger.error("a batch was not handled", durable=self._durable.name, exc_info=error)

    async def _fetch(self, most: int) -> list[NatsMessage]:
        """Return up to so many messages, none when the request ended without one. Raises the client's errors."""
        if not self._arrived:  # what came after its request had ended comes first
            await self._request(most)
        messages = [NatsMessage(self._arrived.popleft()) for _ in range(min(most, len(self._arrived)))]
        if not messages and self._status not in ENDED and self._status != "lost":
            logger.warning("a fetch was refused", durable=self._durable.name, status=self._status or "no answer")
            await asyncio.sleep(AGAIN if self._status else 0.0)
        return messages

    async def _request(self, most: int) -> None:
        self._number, self._wanted, self._status = self._number + 1, most, ""
        self._some.clear()
        self._end.clear()
        request = {"batch": most, "no_wait": True, "expires": int(EXPIRES * 1e9)}
        await self._client.publish(self._subject, json.dumps(request).encode(), f"{self._inbox}.{self._number}")
        with suppress(TimeoutError):
            async with asyncio.timeout(EXPIRES + SLACK):
                await self._some.wait()
            async with asyncio.timeout(REST):
                await self._end.wait()

    async def _receive(self, message: Msg) -> None:
        if not message.subject.startswith(self._inbox):
            self._arrived.append(message)
            if len(self._arrived) >= self._wanted:
                self._end.set()
        elif message.subject == f"{self._inbox}.{self._number}":
            self._status = (message.headers or {}).get("Status", "none")
            self._end.set()
        else:  # the end of an earlier request
            return
        self._some.set()
