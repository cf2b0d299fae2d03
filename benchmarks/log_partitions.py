"""What partitions of the log cost one nats-server: memory, CPU, restart and reading, in the
product's own streams with their consumers, with tiny events.

    python -m benchmarks.log_partitions [--events 1000000] [--partitions 16] [--window 86400]

Two events of 64 bytes for each document, of a thousand workspaces, are published with ids as a
client of another system does. `--window`: seconds for which the streams know ids, in place of the
declared day. CPU of publishing and of the restart is that of nats-server, of reading that of the
reader.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import nats
from nats.js import JetStreamContext
from nats.js.api import PubAck

from benchmarks.measuring.processes import MIB, Usage, usage
from benchmarks.measuring.tables import number, table
from contracts import subjects
from contracts.topology import DAY
from embedded.processes import Process, free_port
from embedded.servers.nats import BusOptions, nats_server, url
from runtime.bus import topology
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams

BODY = b"x" * 64
KINDS = ("DocumentAdded", "ChunksCreated")
WORKSPACES = 1000
IN_FLIGHT = 1000


async def fill(jetstream: JetStreamContext, events: int) -> None:
    """Publish so many events, many in flight."""
    pending: list[asyncio.Future[PubAck]] = []
    for document in range(events // len(KINDS)):
        for kind in KINDS:
            subject = subjects.subject(f"w{document % WORKSPACES}", f"d{document}", kind)
            headers = {"Nats-Msg-Id": f"{document:032x}-{kind}"}
            future = await jetstream.publish_async(subject, BODY, headers=headers, wait_stall=60)
            pending.append(future)
        if len(pending) >= IN_FLIGHT:
            await asyncio.gather(*pending)
            pending.clear()
    await asyncio.gather(*pending)


async def set_window(jetstream: JetStreamContext, seconds: float) -> None:
    """Let the streams of the log know ids for so long."""
    for stream in (await log_streams(jetstream)).names:
        config = (await jetstream.stream_info(stream)).config
        await jetstream.update_stream(config.evolve(duplicate_window=seconds))


async def restarted(process: Process) -> tuple[float, Usage]:
    """Stop the server and start it again; return seconds until it answers, and what it takes."""
    await process.stop()
    start = time.perf_counter()
    await process.start()
    return time.perf_counter() - start, usage(process.pid)


async def measure(events: int, partitions: int, window: float) -> list[str]:
    """Measure one number of partitions on a server of its own; return the cells of a row."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        options = BusOptions(partitions=partitions)
        process = nats_server(Path(folder), port=port, sync="default", options=options)
        await process.start()
        try:
            client = await nats.connect(url(port))
            jetstream = client.jetstream(publish_async_max_pending=2 * IN_FLIGHT, timeout=60)
            before = usage(process.pid)
            await topology.apply(jetstream, partitions=partitions)
            await set_window(jetstream, window)
            streams = usage(process.pid)
            start = time.perf_counter()
            await fill(jetstream, events)
            rate = events / (time.perf_counter() - start)
            filled = usage(process.pid)
            start_cpu = time.process_time()
            count = sum([len(page) async for page in NatsLog(jetstream).read(page=1000)])
            reading_cpu = time.process_time() - start_cpu
            assert count == events, f"{count} of {events} events were read"
            await client.close()
            seconds, after = await restarted(process)
        finally:
            await process.stop()
    per_event = (after.resident - before.resident) * MIB / events
    return [
        number(partitions, 0),
        number(events, 0),
        f"{window:,.0f}",
        f"{streams.resident - before.resident:,.0f}",
        f"{filled.resident - before.resident:,.0f}",
        f"{after.resident - before.resident:,.0f}",
        f"{per_event:,.0f}",
        f"{seconds:.1f}",
        f"{after.cpu:.1f}",
        f"{(filled.cpu - streams.cpu) / events * 1e6:.0f}",
        f"{reading_cpu / events * 1e6:.0f}",
        number(rate, 0),
    ]


HEAD = [
    "partitions",
    "events",
    "ids for s",
    "empty MiB",
    "memory MiB",
    "after a restart MiB",
    "bytes an event then",
    "restart s",
    "its CPU s",
    "server µs/event",
    "reading µs/event",
    "events/s",
]


async def main() -> None:
    """Measure each number of partitions and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--window", type=float, nargs="+", default=[DAY])
    options = parser.parse_args()
    rows = [
        await measure(options.events, partitions, window)
        for window in options.window
        for partitions in options.partitions
    ]
    print(table(HEAD, rows))


if __name__ == "__main__":
    asyncio.run(main())
