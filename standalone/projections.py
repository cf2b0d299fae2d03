"""Digest, rebuild and rollback of a whole stack, from its settings: what the command line calls."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client

from contracts.graph import PROJECTIONS, Projection
from runtime.bus.nats import NatsLog, connected
from runtime.bus.nats_beside import NatsPointers
from runtime.integrity import Verdict
from runtime.models.open import open_embedder
from runtime.models.ports import Embedder
from runtime.settings import Settings
from runtime.stores.open import open_documents, open_graph, open_vectors
from services.merger.settings import MergerSettings
from standalone import checkpoints
from standalone.checkpoints import Checkpoints
from standalone.digest import Stores, digest
from standalone.rebuild import Rebuild


@dataclass(frozen=True)
class Stack:
    """A stack's bus and stores, open."""

    client: Client
    stores: Stores
    embedder: Embedder


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[Stack]:
    """Connect to everything, prepared. Raises ConfigurationError or `Unavailable` for a part that does not answer."""
    async with found(settings) as stack:
        await stack.stores.rows.prepare()
        await stack.stores.graph.prepare()
        yield stack


@asynccontextmanager
async def found(settings: Settings) -> AsyncGenerator[Stack]:
    """Connect to everything as it is: nothing is made. Raises ConfigurationError when the bus does not answer."""
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        embedder = open_embedder(settings)
        rows, graph = open_documents(settings), open_graph(settings)
        vectors = open_vectors(settings, model=embedder.model, dimension=embedder.dimension)
        try:
            yield Stack(client, Stores(rows, graph, vectors), embedder)
        finally:
            for part in (vectors, graph, rows, embedder):
                await part.close()


async def digests(settings: Settings, workspace: str) -> dict[str, Any]:
    """`{"status": sha256, "graph": …, "vectors": …, "counts": {…}}` of the live generations."""
    async with opened(settings) as stack:
        pointers = await NatsPointers.bind(stack.client.jetstream())
        live = await pointers.live()
        of_each = {name: await digest(name, workspace, live, stack.stores) for name in PROJECTIONS}
    counts = {name: one.counts for name, one in of_each.items()}
    return {**{name: one.sha256 for name, one in of_each.items()}, "counts": counts}


async def rebuild(
    settings: Settings,
    targets: Sequence[Projection],
    report: Callable[[dict[str, Any]], None],
    workspace: str = "default",
) -> dict[str, Any]:
    """Rebuild these projections of all workspaces; the digests compared are those of `workspace`."""
    async with _prepared(settings, targets, report) as work:
        return await work.run(workspace)


async def rollback(
    settings: Settings, targets: Sequence[Projection], report: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Make the previous generations of these projections the live ones again, with all that happened since."""
    async with _prepared(settings, targets, report) as work:
        return await work.roll_back()


async def accept_loss(
    settings: Settings, report: Callable[[dict[str, Any]], None], workspace: str = "default"
) -> dict[str, Any]:
    """Take the log as it is although it lost events: make every projection anew from it, then let services write again.

    Raises InvalidInput when the log lost nothing.
    """
    async with opened(settings) as stack:
        jetstream, rows = stack.client.jetstream(), stack.stores.rows
        loss = await checkpoints.require_damage(jetstream, rows)
        await checkpoints.rewind(jetstream)
        work = await _work(stack, PROJECTIONS, report)
        result = await work.run(workspace)
        await checkpoints.accept(jetstream, rows)
        added = await checkpoints.add_unfinished(work.log, work.pointers, rows)
    return {**result, "loss": loss, "added_again": added}


async def losses(settings: Settings) -> Verdict:
    """What the services found lost of the log and of the stores."""
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        return await checkpoints.verdicts(client.jetstream())


@asynccontextmanager
async def _prepared(
    settings: Settings, targets: Sequence[Projection], report: Callable[[dict[str, Any]], None]
) -> AsyncGenerator[Rebuild]:
    async with opened(settings) as stack:
        yield await _work(stack, targets, report)


async def _work(stack: Stack, targets: Sequence[Projection], report: Callable[[dict[str, Any]], None]) -> Rebuild:
    jetstream = stack.client.jetstream()
    pointers, kept = await NatsPointers.bind(jetstream), await Checkpoints.of(jetstream, stack.stores)
    limits = MergerSettings().limits
    return Rebuild(NatsLog(jetstream), pointers, stack.stores, stack.embedder, targets, report, limits, kept)
