"""What do the vector stores of one machine cost by themselves, by the number of rows?

    python -m benchmarks.vector_stores [--store sqlite milvus-lite] [--rows 2000,10000]

Rows with texts of 300 characters and vectors of 384 numbers around 200 centres, put 25 at a time,
as an indexer does; then a tenth of them again with another text. Prints Markdown: CPU and bytes
given to `write()` by client and server, memory of both with shared pages counted once for each
sharer, bytes of the files, and CPU of a search for the 60 nearest. The memory before anything was
opened is that of the client alone, with all adapters imported.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.measuring.processes import Usage, load, memory, stored, usage
from benchmarks.measuring.tables import number, table
from contracts.graph import Partition, VectorRow
from contracts.ids import entity_vector_id, sha256
from runtime.batching import batched
from runtime.stores.vectors.port import Vectors
from tests.support.vector_stores import own_vector_store

DIMENSION = 384
CENTRES = 200
TEXT = 300
TOGETHER = 25
"""Rows of one put."""

QUESTIONS = 20
TOP_K = 60
REST = 8.0
"""Seconds until bytes are counted: what is copied once nobody writes is of these rows."""

PARTITION = Partition("w", 1)
HEAD = (
    "rows",
    "store",
    "CPU ms a row",
    "kB a row to `write()`",
    "the same for a row again",
    "kB stored a row",
    "MB before / after",
    "CPU ms a search, first / later",
)


def entity_rows(count: int) -> Iterator[list[VectorRow]]:
    """Yield the rows of so many entities, some at once."""
    choice = np.random.default_rng(1)
    centres = choice.normal(size=(CENTRES, DIMENSION))
    for places in batched(range(count), TOGETHER):
        noise = 1.2 * choice.normal(size=(len(places), DIMENSION))
        vectors = (centres[choice.integers(0, CENTRES, len(places))] + noise).astype(np.float16)
        yield [
            _row(f"Name {place}", vector)
            for place, vector in zip(places, vectors.tolist(), strict=True)
        ]


def _row(name: str, vector: list[float]) -> VectorRow:
    text = f"{name}: {sha256(name) * 9}"[:TEXT]
    id = entity_vector_id(name)
    return VectorRow(id, text, sha256(text), version=1, vector=tuple(vector), names=(name,))


async def measure(store_name: str, count: int, folder: Path) -> list[str]:
    """Return a line of the table."""
    memory_before = memory(os.getpid())
    async with own_vector_store(store_name, folder) as store:
        vectors = store.connect("measured", DIMENSION, 60.0)
        await vectors.prepare(1)
        put = await _put(vectors, entity_rows(count))
        changed = [
            [replace(row, text=f"{row.text}.", version=2) for row in batch]
            for batch in islice(entity_rows(count), None, None, 10)
        ]
        again = await _put(vectors, changed)
        rows = next(entity_rows(count))
        first, *later = [await _search(vectors, row.vector) for row in rows[:QUESTIONS]]
        memory_after = memory(os.getpid())
        await vectors.close()
        size = sum(stored(folder).values())
    return [
        f"{count:,}",
        store_name,
        number(put.cpu * 1000 / count, 2),
        number(put.wchar / 1000 / count),
        number(again.wchar / 1000 / sum(map(len, changed))),
        number(size / 1000 / count),
        f"{memory_before:.0f} / {memory_after:.0f}",
        f"{first:.0f} / {sum(later) / len(later):.1f}",
    ]


async def _put(vectors: Vectors, batches: Iterable[Sequence[VectorRow]]) -> Usage:
    before = usage(os.getpid())
    for batch in batches:
        await vectors.put(PARTITION, "entities", batch)
    await asyncio.sleep(REST)
    return usage(os.getpid()).since(before)


async def _search(vectors: Vectors, vector: Sequence[float]) -> float:
    """Return the milliseconds of CPU of five searches, a fifth of them."""
    before = usage(os.getpid())
    for _ in range(5):
        await vectors.search(PARTITION, "entities", vector, top_k=TOP_K)
    return usage(os.getpid()).since(before).cpu * 1000 / 5


async def main(store_names: list[str], counts: list[int]) -> None:
    """Print the table, each line by a process of its own."""
    print(f"load {load()}, {time.strftime('%Y-%m-%d')}\n", flush=True)
    lines: list[list[str]] = []
    for count in counts:
        for store_name in store_names:
            with tempfile.TemporaryDirectory() as folder:
                lines.append(await measure(store_name, count, Path(folder)))
    print(table(HEAD, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", nargs="+", default=["sqlite", "milvus-lite"])
    parser.add_argument("--rows", default="2000,10000")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.store, [int(count) for count in arguments.rows.split(",")]))
