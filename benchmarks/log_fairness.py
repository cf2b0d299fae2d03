"""How long documents of quiet workspaces wait beside the backlog of a busy one, in its partition of
the log and in another: the real chunker on a log of many partitions.
"""

import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import nats
from nats.js import JetStreamContext

from benchmarks.measuring.processes import load
from benchmarks.measuring.tables import number
from benchmarks.measuring.tiny_events import publish, tiny_events
from contracts.envelope import wrap
from contracts.events import DocumentAdded
from contracts.partitions import partition_of, stream_name
from embedded.processes import free_port
from embedded.servers.nats import BusOptions, nats_server, url
from runtime.bus import topology
from runtime.bus.nats.log import NatsLog
from tests.support.services import service

BUSY = "w0"
"""The workspace of the backlog."""

SAMPLES = 60
BETWEEN_SAMPLES = 0.3
PATIENCE = 120.0
"""Seconds after which a document is taken to wait for the whole backlog."""

LOOK_SECONDS = 0.005


def neighbour(partitions: int, *, beside: bool) -> str:
    """Return a workspace of the busy one's partition, or of another one."""
    busy = partition_of(BUSY, partitions)
    names = (f"quiet{number}" for number in range(1, 10_000))
    return next(name for name in names if (partition_of(name, partitions) == busy) is beside)


async def wait_of(log: NatsLog, workspace: str, name: str) -> float:
    """Return the seconds from publishing a document to its chunks, PATIENCE at most."""
    added = DocumentAdded(document_id=name, text="Port Elm lies by the sea.")
    start = time.perf_counter()
    await log.publish(
        wrap(
            added,
            id=f"{workspace}-{name}",
            source="/benchmark",
            workspace=workspace,
            time=datetime.now(UTC),
        )
    )
    while await log.newest(workspace, name, "ChunksCreated") is None:
        if time.perf_counter() - start > PATIENCE:
            return PATIENCE
        await asyncio.sleep(LOOK_SECONDS)
    return time.perf_counter() - start


async def waits_of(log: NatsLog, workspace: str, kind: str) -> list[float]:
    """Return the waits of some documents of a workspace, one after the other."""
    waits: list[float] = []
    for sample in range(SAMPLES):
        waits.append(await wait_of(log, workspace, f"{kind}-{sample}"))
        if waits[-1] >= PATIENCE:
            break
        await asyncio.sleep(BETWEEN_SAMPLES)
    return waits


def figures_of(name: str, waits: list[float]) -> dict[str, str]:
    """Return the middle, the 95th percentile and the longest of these waits, in milliseconds."""
    percentiles = statistics.quantiles(waits, n=100, method="inclusive")
    return {
        f"{name}, median ms": number(percentiles[49] * 1000, 0),
        f"{name}, p95 ms": number(percentiles[94] * 1000, 0),
        f"{name}, longest ms": number(max(waits) * 1000, 0),
    }


async def backlog_of(jetstream: JetStreamContext, partitions: int) -> int:
    """Return how many documents of the busy partition the chunker has not been given yet."""
    stream = stream_name(partition_of(BUSY, partitions))
    return (await jetstream.consumer_info(stream, "chunker")).num_pending or 0


async def measure_fairness(backlog: int, partitions: int) -> dict[str, str]:
    """Measure the waits of quiet workspaces without a backlog, and beside one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = free_port()
        options = BusOptions(partitions=partitions)
        process = nats_server(folder / "bus", port=port, sync="default", options=options)
        await process.start()
        try:
            client = await nats.connect(url(port))
            jetstream = client.jetstream(timeout=30)
            await topology.apply(jetstream, partitions=partitions)
            log = NatsLog(jetstream)
            beside = neighbour(partitions, beside=True)
            elsewhere = neighbour(partitions, beside=False) if partitions > 1 else ""
            async with service("chunker", folder, NATS_URL=url(port)):
                waits_alone = await waits_of(log, beside, "alone")
            events = tiny_events(range(backlog), workspaces=1, only_added=True)
            await publish(client, events)
            async with service("chunker", folder, NATS_URL=url(port)):
                start = time.perf_counter()
                first_count = await backlog_of(jetstream, partitions)
                waits_beside = await waits_of(log, beside, "same")
                waits_elsewhere = await waits_of(log, elsewhere, "other") if elsewhere else []
                remaining_count = await backlog_of(jetstream, partitions)
                rate = (first_count - remaining_count) / (time.perf_counter() - start)
            await client.close()
        finally:
            await process.stop()
    return {
        "partitions": number(partitions, 0),
        "documents of the busy workspace": number(backlog, 0),
        "load": load(),
        **figures_of("alone", waits_alone),
        **figures_of("in the same partition", waits_beside),
        **(figures_of("in another partition", waits_elsewhere) if waits_elsewhere else {}),
        "of the busy workspace left": number(remaining_count, 0),
        "its documents/s": number(rate, 0) if remaining_count else "ended before",
    }
