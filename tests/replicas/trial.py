"""The same documents through one process of each service and through several; then all are
restarted under load.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.events import Stage
from embedded.processes import Process
from tests.replicas.balancer import Balancer, balancer
from tests.support.nats_server import until
from tests.support.production import Deployment, deployment
from tests.support.services import service
from tests.support.stack import ended

DRAIN = "5"
"""Seconds for which a process that is told to end still answers: many times what a balancer needs
to notice.
"""

QUESTIONS = (
    "Who met Ada Marlow at the Customs House in Port Elm?",
    "Which ship came from Saltmarch to Graywick?",
)
PART = 5
"""Documents of one request."""


@dataclass
class Fleet:
    """All processes of a deployment, and a balancer in front of its query services."""

    deployment: Deployment
    processes: list[Process]
    balancer: Balancer

    async def add(self, texts: Mapping[str, str]) -> None:
        """Publish documents in this order."""
        names = list(texts)
        for start in range(0, len(names), PART):
            part = names[start : start + PART]
            await self.balancer.send(
                "POST",
                "/documents/texts",
                {"texts": [texts[name] for name in part], "file_sources": part},
            )

    async def settled(self, count: int, seconds: float) -> None:
        """Wait until so many documents have come to an end."""

        async def done() -> bool:
            answer = await self.balancer.send("GET", "/documents/status_counts")
            return bool(answer) and ended(answer["status_counts"], count)

        await until(
            done,
            f"{count} documents have come to an end\n{self.deployment.logs()}",
            seconds=seconds,
        )

    async def index(self, texts: Mapping[str, str], seconds: float) -> float:
        """Add documents to none; return the seconds until all of them have come to an end."""
        start = time.monotonic()
        await self.add(texts)
        await self.settled(len(texts), seconds)
        return time.monotonic() - start

    async def sums(self) -> dict[str, str]:
        """The digest of each projection."""
        digest = await self.deployment.json("digest")
        return {name: digest[name] for name in ("status", "graph", "vectors")}

    async def restart(self) -> None:
        """End each process by SIGTERM and start it again, one after the other, each once the one
        before is ready.
        """
        for process in self.processes:
            await process.stop()
            await process.start()


@asynccontextmanager
async def fleet(folder: Path, counts: Mapping[Stage, int]) -> AsyncGenerator[Fleet]:
    """A deployment with so many processes of each service, all ready."""
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(deployment(folder, DRAIN_SECONDS=DRAIN))
        processes = list(installation.services.values())
        for name, count in counts.items():
            for number in range(1, count):
                extra = service(
                    name, folder / f"replica-{number}", wait=False, **installation.variables(name)
                )
                processes.append(await stack.enter_async_context(extra))
        for process in processes:
            process.grace, process.timeout = 60.0, 300.0
        await asyncio.gather(*(process.ready() for process in processes))
        urls = [
            f"http://127.0.0.1:{process.env['PORT']}"
            for process in processes
            if process.name == "query"
        ]
        yield Fleet(installation, processes, await stack.enter_async_context(balancer(urls)))


async def restarted_under_load(
    running: Fleet, before: int, texts: Mapping[str, str], seconds: float
) -> int:
    """Restart everything while documents are added and questions asked; return how many questions
    were answered.
    """
    restarting = asyncio.create_task(running.restart())
    answer_count = 0

    async def ask(question: str) -> None:
        nonlocal answer_count
        while not restarting.done():
            answer_count += bool(
                await running.balancer.send("POST", "/query", {"query": question, "mode": "mix"})
            )

    async def feed(names: Sequence[str]) -> None:
        """Spread the documents over the whole restart; what is left in the end is added then."""
        for start in range(0, len(names), PART):
            await running.add({name: texts[name] for name in names[start : start + PART]})
            if not restarting.done():
                await asyncio.sleep(1.0)  # not for luck: a load that lasts as long as the restart

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(feed(list(texts)))
        for question in QUESTIONS:
            tasks.create_task(ask(question))
    await restarting
    await running.settled(before + len(texts), seconds)
    return answer_count


async def indexed(
    running: Fleet, parts: Sequence[Mapping[str, str]], seconds: float
) -> tuple[float, list[Any]]:
    """What one fleet makes of parts of the corpus, one after the other: the first's seconds, and
    all digests.
    """
    seconds_of_first = await running.index(parts[0], seconds)
    sums = [await running.sums()]
    count = len(parts[0])
    for part in parts[1:]:
        count += len(part)
        await running.add(part)
        await running.settled(count, seconds)
        sums.append(await running.sums())
    return seconds_of_first, sums
