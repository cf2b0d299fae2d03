"""One replica that calls a language model within limits it shares with others, as a process of its
own.

`tests.support.limited_caller NATS_URL PROVIDER_URL MODEL CALLS LIMITS` makes so many calls at once
and prints how many were answered; `LIMITS` are the fields of `Limits` as JSON. It comes back to a
call as the edge would.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import nats

from runtime.bus.nats.key_values import NatsSharedValues
from runtime.errors import Retryable
from runtime.models.chat import EndpointChat
from runtime.models.limits import Limits
from runtime.models.port import Chat, Message
from runtime.models.rate_limiter import RateLimiter
from tests.support.commands import forking
from tests.support.openai_provider import KEY, WARM, chat_at
from tests.support.shared_servers import SharedServers

QUESTION = [Message("user", "what?")]


async def answered(chat: Chat) -> int:
    """Ask until there is an answer; returns how often that was put off."""
    again = 0
    while True:
        try:
            await chat.complete(QUESTION)
        except Retryable as error:
            again += 1
            await asyncio.sleep(max(0.05, error.retry_after or 0.0))
        else:
            return again


@asynccontextmanager
async def replica(
    nats_url: str, provider_url: str, model: str, limits: Limits
) -> AsyncGenerator[tuple[EndpointChat, RateLimiter]]:
    """A model adapter with its rate limiter, on a connection of its own."""
    client = await nats.connect(nats_url, max_reconnect_attempts=-1, reconnect_time_wait=0.05)
    limiter = RateLimiter(
        f"{model} at the test's provider", limits, await NatsSharedValues.bind(client.jetstream())
    )
    chat = chat_at(provider_url, model, KEY, limiter, timeout=20)
    try:
        yield chat, limiter
    finally:
        await chat.close()
        # A server that was killed a moment ago may reset the connection while it is being closed.
        with suppress(OSError):
            await client.close()


@asynccontextmanager
async def process(
    servers: SharedServers, nats_url: str, provider_url: str, model: str, calls: int, limits: Limits
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A replica as a process of its own; killed in the end, if it still runs."""
    child = await asyncio.create_subprocess_exec(
        *forking(servers, "tests.support.limited_caller"),
        nats_url,
        provider_url,
        model,
        str(calls),
        json.dumps(vars(limits)),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


async def _main() -> None:
    nats_url, provider_url, model, calls, limits = sys.argv[1:]
    # A client's first call loads half of its package: without this one it would reach the provider
    # a second late.
    first = chat_at(provider_url, WARM)
    await first.complete(QUESTION)
    await first.close()
    async with replica(nats_url, provider_url, model, Limits(**json.loads(limits))) as (chat, _):
        print(len(await asyncio.gather(*(answered(chat) for _ in range(int(calls))))))


def main() -> None:
    """Entry point of the process."""
    asyncio.run(_main())
