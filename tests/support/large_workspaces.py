"""Workspaces larger than a test could fill through the pipeline: their rows, written as the
services write them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contracts.graph import Entity, Partition, Relation
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.settings import Settings
from runtime.stores.documents.port import Table
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from services.query.adapters.documents import RowDocuments
from services.query.status.document_status import STEPS, DocumentStatus, Failure

FAILED_EACH = 100
"""Every document of this number failed."""


def document(number: int) -> DocumentStatus:
    """One of many: ready, unless it is one of those that failed."""
    failures = (Failure("extractor", "extracted", None, "the model answered with nothing"),)
    return DocumentStatus(
        id=f"doc-{number:032x}",
        file_path=f"document-{number:05d}.md",
        summary=f"What stands in document {number}.",
        length=1_000 + number,
        created_at=f"2026-11-{1 + number % 20:02d}T10:00:00+00:00",
        updated_at=f"2026-11-{1 + number % 20:02d}T10:00:09+00:00",
        version=number + 1,
        added=number + 1,
        chunk_count=1,
        bits=dict.fromkeys(STEPS, int(number % FAILED_EACH != 0)),
        failures=() if number % FAILED_EACH else failures,
    )


async def put_documents(settings: Settings, workspace: str, count: int) -> None:
    """Write the states of `count` documents."""
    async with _partition(settings, workspace, "status") as partition:
        rows = open_documents(settings)
        await RowDocuments(rows).put(partition, [document(number) for number in range(count)])
        await rows.close()


async def drop_documents(settings: Settings, workspace: str) -> None:
    """Take them away: no rebuild of the log would make them."""
    async with _partition(settings, workspace, "status") as partition:
        rows = open_documents(settings)
        await rows.drop(Table("documents", partition))
        await rows.close()


async def put_hub(settings: Settings, workspace: str, hub: str, count: int) -> None:
    """Write an entity with `count` relations, and their other ends. Its name comes before
    `Ship`.
    """
    ends = [f"Ship {number:05d}" for number in range(count)]
    rest = {"source_ids": (f"doc-{1:032x}-chunk-000",), "file_paths": ("ships.md",)}
    entities = [
        Entity(name, 1, "artifact", f"{name} calls at {hub}.", support=1, **rest) for name in ends
    ]
    entities.append(
        Entity(hub, 1, "location", "Ships from everywhere call here.", support=count, **rest)
    )
    relations = [
        Relation(
            hub,
            name,
            1,
            float(1 + number % 7),
            ("calls",),
            f"{name} calls at {hub}.",
            support=1,
            **rest,
        )
        for number, name in enumerate(ends)
    ]
    async with _graph(settings, workspace) as (graph, partition):
        await graph.put(partition, entities, relations)


async def drop_hub(settings: Settings, workspace: str) -> None:
    """Take it away."""
    async with _graph(settings, workspace) as (graph, partition):
        await graph.drop(partition)


@asynccontextmanager
async def _graph(settings: Settings, workspace: str) -> AsyncIterator[tuple[Graph, Partition]]:
    async with _partition(settings, workspace, "graph") as partition:
        graph = open_graph(settings)
        yield graph, partition
        await graph.close()


@asynccontextmanager
async def _partition(
    settings: Settings, workspace: str, projection: str
) -> AsyncIterator[Partition]:
    """The partition of the generation that questions read."""
    async with connected(settings.nats_url, name="test") as client:
        states, _ = await (await NatsLiveGenerations.bind(client.jetstream())).read()
    yield Partition(
        workspace, next(state.live for name, state in states.items() if name == projection)
    )
