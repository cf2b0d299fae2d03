"""Stacks of ours that are measured: the embedded one, and the services as processes on the servers
of production.
"""

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.measuring.processes import Usage, Usages, children_of, memory, usage
from benchmarks.yardstick.documents import Document
from contracts.topology import CONSUMERS
from lightstream_rag.client import Lightstream
from runtime.bus.nats.connection import connected
from tests.support.production import Deployment, deployment
from tests.support.stack import add, ended, running, until

CLIENT = "client"
SUMMARIES = "merger-summaries"
"""The consumer that waits until descriptions have rested; documents are `processed` before it is
through.
"""

PATIENCE = 3600.0
"""Seconds."""
LOOK = 0.2
"""Seconds between two looks at the consumers; one look costs the bus about a millisecond."""
COSINE_THRESHOLD = "0.2"
"""As users have it; the tests' stacks have another."""


@dataclass(frozen=True)
class Side:
    """A running stack."""

    api: str
    bus: str
    folder: Path
    """Its stored files; of production only the bus's and the servers' that keep any."""
    logs: Callable[[], str]
    pids: Callable[[], dict[str, int]]
    """Process ids by name; each stands for itself and its descendants."""
    supervisor: int | None = None

    def usages(self) -> Usages:
        """What each process used until now, and this one, which is the client."""
        pids = self.pids()
        result = {CLIENT: own_usage()}
        if self.supervisor:
            result["supervisor"] = usage(self.supervisor, apart=pids.values())
        return result | {name: usage(pid) for name, pid in pids.items()}

    def cpu(self) -> float:
        """Seconds of CPU that all of them but this process used until now."""
        used = self.usages()
        return sum(of.cpu for name, of in used.items() if name != CLIENT)

    def memories(self) -> dict[str, float]:
        """MB of each process, of a page that several share a part for each."""
        pids = self.pids()
        result = {name: memory(pid) for name, pid in pids.items()}
        if self.supervisor:
            result["supervisor"] = memory(self.supervisor, apart=pids.values())
        return result

    def index(self, documents: Sequence[Document]) -> tuple[float, float]:
        """Add documents and wait: seconds until all are processed, and until nobody has anything
        left to do.
        """
        with Lightstream(self.api, timeout=PATIENCE) as service:
            before = service.status_counts().get("all", 0)
            began = time.monotonic()
            add(service, {document.name: document.text for document in documents})
            until(
                lambda: ended(service.status_counts(), before + len(documents)), self.logs, PATIENCE
            )
            asyncio.run(consumed(self.bus, but=SUMMARIES))
            processed = time.monotonic() - began
            counts = service.status_counts()
            assert counts.get("processed") == before + len(documents), f"{counts}\n{self.logs()}"
        asyncio.run(consumed(self.bus))
        return processed, time.monotonic() - began


def own_usage() -> Usage:
    """What this process used until now, without its children."""
    return usage(os.getpid(), apart=children_of(os.getpid()))


async def consumed(bus: str, *, but: str = "") -> None:
    """Return when no consumer has a message left, twice in a row; not looked at is the consumer
    `but`.
    """
    async with connected(bus, name="benchmark") as client:
        jetstream, quiet, end = client.jetstream(), 0, time.monotonic() + PATIENCE
        while quiet < 2:
            assert time.monotonic() < end, "the stack never comes to an end"
            quiet += 1
            for durable in CONSUMERS:
                if durable.name != but:
                    info = await jetstream.consumer_info(durable.stream, durable.name)
                    if info.num_pending or info.num_ack_pending:
                        quiet = 0
                        await asyncio.sleep(LOOK)
                        break


@contextmanager
def embedded(folder: Path, options: Sequence[str] = (), **env: str) -> Generator[Side]:
    """The stack that `lightstream up` starts with these options, in a folder of its own."""
    with running(folder, *options, **{"COSINE_THRESHOLD": COSINE_THRESHOLD, **env}) as stack:
        supervisor = stack.state.supervisor
        assert supervisor

        def pids() -> dict[str, int]:
            return {name: child.identity.pid for name, child in stack.state.children.items()}

        yield Side(
            stack.state.api, stack.settings.nats_url, folder, stack.logs, pids, supervisor.pid
        )


@contextmanager
def production(folder: Path, **env: str) -> Generator[Side]:
    """The services as processes on NATS, a server of MongoDB's protocol, Neo4j and Milvus."""
    started: queue.Queue[Deployment | BaseException] = queue.Queue()
    stop = threading.Event()

    async def run() -> None:
        async with deployment(folder, **{"COSINE_THRESHOLD": COSINE_THRESHOLD, **env}) as result:
            started.put(result)
            await asyncio.to_thread(stop.wait)

    def thread() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            started.put(error)

    # Its processes are children of the loop that started them, so that loop goes on in a thread.
    running_deployment = threading.Thread(target=thread)
    running_deployment.start()
    try:
        result = started.get()
        if isinstance(result, BaseException):
            raise result

        def pids() -> dict[str, int]:
            return {
                name: process.pid for name, process in {**result.servers, **result.services}.items()
            }

        yield Side(
            result.env["LIGHTSTREAM_API_URL"], result.env["NATS_URL"], folder, result.logs, pids
        )
    finally:
        stop.set()
        running_deployment.join()


STORES = {
    "embedded": embedded,
    "embedded-arcadedb": partial(embedded, options=("--graph", "arcadedb")),
    "embedded-milvus": partial(embedded, options=("--vectors", "milvus")),
    "production": production,
}
