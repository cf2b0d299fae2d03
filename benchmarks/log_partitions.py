"""What partitions of the log cost one nats-server: memory, disk, CPU, restart and reading, in the
product's own streams with their consumers, with tiny events; and who waits for whom.

    python -m benchmarks.log_partitions [--events 1000000] [--partitions 16] [--window 86400]
        [--backlog 20000]

Two events of each document, of a thousand workspaces, are published with ids as a client of another
system does. `--window`: seconds for which the streams know ids, in place of the declared day. The
server syncs by its own interval. CPU of publishing and of a restart is that of nats-server, of
reading that of the reader. With `--backlog` so many documents are published for one workspace of a
log of that many partitions, the chunker is started, and it is measured how long documents of other
workspaces wait for their chunks beside them.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import nats
from nats.js import JetStreamContext

from benchmarks.log_fairness import measure_fairness
from benchmarks.measuring.processes import MIB, Usage, load, stored, usage
from benchmarks.measuring.tables import number, table
from benchmarks.measuring.tiny_events import EVENTS_PER_DOCUMENT, publish, tiny_events
from contracts.partitions import LogPosition, first_sequence
from contracts.topology import DAY
from embedded.processes import Process, free_port
from embedded.servers.nats import BusOptions, nats_server, url
from runtime.bus import topology
from runtime.bus.codec import decode
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams

Figures = dict[str, str]
"""Of one run, each figure by its name, in the order of the table."""

FORGOTTEN = 1.0
"""Seconds of the window with which the last restart is measured: the ids of all events are gone."""


def say(text: str) -> None:
    """Print how far a long run is, with the load of the machine."""
    print(f"# {datetime.now(UTC):%H:%M:%S} load {load()}: {text}", flush=True)


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
    seconds = time.perf_counter() - start
    result = usage(process.pid)
    say(f"the server answers again after {seconds:.1f} s")
    return seconds, result


def memory_figures(name: str, used: Usage, before: Usage, events: int) -> Figures:
    """Return what the server has in memory beyond what it had empty. Each tiny event has its own
    subject.
    """
    resident = used.resident - before.resident
    return {
        f"memory {name} MiB": number(resident, 0),
        f"bytes a subject and event {name}": number(resident * MIB / events, 0),
    }


async def reading_figures(jetstream: JetStreamContext, partitions: int, events: int) -> Figures:
    """Read the last partition with decoding, and then everything: the least of a rebuild."""
    log = NatsLog(jetstream)
    last_partition = partitions - 1
    ends = [first_sequence(partition + 1) - 1 for partition in range(last_partition)]
    position = LogPosition((*ends, first_sequence(last_partition) - 1))
    decoded, start, start_cpu = 0, time.perf_counter(), time.process_time()
    async for page in log.read_behind(position, page=1000):
        for message in page:
            decode(message.data, message.subject, message.headers)
        decoded += len(page)
    figures = {
        "events of the last partition": number(decoded, 0),
        "reading and decoding these s": number(time.perf_counter() - start),
        "reading and decoding µs/event": number((time.process_time() - start_cpu) / decoded * 1e6),
    }
    say(f"the last partition was read and decoded: {figures}")
    count, start, start_cpu = 0, time.perf_counter(), time.process_time()
    async for page in log.read(page=1000):
        count += len(page)
    assert count == events, f"{count} of {events} events were read"
    return figures | {
        "reading everything s": number(time.perf_counter() - start, 0),
        "reading µs/event": number((time.process_time() - start_cpu) / events * 1e6),
    }


async def measure(events: int, partitions: int, window: float) -> Figures:
    """Measure one number of partitions on a server of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = free_port()
        options = BusOptions(partitions=partitions)
        process = nats_server(folder, port=port, sync="default", options=options)
        await process.start()
        try:
            return await _measured(process, port, (events, partitions, window))
        finally:
            await process.stop()


async def _measured(process: Process, port: int, sizes: tuple[int, int, float]) -> Figures:
    events, partitions, window = sizes
    client = await nats.connect(url(port))
    jetstream = client.jetstream(timeout=60)
    before = usage(process.pid)
    await topology.apply(jetstream, partitions=partitions)
    await set_window(jetstream, window)
    empty = usage(process.pid)
    figures = {
        "partitions": number(partitions, 0),
        "events": number(events, 0),
        "ids for s": number(window, 0),
        "memory empty MiB": number(empty.resident - before.resident, 0),
    }
    say(f"publishing {events:,} events to {partitions} partitions")
    start = time.perf_counter()
    count = await publish(client, tiny_events(range(events // EVENTS_PER_DOCUMENT)))
    assert count == events, f"{count} of {events} events were confirmed"
    filled = usage(process.pid)
    figures |= {
        "events/s published": number(events / (time.perf_counter() - start), 0),
        "server µs/event": number((filled.cpu - empty.cpu) / events * 1e6, 0),
        "disk MiB": number(sum(stored(process.folder).values()) / MIB, 0),
        **memory_figures("as filled", filled, before, events),
    }
    say("published")
    await client.close()
    for state, seconds_known in (("after a restart", None), ("without ids", FORGOTTEN)):
        if seconds_known:
            client = await nats.connect(url(port))
            await set_window(client.jetstream(timeout=60), seconds_known)
            await client.close()
        seconds, after = await restarted(process)
        figures |= {
            f"restart s, {state}": number(seconds),
            f"its CPU s, {state}": number(after.cpu),
            **memory_figures(state, after, before, events),
        }
        say(f"{figures}")
    client = await nats.connect(url(port))
    figures |= await reading_figures(client.jetstream(timeout=60), partitions, events)
    await client.close()
    return figures


def columns(runs: Sequence[Figures]) -> str:
    """Return a table with a column for each run."""
    head, *rows = [[name, *(run[name] for run in runs)] for name in runs[0]]
    return table(head, rows)


async def main() -> None:
    """Measure each number of partitions, and print tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--window", type=float, nargs="+", default=[DAY])
    parser.add_argument("--backlog", type=int, nargs="*", default=[20_000])
    options = parser.parse_args()
    runs: list[Figures] = []
    for window in options.window if options.events else ():
        for partitions in options.partitions:
            runs.append(await measure(options.events, partitions, window))
            print(columns(runs), flush=True)
    waits = [
        await measure_fairness(backlog, partitions)
        for backlog in options.backlog
        for partitions in options.partitions
    ]
    if waits:
        print(columns(waits))


if __name__ == "__main__":
    asyncio.run(main())
