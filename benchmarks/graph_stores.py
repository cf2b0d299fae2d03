"""What do the graph stores cost by themselves, with the writes of real merges?

    YARDSTICK_DATA=FOLDER python -m benchmarks.graph_stores [--store sqlite arcadedb postgres]
        [--documents 1000] [--together 10]

The merger's own handler merges the yardstick's documents in memory, some of them a batch, and each
store is then given the puts that it made, one after the other; at the end a hub of 10,000
relations. Prints Markdown: CPU and bytes given to `write()` by client and server, sockets too,
memory of both with shared pages counted once for each sharer, bytes of the files, and CPU of
reads: the neighbourhood of three entities, twenty entities by name, all of the graph by its scans,
the entities with the most relations, and the neighbourhood of the hub.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

from benchmarks.measuring.processes import Usage, load, memory, stored, usage
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Document, documents
from benchmarks.yardstick.extraction import extract
from contracts.events import EntitiesExtracted
from contracts.graph import Entity, Partition, Relation
from contracts.ids import chunk_id, pair, sha256
from contracts.values import ChunkRef, ExtractedEntity, ExtractedRelation
from runtime.batching import batched
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.graph.port import Graph
from tests.support.events import NOON, document
from tests.support.graph_stores import every_entity, every_relation, own_graph_store
from tests.support.merging import SPACE, Merger

HUB = "Hub of All Spokes"
SPOKES = 10_000
NEIGHBOURS = 100
"""Relations of one entity that are read."""
REST = 8.0
"""Seconds until bytes are counted: what is copied once nobody writes is of these rows."""
SECONDS = 1.5
"""Of each kind of read."""
HEAD = (
    "store",
    "CPU ms a document",
    "kB a document to `write()`",
    "kB stored a document",
    "MB before / after",
    "neighbourhood, ms",
    "20 entities, ms",
    "all by scans, ms",
    "most connected, ms",
    "neighbourhood of the hub, ms",
)


@dataclass(frozen=True)
class Put:
    """One call of the merger."""

    entities: Sequence[Entity]
    relations: Sequence[Relation]


class NotedGraph(MemoryGraph):
    """The graph in memory, which notes what is put."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[Put] = []

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        """Note the call and do it."""
        self.puts.append(Put(entities, relations))
        await super().put(partition, entities, relations)


def extraction_event(place: int, text: Document) -> EntitiesExtracted:
    """What the yardstick's model says of a document, which is one chunk."""
    extraction = extract(text.text)
    id = f"doc-{sha256(text.name)[:32]}"
    return EntitiesExtracted(
        document=document(
            id, place + 1, added_at=NOON + timedelta(seconds=place), file_path=text.name
        ),
        chunk=ChunkRef(id=chunk_id(id, 0), order=0),
        entities=tuple(
            ExtractedEntity(name=each.name, type=each.type, description=each.description)
            for each in extraction.entities
        ),
        relations=tuple(
            ExtractedRelation(
                source=each.source,
                target=each.target,
                keywords=tuple(each.keywords.split(", ")),
                description=each.description,
            )
            for each in extraction.relations
        ),
        model="benchmark",
        prompt_version="1",
        cache_key=sha256(id),
    )


async def merged(count: int, together: int) -> NotedGraph:
    """Return the graph of so many documents, merged some at a time."""
    graph = NotedGraph()
    merger = Merger(graph=graph)
    events = [extraction_event(place, text) for place, text in enumerate(documents(count))]
    for batch in batched(events, together):
        await merger.merge(*batch)
    return graph


def hub() -> Put:
    """The spokes, and their relations to the hub: every tenth a heavier one."""
    names = [f"Spoke {sha256(str(place))[:12]}" for place in range(SPOKES)]
    relations = [
        Relation(*pair(HUB, name), 1, weight=1.0 + (place % 10 == 0), description=name * 10)
        for place, name in enumerate(names)
    ]
    return Put([Entity(name, 1) for name in [HUB, *names]], relations)


async def measure(name: str, graph: NotedGraph, count: int, folder: Path) -> list[str]:
    """Return a line of the table."""
    memory_before = memory(os.getpid())
    async with own_graph_store(name, folder) as store:
        start = usage(os.getpid())
        for put in graph.puts:
            await store.client.put(SPACE, put.entities, put.relations)
        await asyncio.sleep(REST)
        used = usage(os.getpid()).since(start)
        size = sum(stored(folder).values())
        names = [entity.name for entity in await every_entity(store.client, SPACE)]
        reads = [await _cpu(call) for call in _calls(store.client, Random(1).sample(names, 300))]
        spokes = hub()
        await store.client.put(SPACE, spokes.entities, spokes.relations)
        reads.append(await _cpu(lambda: store.client.neighbourhood(SPACE, [HUB], limit=NEIGHBOURS)))
        memory_after = memory(os.getpid())
    return [name, *_written(used, count, size), f"{memory_before:.0f} / {memory_after:.0f}", *reads]


def _written(used: Usage, count: int, size: int) -> list[str]:
    return [
        number(used.cpu * 1000 / count),
        number(used.wchar / 1000 / count, 0),
        number(size / 1000 / count, 0) if size else "–",
    ]


def _calls(graph: Graph, names: Sequence[str]) -> list[Callable[[], Awaitable[object]]]:
    """The reads of a graph: of other entities each time."""
    chance = Random(2)

    async def scanned() -> object:
        return await every_entity(graph, SPACE), await every_relation(graph, SPACE)

    return [
        lambda: graph.neighbourhood(SPACE, chance.sample(names, 3), limit=NEIGHBOURS),
        lambda: graph.entities(SPACE, chance.sample(names, 20)),
        scanned,
        lambda: graph.hubs(SPACE, limit=100),
    ]


async def _cpu(call: Callable[[], Awaitable[object]]) -> str:
    """Return milliseconds of CPU of a call, client and server, and those that the clock shows for
    the one in the middle.
    """
    await call()
    before = usage(os.getpid())
    walls: list[float] = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or len(walls) < 3:
        start = time.perf_counter()
        await call()
        walls.append((time.perf_counter() - start) * 1000)
    cpu = usage(os.getpid()).since(before).cpu * 1000 / len(walls)
    return f"{cpu:,.1f} ({sorted(walls)[len(walls) // 2]:,.1f})"


async def main(store_names: Sequence[str], count: int, together: int) -> None:
    """Print the table, each line when it is there."""
    graph = await merged(count, together)
    entities = sum(len(put.entities) for put in graph.puts)
    relations = sum(len(put.relations) for put in graph.puts)
    print(
        f"load {load()}, {time.strftime('%Y-%m-%d')}: {count:,} documents, {together} a batch, "
        f"{entities / count:.1f} entities and {relations / count:.1f} relations put a document; "
        f"{len(await every_entity(graph, SPACE)):,} and "
        f"{len(await every_relation(graph, SPACE)):,} in the end; "
        "milliseconds of CPU, and by the clock\n"
    )
    print(table(HEAD, []), flush=True)
    for name in store_names:
        with tempfile.TemporaryDirectory() as folder:
            line = await measure(name, graph, count, Path(folder))
        print("| " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", nargs="+", default=["sqlite", "arcadedb", "postgres"])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--together", type=int, default=10)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.store, arguments.documents, arguments.together))
