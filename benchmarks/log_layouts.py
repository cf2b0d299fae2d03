"""What subjects and partitions of the log cost the bus: memory, restart, guards and reading one
document, with tiny events.

    python -m benchmarks.log_layouts [--documents 100000] [--only NAME]

Six events a document of 64 bytes are published into one stream, or into sixteen behind a subject
mapping, without message ids, so that memory is that of subjects and messages; once with ids under a
duplicate window of a day, and once of ten seconds, to tell what the ids take.

Two layouts have the product's own subjects, all documents in one workspace: those of a log of which
documents have each a subject for every type of event, and those of one of which they share some.
"""

import argparse
import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nats
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, PubAck, StorageType, StoreCompression, StreamConfig

from benchmarks.measuring.tables import number, table
from contracts import subjects
from embedded.processes import Process, free_port
from embedded.servers.nats import nats_server, url

MIB = 2**20
TYPES = ("Added", "Chunks", "Extracted", "Merged", "IndexedC", "IndexedG")
"""The types of events of a document of one chunk."""

BODY = b"x" * 64
IN_FLIGHT = 1000
WORKSPACES = 1000
DAY = 86400.0
SAMPLES = 200
"""Documents that are read, and guarded publishes, of which the mean is given."""


@dataclass(frozen=True)
class Layout:
    """How events are put into streams. `subject` makes that of a document and a type; `window`: the
    duplicate window in seconds, 0 without ids; `names_document`: in a header.
    """

    name: str
    subject: Callable[[int, str], str]
    document_filter: Callable[[int], str]
    partitions: int = 1
    window: float = 0.0
    names_document: bool = False

    def headers(self, document: int, kind: str) -> dict[str, str]:
        """Return the headers of an event."""
        headers = {"Nats-Msg-Id": f"{document:032x}-{kind}"} if self.window else {}
        if self.names_document and kind not in ("Added", "Chunks"):
            headers[subjects.DOCUMENT_HEADER] = f"d{document}"
        return headers

    def document_filters(self, document: int) -> list[str]:
        """Return the filters through which all events of a document come."""
        own_filter = self.document_filter(document)
        return subjects.with_shared([own_filter]) if self.names_document else [own_filter]


def _workspace(document: int) -> str:
    return f"w{document % WORKSPACES}"


def _hashed(document: int) -> int:
    return int(hashlib.sha256(str(document).encode()).hexdigest()[:4], 16) % 4096


def six(document: int, kind: str) -> str:
    """Return the subject as it is today."""
    return f"kb.v1.{_workspace(document)}.d{document}.{kind}"


PRODUCT_TYPES = dict(
    zip(
        TYPES,
        (
            "DocumentAdded",
            "ChunksCreated",
            "EntitiesExtracted",
            "GraphMerged",
            "VectorsIndexed",
            "VectorsIndexed",
        ),
        strict=True,
    )
)
"""The types as the product names them: two share one."""


def own_subject(document: int, kind: str) -> str:
    """Return the product's subject of an event."""
    return subjects.subject("w", f"d{document}", PRODUCT_TYPES[kind])


def own_filter(document: int) -> str:
    """Return the product's filter of a document."""
    return subjects.of_document("w", f"d{document}")


LAYOUTS = (
    Layout("six subjects a document", six, lambda d: f"kb.v1.{_workspace(d)}.d{d}.*"),
    Layout(
        "one subject a document",
        lambda d, _: f"kb.v1.{_workspace(d)}.d{d}",
        lambda d: f"kb.v1.{_workspace(d)}.d{d}",
    ),
    Layout(
        "4,096 hashed subjects",
        lambda d, _: f"kb.v1.{_hashed(d)}",
        lambda d: f"kb.v1.{_hashed(d)}",
    ),
    Layout("six, in 16 partitions", six, lambda d: f"kb.v1.{_workspace(d)}.d{d}.*", partitions=16),
    Layout("six, ids of a day", six, lambda d: f"kb.v1.{_workspace(d)}.d{d}.*", window=DAY),
    Layout("six, ids of 10 s", six, lambda d: f"kb.v1.{_workspace(d)}.d{d}.*", window=10.0),
    Layout("the product's, none shared", own_subject, own_filter),
    Layout(
        "the product's",
        lambda d, kind: subjects.shared(own_subject(d, kind)),
        own_filter,
        names_document=True,
    ),
)


@dataclass(frozen=True)
class Figures:
    """What one layout takes."""

    layout: str
    events: int
    memory: float
    published: float
    restart: float
    restarted_memory: float
    guard: float
    reading: float


def memory_of(process: Process) -> float:
    """Return the resident memory of a process in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


def streams(layout: Layout) -> list[StreamConfig]:
    """Return the streams of a layout. A partition binds the mapped subjects of its number."""
    common = StreamConfig(
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        compression=StoreCompression.S2,
        duplicate_window=layout.window or 1.0,
        allow_direct=True,
    )
    if layout.partitions == 1:
        return [common.evolve(name="LOG", subjects=["kb.v1.>"])]
    return [
        common.evolve(name=f"LOG_{number}", subjects=[f"kb.p.{number}.>"])
        for number in range(layout.partitions)
    ]


def mapping(layout: Layout) -> str:
    """Return the lines of the server's configuration that map a workspace to its partition."""
    if layout.partitions == 1:
        return ""
    return (
        'mappings = { "kb.v1.*.*.*": "kb.p.{{partition('
        f"{layout.partitions},1)}}}}"
        '.{{wildcard(1)}}.{{wildcard(2)}}.{{wildcard(3)}}" }\n'
    )


async def fill(jetstream: JetStreamContext, layout: Layout, documents: int) -> None:
    """Publish six events of each document, many in flight."""
    pending: list[asyncio.Future[PubAck]] = []
    for document in range(documents):
        for kind in TYPES:
            pending.append(
                await jetstream.publish_async(
                    layout.subject(document, kind),
                    BODY,
                    headers=layout.headers(document, kind) or None,
                    wait_stall=60,
                )
            )
        if len(pending) >= IN_FLIGHT:
            await asyncio.gather(*pending)
            pending.clear()
    await asyncio.gather(*pending)


async def measure_reading(
    jetstream: JetStreamContext, layout: Layout, chosen: Sequence[int]
) -> float:
    """Return the milliseconds in which the events of a document are read, by its filter."""
    if layout.partitions > 1:
        return 0.0
    start = time.perf_counter()
    for document in chosen[:20]:
        for subject in layout.document_filters(document):
            reader = await jetstream.pull_subscribe(subject, stream="LOG")
            info = await reader.consumer_info()
            await reader.fetch(min(500, max(1, info.num_pending or 1)), timeout=5)
            await jetstream.delete_consumer("LOG", info.name)
    return (time.perf_counter() - start) / 20 * 1000


async def measure_guard(
    jetstream: JetStreamContext, layout: Layout, chosen: Sequence[int]
) -> float:
    """Return the milliseconds of a publish that is guarded by the last event of its subject."""
    if layout.partitions > 1:
        return 0.0
    start = time.perf_counter()
    for document in chosen:
        subject = layout.subject(document, "Added")
        newest = await jetstream.get_last_msg("LOG", subject)
        guard = {"Nats-Expected-Last-Subject-Sequence": str(newest.seq)}
        await jetstream.publish(subject, BODY, headers=guard)
    return (time.perf_counter() - start) / len(chosen) * 1000


async def measure(layout: Layout, documents: int) -> Figures:
    """Measure one layout on a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        process = nats_server(Path(folder), port=port, sync="default")
        file = Path(folder) / "nats-server.conf"
        file.write_text(file.read_text() + mapping(layout))
        await process.start()
        try:
            client = await nats.connect(url(port))
            jetstream = client.jetstream(publish_async_max_pending=2 * IN_FLIGHT, timeout=30)
            for config in streams(layout):
                await jetstream.add_stream(config)
            before = memory_of(process)
            start = time.perf_counter()
            await fill(jetstream, layout, documents)
            published = documents * len(TYPES) / (time.perf_counter() - start)
            await asyncio.sleep(12 if 0 < layout.window < DAY else 3)
            memory = memory_of(process) - before
            chosen = [document * 7919 % documents for document in range(SAMPLES)]
            guard = await measure_guard(jetstream, layout, chosen)
            reading = await measure_reading(jetstream, layout, chosen)
            await client.close()
            await process.stop()
            start = time.perf_counter()
            await process.start()
            restart = time.perf_counter() - start
            restarted = memory_of(process) - before
        finally:
            await process.stop()
    events = documents * len(TYPES)
    return Figures(layout.name, events, memory, published, restart, restarted, guard, reading)


def row(figures: Figures) -> list[str]:
    """Return the cells of a row."""
    per_event = figures.restarted_memory * MIB / figures.events
    return [
        figures.layout,
        number(figures.events, 0),
        f"{figures.memory:,.0f}",
        f"{figures.restarted_memory:,.0f}",
        f"{per_event:,.0f}",
        f"{figures.restart:.1f}",
        number(figures.published, 0),
        f"{figures.guard:.1f}" if figures.guard else "",
        f"{figures.reading:.1f}" if figures.reading else "",
    ]


HEAD = [
    "layout",
    "events",
    "memory MiB",
    "after a restart MiB",
    "bytes an event then",
    "restart s",
    "events/s",
    "guarded publish ms",
    "one document read ms",
]


async def main() -> None:
    """Measure the layouts and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [layout for layout in LAYOUTS if options.only in layout.name]
    rows = [row(await measure(layout, options.documents)) for layout in chosen]
    print(table(HEAD, rows))


if __name__ == "__main__":
    asyncio.run(main())
