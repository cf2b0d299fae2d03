"""Fetches of a pull consumer by one request each, which the server ends.

nats-py 2.16.0 gives up waiting at the moment at which the server ends its request, and then asks
again for what is left of the time. Such a second request outlives its fetch: it takes the first
message of a later one, and keeps it waiting for company until its own time is up. It also lets bare
timeouts through, which FastStream takes for a failure.
"""

import asyncio
import json
from functools import partial
from typing import Any

from nats.aio.msg import Msg
from nats.errors import TimeoutError as NothingCame
from nats.js import JetStreamContext
from nats.js.api import StatusCode

ANSWER_SECONDS = 1.0
"""Seconds that the server has to say that a request has ended; after that the connection was lost
meanwhile.
"""

REFUSED_SECONDS = 1.0
"""Seconds until the next request when one was refused, as while a stream has no leader."""

ENDED = frozenset({StatusCode.NO_MESSAGES, StatusCode.REQUEST_TIMEOUT})
"""How the server says that it has given all that is there, or that nothing came in time."""


def fetch_by_one_request(jetstream: JetStreamContext) -> None:
    """Have every pull subscription that is made by this context fetch as `fetch` does."""
    subscribe = jetstream.pull_subscribe

    async def pull_subscribe(*arguments: Any, **options: Any) -> JetStreamContext.PullSubscription:
        subscription = await subscribe(*arguments, **options)
        subscription.fetch = partial(fetch, subscription)  # pyright: ignore
        return subscription

    jetstream.pull_subscribe = pull_subscribe


async def fetch(subscription: Any, batch: int, timeout: float) -> list[Msg]:
    """Return what is there as soon as there is anything, at most `batch` messages; none after
    `timeout` seconds.
    """
    now = asyncio.get_running_loop().time
    messages: list[Msg] = []
    request = {"batch": batch, "expires": int(timeout * 1e9), "no_wait": True}
    await subscription._nc.publish(
        subscription._nms, json.dumps(request).encode(), subscription._deliver
    )
    given_up = now() + timeout + ANSWER_SECONDS
    while len(messages) < batch and now() < given_up:
        try:
            message = await subscription._sub.next_msg(timeout=given_up - now())
        except NothingCame:
            break
        status = JetStreamContext.is_status_msg(message)
        if not status:
            messages.append(message)
        elif status in ENDED:
            break
        elif not messages:
            await asyncio.sleep(REFUSED_SECONDS)
            break
    return messages
