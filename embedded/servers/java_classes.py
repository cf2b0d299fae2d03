"""The classes of the graph store's Java machine, read and linked once for all its starts.

`python -m embedded.servers.java_classes` starts a server over a folder that goes again,
stores and reads a little, and keeps what it loaded beside its installed package: the cache of JEP
514, by which a start takes half the CPU. `make` gives the command, and the first stack of an
environment that has no cache. The Java machine checks that the cache is of these jars, and goes on
without it otherwise.
"""

import asyncio
import os
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from contracts.graph import Entity, Partition, Relation
from embedded.processes import free_port
from embedded.servers import arcadedb
from embedded.servers.java_machine import CLASSES_VARIABLE, class_cache
from runtime.stores.graph.neo4j.store import BoltGraph

ASSEMBLY = 120.0
"""Seconds that the Java machine may take to write the cache when it ends: 2 on an idle machine."""

POLITENESS = 10
"""How far it stands back, of 19, behind a stack that has just started."""


def main() -> int:
    """Write the cache. Returns 1, and says why, where it cannot be: all works without it."""
    os.nice(POLITENESS)
    cache = class_cache()
    half = cache.with_suffix(f".{os.getpid()}")
    try:
        with TemporaryDirectory() as folder:
            asyncio.run(_record(Path(folder), half))
        half.chmod(0o644)  # as all that is installed
        half.rename(cache)
        for older in cache.parent.glob("java-classes*"):
            if older != cache:
                older.unlink()
    except Exception as error:  # whatever it is: nothing depends on it but the time of a start
        sys.stderr.write(f"The graph store starts without a cache of its classes: {error}\n")
        return 1
    return 0


async def _record(folder: Path, cache: Path) -> None:
    """Let a server do what each one does, and write the classes for it that it loaded when it
    ends.
    """
    password = secrets.token_urlsafe()
    port = free_port()
    server = arcadedb.arcadedb(folder, http_port=free_port(), bolt_port=port, password=password)
    server.env = {**server.env, CLASSES_VARIABLE: str(cache)}
    server.grace = ASSEMBLY
    await server.start()
    try:
        graph = BoltGraph(arcadedb.bolt_uri(port), arcadedb.USER, password)
        try:
            await _use(graph)
        finally:
            await graph.close()
    finally:
        await server.stop()


async def _use(graph: BoltGraph) -> None:
    """Ask what a document and a question ask."""
    partition = Partition("classes", 1)
    await graph.prepare()
    await graph.put(partition, [Entity("a", 1), Entity("b", 1)], [Relation("a", "b", 1)])
    await graph.entities(partition, ["a"])
    await graph.relations(partition, [("a", "b")])
    await graph.excerpts(partition, ["a"], [("a", "b")], longest=0)
    await graph.neighbourhood(partition, ["a"], limit=10)
    await graph.relation_summaries(partition, ["a"], limit=10)
    await graph.degrees(partition, ["a"])
    await graph.nodes(partition, ["a"])
    await graph.scan_names(partition)
    async for _ in graph.everything(partition, 10):
        pass


if __name__ == "__main__":
    sys.exit(main())
