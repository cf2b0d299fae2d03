"""Talks to several query services as a load balancer does: to those whose health page says ready,
in turn.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from embedded.local_http import local_client
from tests.support.waiting import PATIENCE

INTERVAL = 0.2
"""Seconds between two looks at a health page."""


@dataclass
class Balancer:
    """`urls` of the services. A request is sent once: what fails is counted in `faults`, and
    nothing is hidden.
    """

    urls: Sequence[str]
    client: httpx.AsyncClient
    ready: list[str] = field(default_factory=list[str])
    in_flight: Counter[str] = field(default_factory=Counter[str])
    statuses: Counter[int] = field(default_factory=Counter[int])
    faults: list[str] = field(default_factory=list[str])

    async def watch(self, url: str) -> None:
        """Note again and again whether this one is ready."""
        while True:
            is_ready = False
            with suppress(httpx.HTTPError):
                is_ready = (await self.client.get(f"{url}/health/ready")).status_code == 200
            if is_ready and url not in self.ready:
                self.ready.append(url)
            elif not is_ready and url in self.ready:
                self.ready.remove(url)
            await asyncio.sleep(INTERVAL)

    async def drained(self, url: str) -> bool:
        """Whether nothing is sent to this one any more, nor awaited of it."""
        return url not in self.ready and not self.in_flight[url]

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request to the next that is ready; return what it answers, None for a fault."""
        while not self.ready:
            await asyncio.sleep(INTERVAL)
        url = self.ready.pop(0)
        self.ready.append(url)
        self.in_flight[url] += 1
        try:
            answer = await self.client.request(method, f"{url}{path}", json=body)
        except httpx.HTTPError as error:
            self.faults.append(f"{method} {path}: {error!r}")
            return None
        finally:
            self.in_flight[url] -= 1
        self.statuses[answer.status_code] += 1
        if answer.status_code >= 400:
            self.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            return None
        return answer.json()


@asynccontextmanager
async def balancer(urls: Sequence[str], workspace: str = "default") -> AsyncGenerator[Balancer]:
    """A balancer that has found one of them ready; what it sends is for this workspace."""
    async with local_client(PATIENCE) as client:
        client.headers["X-Workspace"] = workspace
        result = Balancer(urls, client)
        watching = [asyncio.create_task(result.watch(url)) for url in urls]
        try:
            while not result.ready:
                await asyncio.sleep(INTERVAL)
            yield result
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
