"""How fast are texts cut, and how much memory does the longest one take?

    python -m benchmarks.chunker [--megabytes 50]

Cuts real prose (Python's own documentation), the same with Chinese between, and one line of words
by each strategy, in this process. Then publishes a text of 50 MB to a bus of its own and lets the
real chunker cut it. Prints Markdown.
"""

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from contracts.chunking import Chunking
from contracts.events import ChunksCreated
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus import topology
from runtime.bus.codec import decode
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.models.open import open_tokenizer
from services.chunker.domain import document
from tests.support import real_texts
from tests.support.nats_server import connected, running_nats
from tests.support.services import service

MB = 1_000_000
WAYS = {
    "token": Chunking(size=1200, overlap=100),
    "split_by_character": Chunking(size=1200, overlap=100, split_by_character="\n\n"),
    "split_by_character_only": Chunking(
        size=8000, overlap=100, split_by_character="\n", split_by_character_only=True
    ),
    "recursive": Chunking(size=1200, overlap=100, strategy="recursive"),
}
CHINESE = "潮位計は三月に交換された。港口信託在一八三一年買下了磨坊，把它變成了漁網倉庫。🌊\n\n"


def main() -> None:
    """Run it and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--megabytes", type=int, default=50)
    megabytes = arguments.parse_args().megabytes
    with tempfile.TemporaryDirectory() as folder:
        real_texts.write(Path(folder))
        prose = "\n\n".join(path.read_text("utf-8") for path in sorted(Path(folder).rglob("*.*")))
    mixed = "".join(
        part for pair in zip(prose.split("\n\n"), cycle([CHINESE]), strict=False) for part in pair
    )
    texts = {
        "prose": prose,
        "prose and Chinese": mixed,
        "one line of words": " ".join(prose.split()),
    }
    print("| strategy | text | MB | chunks | chunks/s | MB/s |\n|---|---|---|---|---|---|")
    for way, how in WAYS.items():
        for name, text in texts.items():
            if way != "split_by_character_only" or "line" not in name:
                print(_row(way, name, text, how), flush=True)
    print(
        "\n| strategy | text | MB | parts | chunks | first part, s | all, s | MB/s | peak "
        "memory, MiB |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for way in ("token", "recursive"):
        for name in ("prose", "prose and Chinese"):
            print(asyncio.run(_long(way, name, texts[name], megabytes * MB)), flush=True)


def _row(way: str, name: str, text: str, how: Chunking) -> str:
    tokens = open_tokenizer()
    tokens.encode(text[:1000])
    size, began = len(text.encode()) / MB, time.perf_counter()
    count = sum(1 for _ in document.chunks("d", document.Source(lambda: [text]), tokens, how))
    seconds = time.perf_counter() - began
    return (
        f"| {way} | {name} | {size:.1f} | {count} | {count / seconds:,.0f} | {size / seconds:.1f} |"
    )


def _repeated(text: str, size: int) -> Iterator[str]:
    """Copies of the text that differ, up to that many bytes."""
    length = len(text.encode())
    for number in range(size // (length + 20)):
        yield f"# Copy {number:08d}\n\n{text}\n\n"


async def _long(way: str, name: str, text: str, size: int) -> str:
    long = "".join(_repeated(text, size))
    with tempfile.TemporaryDirectory() as folder:
        async with running_nats(Path(folder)) as server, connected(server) as client:
            await topology.apply(jetstream := client.jetstream())
            log = NatsLog(jetstream)
            async with service(
                "chunker", Path(folder), NATS_URL=server.url, CHUNK_STRATEGY=way
            ) as process:
                began = time.perf_counter()
                await add_document(
                    log,
                    NatsBlobs(jetstream),
                    DocumentDraft.of(Submission(text=long, id="long")),
                    workspace="w",
                    source="benchmark",
                )
                put = time.perf_counter()
                parts, first = await _parts(log)
                seconds = time.perf_counter() - put
                peak = _peak(process.pid)
    millions, chunks = len(long.encode()) / MB, sum(len(part.chunks) for part in parts)
    assert chunks == parts[-1].chunk_count
    assert put > began
    return (
        f"| {way} | {name} | {millions:.1f} | {len(parts)} | {chunks} | {first - put:.1f} | "
        f"{seconds:.1f} "
        f"| {millions / seconds:.1f} | {peak:.0f} |"
    )


def _peak(pid: int) -> float:
    """The most resident memory a process ever had, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


async def _parts(log: NatsLog) -> tuple[list[ChunksCreated], float]:
    """All parts, once they are there, and when the first one was."""
    result: list[ChunksCreated] = []
    after, first = 0, 0.0
    while not result or len(result) != result[-1].parts:
        async for page in log.read(after, ["kb.v1.w.long.*"]):
            for message in page:
                after = message.sequence
                event = decode(message.data, message.subject).data
                if isinstance(event, ChunksCreated):
                    result.append(event)
                    first = first or time.perf_counter()
        await asyncio.sleep(0.05)
    return result, first


if __name__ == "__main__":
    main()
