"""One hot entity: what a further chunk costs when many name it already, and what more replicas of
the merger bring.

    python -m benchmarks.merger [--count 10000]

Starts a nats-server and the embedded graph store, publishes EntitiesExtracted that all name one and
the same office and three other things, and lets 1, 2 and 4 mergers take them. Prints tables in
Markdown. CPU is that of the merger, with SQLite in it, and that of the graph store.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts.envelope import Envelope, wrap
from contracts.events import EntitiesExtracted, Event
from contracts.ids import chunk_id, sha256
from contracts.values import ChunkRef, DocumentVersion, ExtractedEntity, ExtractedRelation
from embedded.processes import Process, free_port
from embedded.servers import arcadedb
from runtime.bus import topology
from runtime.bus.nats.log import NatsLog
from tests.support.nats_server import RunningNats, connected, running_nats
from tests.support.services import service

PASSWORD = "benchmark-only"
SIZES = (100, 1000, 10_000)
FURTHER = 600
"""Chunks of a bulk load that are measured at each size."""
ALONE = 40
"""Chunks that come one by one, each a batch of its own."""


def extraction_event(
    number: int, workspace: str, office: str = "Harbour Office"
) -> Envelope[Event]:
    """What chunk `number` says: the office, and three others that ten chunks in a row name."""
    names = [office, *(f"Name {number // 10}-{one}" for one in range(3))]
    document = f"d{number}"
    fact = EntitiesExtracted(
        document=DocumentVersion(id=document, version=number + 1, added_at=datetime.now(UTC)),
        chunk=ChunkRef(id=chunk_id(document, 0), order=0),
        entities=tuple(
            ExtractedEntity(name=n, type="thing", description=f"{n} in log {number}") for n in names
        ),
        relations=tuple(
            ExtractedRelation(
                source=names[0],
                target=n,
                keywords=("log",),
                description=f"They met in log {number}",
            )
            for n in names[1:]
        ),
        model="benchmark",
        prompt_version="1",
        cache_key=sha256(document),
    )
    return wrap(
        fact,
        id=f"{workspace}-{number}",
        source="/benchmark",
        workspace=workspace,
        time=datetime.now(UTC),
    )


async def handled(jetstream: JetStreamContext) -> None:
    """Return when the mergers have acknowledged everything."""
    while True:
        info = await jetstream.consumer_info("KB_EVENTS", "merger")
        if not (info.num_pending or info.num_ack_pending):
            return
        await asyncio.sleep(0.05)


async def load(
    jetstream: JetStreamContext,
    start: int,
    count: int,
    workspace: str,
    office: str = "Harbour Office",
) -> float:
    """Seconds from the first publication until all are merged."""
    log, began = NatsLog(jetstream), time.monotonic()
    for first in range(start, start + count, 64):
        numbers = range(first, min(first + 64, start + count))
        await asyncio.gather(
            *(log.publish(extraction_event(number, workspace, office)) for number in numbers)
        )
    await handled(jetstream)
    return time.monotonic() - began


async def measure(server: RunningNats, folder: Path, count: int) -> None:
    """All of it, on one bus and one graph store."""
    bolt = free_port()
    graph = arcadedb.arcadedb(
        folder / "graph", http_port=free_port(), bolt_port=bolt, password=PASSWORD
    )
    await graph.start()
    env = {
        "NATS_URL": server.url,
        "DOCUMENTS_URL": f"sqlite://{folder}/rows.sqlite",
        "NEO4J_URI": arcadedb.bolt_uri(bolt),
        "NEO4J_USERNAME": arcadedb.USER,
        "NEO4J_PASSWORD": PASSWORD,
        "NEO4J_DATABASE": arcadedb.DATABASE,
    }
    try:
        async with connected(server) as client:
            jetstream = client.jetstream(timeout=10)
            await topology.apply(jetstream)
            await replicas(jetstream, folder, env, count)
            await growth(jetstream, folder, env, graph, count)
    finally:
        await graph.stop()


async def replicas(
    jetstream: JetStreamContext, folder: Path, env: dict[str, str], count: int
) -> None:
    """Throughput on one hot entity with 1, 2 and 4 mergers."""
    print("| mergers | chunks | seconds | chunks/s |\n|---|---|---|---|")
    for number in (1, 2, 4):
        async with AsyncExitStack() as stack:
            for one in range(number):
                await stack.enter_async_context(
                    service("merger", folder / f"merger-{number}-{one}", wait=True, **env)
                )
            seconds = await load(jetstream, 0, count // 5, f"replicas-{number}")
        print(
            f"| {number} | {count // 5} | {seconds:.1f} | {count // 5 / seconds:.0f} |", flush=True
        )


async def growth(
    jetstream: JetStreamContext, folder: Path, env: dict[str, str], graph: Process, count: int
) -> None:
    """What a further chunk costs where so many name the office: in a bulk load, and one by one.

    Beside it what a bulk load costs that names an office nobody has named: how much of it is the
    store's size.
    """
    columns = [
        "chunks that name it",
        "bulk, ms",
        "merger CPU",
        "graph CPU",
        "a new one, ms",
        "merger CPU",
        "graph CPU",
    ]
    columns += ["alone, ms", "merger CPU", "graph CPU"]
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    async with service("merger", folder / "merger-growth", wait=True, **env) as merger:
        pids, done = (merger.pid, graph.pid), 0
        for size in sorted({size for size in SIZES if size < count} | {count}):
            await load(jetstream, done, size - done, "growth")
            bulk = await spent(pids, load(jetstream, size, FURTHER, "growth"), FURTHER)
            new = load(jetstream, size + 10**7, FURTHER, "growth", f"Office {size}")
            fresh = await spent(pids, new, FURTHER)
            alone = await spent(pids, one_by_one(jetstream, size + 10**6, ALONE, "growth"), ALONE)
            done = size + FURTHER
            print(
                f"| {size} | {' | '.join(f'{value:.1f}' for value in (*bulk, *fresh, *alone))} |",
                flush=True,
            )


async def one_by_one(jetstream: JetStreamContext, start: int, count: int, workspace: str) -> float:
    """Seconds until these chunks are merged, each published when the one before is."""
    return sum([await load(jetstream, start + number, 1, workspace) for number in range(count)])


async def spent(
    pids: Sequence[int], work: Coroutine[Any, Any, float], chunks: int
) -> tuple[float, ...]:
    """Milliseconds per chunk: those that passed, and those of the processors in each process."""
    before = [processor_seconds(pid) for pid in pids]
    passed = await work
    used = [processor_seconds(pid) - start for pid, start in zip(pids, before, strict=True)]
    return tuple(1000 * seconds / chunks for seconds in (passed, *used))


def processor_seconds(pid: int) -> float:
    """User and system time of a process, from Linux's /proc (see proc(5), fields 14 and 15 of
    stat).
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main() -> None:
    """Run it and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=10_000)
    count = arguments.parse_args().count
    folder = Path(tempfile.mkdtemp())
    async with running_nats(folder, sync="always") as server:
        await measure(server, folder, count)


if __name__ == "__main__":
    asyncio.run(main())
