"""What the bus needs for many documents: memory, disk and CPU, with synthetic events of the real
shape and no models.

    python -m benchmarks.scaling [--documents 1000 10000 100000] [--sync default]

Publishes what documents of one chunk give (six events, each under a subject of its own, as the
services do) into the real streams with their real consumers, on a nats-server of its own, and
prints a row in Markdown for each number of documents: the server's memory and CPU, the disk, and
the CPU of reading the whole log again and of decoding it. `--sync always` is what deployments have:
then one disk flush follows another, and the rate is the disk's.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
import urllib.request
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client

from benchmarks.measuring.tables import number, table
from contracts.envelope import Lineage, wrap
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    EntitiesExtracted,
    Event,
    GraphMerged,
    VectorsIndexed,
)
from contracts.ids import sha256
from contracts.subjects import subject
from contracts.values import (
    Chunk,
    ChunkRef,
    DocumentVersion,
    EntityRevision,
    ExtractedEntity,
    ExtractedRelation,
    RelationRevision,
)
from embedded.processes import Process, free_port
from embedded.servers.nats import nats_server, url
from runtime.bus import topology
from runtime.bus.codec import decode, encode
from runtime.bus.nats.log import NatsLog

MIB = 2**20
PLACEHOLDER = "doc-00000000000000000000000000000000"
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
IN_FLIGHT = 500
"""Events sent and not confirmed yet."""

TEXT_PLACEHOLDER = "the text of the document"
WORDS = [sha256(str(word))[: 3 + word % 7] for word in range(5_000)]
"""Words that a server compresses no better than those of a language."""
DECODED = 5_000


@dataclass(frozen=True)
class Figures:
    """What one number of documents takes."""

    documents: int
    events: int
    stored: float
    disk: float
    memory: float
    published: float
    server_cpu: float
    read: float
    decoded: float


def templates() -> list[tuple[str, bytes]]:
    """Subject and bytes of each event of one document, with a placeholder for its id."""
    of = DocumentVersion(id=PLACEHOLDER, version=1, added_at=AT, file_path=f"{PLACEHOLDER}.txt")
    chunk = ChunkRef(id=f"{PLACEHOLDER}-chunk-000", order=0)
    names = ["Ada Marlow", "Port Elm", "Tom Elm", "Harbour"]
    pairs = [("Ada Marlow", "Port Elm"), ("Harbour", "Tom Elm"), ("Port Elm", "Tom Elm")]
    events: list[Event] = [
        DocumentAdded(
            document_id=PLACEHOLDER, text=TEXT_PLACEHOLDER, file_path=f"{PLACEHOLDER}.txt"
        ),
        ChunksCreated(
            document=of,
            part=0,
            parts=1,
            chunk_count=1,
            chunks=(Chunk(id=chunk.id, order=0, tokens=220, content=TEXT_PLACEHOLDER),),
        ),
        EntitiesExtracted(
            document=of,
            chunk=chunk,
            model="m",
            prompt_version="p",
            cache_key=sha256("k"),
            entities=tuple(
                ExtractedEntity(
                    name=name, type="person", description=f"{name} keeps what {PLACEHOLDER} tells"
                )
                for name in names
            ),
            relations=tuple(
                ExtractedRelation(
                    source=a, target=b, keywords=("keeps",), description=f"{a} and {b}"
                )
                for a, b in pairs
            ),
        ),
        GraphMerged(
            document=of,
            chunks=(chunk,),
            entities=tuple(EntityRevision(name=name, revision=1) for name in names),
            relations=tuple(RelationRevision(source=a, target=b, revision=1) for a, b in pairs),
        ),
        VectorsIndexed(
            document=of, kind="chunks", chunks=(chunk,), embedded=1, model="m", dimension=384
        ),
        VectorsIndexed(
            document=of, kind="graph", chunks=(chunk,), embedded=7, model="m", dimension=384
        ),
    ]
    return [
        (
            subject("default", PLACEHOLDER, event.type_name()),
            encode(
                wrap(
                    event,
                    id=f"{n}-{PLACEHOLDER}",
                    source="benchmark",
                    workspace="default",
                    time=AT,
                    lineage=Lineage(),
                )
            ),
        )
        for n, event in enumerate(events)
    ]


def events_of(documents: range) -> Iterator[tuple[str, bytes, str]]:
    """Subject, bytes and id of every event of these documents."""
    shapes = templates()
    for document in documents:
        name, words = (
            f"doc-{document:032x}",
            " ".join(random.Random(document).choices(WORDS, k=150)),
        )
        for n, (of, data) in enumerate(shapes):
            filled = data.replace(PLACEHOLDER.encode(), name.encode()).replace(
                TEXT_PLACEHOLDER.encode(), words.encode()
            )
            yield of.replace(PLACEHOLDER, name), filled, f"{n}-{name}"


async def publish(client: Client, documents: range) -> int:
    """Publish all of them, and return how many the server confirmed."""
    room, confirmed, inbox = asyncio.Semaphore(IN_FLIGHT), 0, client.new_inbox()

    async def heard(message: Any) -> None:
        nonlocal confirmed
        answer = json.loads(message.data)
        if "seq" not in answer:
            raise SystemExit(f"refused: {answer}")
        confirmed += 1
        room.release()

    subscription = await client.subscribe(inbox, cb=heard)
    for of, data, name in events_of(documents):
        await room.acquire()
        await client.publish(of, data, reply=inbox, headers={"Nats-Msg-Id": name})
    for _ in range(IN_FLIGHT):
        await room.acquire()
    await subscription.unsubscribe()
    return confirmed


async def measured(
    client: Client, server: Process, monitor: int, before: int, documents: int
) -> Figures:
    """Publish up to that number of documents, and measure."""
    pid = server.child.pid if server.child else 0
    cpu, began = cpu_seconds(pid), time.monotonic()
    count = await publish(client, range(before, documents))
    seconds, cpu = time.monotonic() - began, cpu_seconds(pid) - cpu
    account = await asyncio.to_thread(bus_figures, monitor)
    read, sample = 0, list[Any]()
    began_reading = time.process_time()
    async for page in NatsLog(client.jetstream()).read():
        read += len(page)
        sample += page if len(sample) < DECODED else []
    reading = time.process_time() - began_reading
    began_decoding = time.process_time()
    for message in sample:
        decode(message.data, message.subject, message.headers)
    decoding = (time.process_time() - began_decoding) / len(sample)
    return Figures(
        documents,
        read,
        account["storage"] / MIB,
        size_of(server.folder) / MIB,
        memory(pid) / MIB,
        count / seconds,
        cpu / count * 1e6,
        reading / read * 1e6,
        decoding * 1e6,
    )


def bus_figures(monitor: int) -> dict[str, Any]:
    """What the server says of JetStream."""
    with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/jsz") as page:
        return json.load(page)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Bytes of a process that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def size_of(folder: Path) -> int:
    """Bytes that a folder takes on the disk."""
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


@asynccontextmanager
async def bus(folder: Path, sync: Any) -> AsyncGenerator[tuple[Client, Process, int]]:
    """A server with our streams and consumers."""
    port, monitor = free_port(), free_port()
    server = nats_server(folder, port=port, monitor_port=monitor, sync=sync)
    await server.start()
    try:
        client = await nats.connect(url(port), error_cb=_ignored)
        await topology.apply(client.jetstream())
        yield client, server, monitor
        await client.close()
    finally:
        await server.stop()


async def run(sizes: Sequence[int], sync: str) -> None:
    """Print a row for each size; each goes on where the one before ended."""
    head = [
        "documents",
        "events",
        "log MiB",
        "disk MiB",
        "server memory MiB",
        "events/s published",
        "server µs/event",
        "reading µs/event",
        "decoding µs/event",
    ]
    with tempfile.TemporaryDirectory() as folder:
        async with bus(Path(folder) / "bus", sync) as (client, server, monitor):
            print(
                "\n".join(
                    table(
                        head,
                        [["0", "0", "0", "", number(memory(_pid(server)) / MIB, 0), *[""] * 4]],
                    ).splitlines()
                )
            )
            before = 0
            for size in sizes:
                result = await measured(client, server, monitor, before, size)
                row = [
                    number(result.documents, 0),
                    number(result.events, 0),
                    number(result.stored, 0),
                    number(result.disk, 0),
                    number(result.memory, 0),
                    number(result.published, 0),
                    number(result.server_cpu, 0),
                    number(result.read, 0),
                    number(result.decoded, 0),
                ]
                print(table(head, [row]).splitlines()[-1], flush=True)
                before = size
            address = client.connected_url.geturl() if client.connected_url else ""
            await restarted(server, "After a restart")
            await forget_ids(address)
            await restarted(server, "After another one, without the ids of the last 24 hours")


async def forget_ids(address: str) -> None:
    """Shorten the window in which the server knows the ids of events, as it is after a day without
    new ones.
    """
    client = await nats.connect(address)
    jetstream = client.jetstream(timeout=60)
    config = (await jetstream.stream_info("KB_EVENTS")).config
    await jetstream.update_stream(config.evolve(duplicate_window=1.0))
    await client.close()


async def restarted(server: Process, when: str) -> None:
    """Print what a restart with the whole log takes."""
    await server.stop()
    await server.start()
    print(
        f"\n{when}: {cpu_seconds(_pid(server)):.1f} s of CPU, {memory(_pid(server)) / MIB:.0f} MiB."
    )


def _pid(server: Process) -> int:
    assert server.child
    return server.child.pid


async def _ignored(_: Exception) -> None:
    """The restart at the end breaks the connection."""


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--sync", choices=["always", "default"], default="default")
    given = parser.parse_args()
    asyncio.run(run(given.documents, given.sync))


if __name__ == "__main__":
    main()
