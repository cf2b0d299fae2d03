"""FastStream 0.7.8: its loops fetch with nats-py's own `fetch`, and cannot be given another one.

nats-py 2.16.0 ends up to a fifth of the fetches that bring nothing with a bare TimeoutError, which
FastStream takes for the failure of a loop: it logs it with its traceback and starts the loop anew.
Upstream: pull request 1008 of nats-io/nats.py, open. (Requests that outlived their fetch, issue
933, are mended in this version.) Here the loops pull as all other readers do
(`runtime/bus/nats/pulling.py`).
May go when `test_the_clients_own_fetch_ends_with_a_bare_timeout` fails
(`tests/integration/test_pull.py`).
"""

import asyncio
from typing import Any

from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError

from runtime.bus.nats.pulling import Pull, open_pull

REFUSED_SECONDS = 1.0
"""Seconds until the next request when one was refused, as while a stream has no leader."""


class _LoopPull:
    """What a loop of FastStream uses of nats-py's PullSubscription."""

    def __init__(self, pull: Pull) -> None:
        self._pull = pull

    async def fetch(self, batch: int, timeout: float) -> list[Msg]:
        """Return the messages of one fetch; none when it is refused."""
        try:
            return await self._pull.fetch(batch, timeout)
        except APIError:
            await asyncio.sleep(REFUSED_SECONDS)
            return []

    async def unsubscribe(self) -> None:
        """End it."""
        await self._pull.close()


def fetch_by_one_request(jetstream: JetStreamContext) -> None:
    """Have every pull subscription that FastStream makes by this context fetch as `Pull` does."""

    async def pull_subscribe(subject: str, *, durable: str, stream: str, **_: Any) -> _LoopPull:
        # The consumer is there: a service refuses to start on another topology.
        return _LoopPull(await open_pull(jetstream, stream, durable))

    jetstream.pull_subscribe = pull_subscribe  # pyright: ignore[reportAttributeAccessIssue]
