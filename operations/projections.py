"""Digest, rebuild and rollback of a whole stack, from its settings: what the command line calls."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from nats.aio.client import Client

from contracts.graph import PROJECTIONS, Projection
from contracts.partitions import LogPosition
from contracts.topology import CHECKPOINTS_BUCKET
from operations import checkpoints, embedding_model
from operations.checkpoints import Checkpoints
from operations.digest import Stores, digest
from operations.generations import drop_unused
from operations.golden_gate import GoldenGate, WorseAnswers
from operations.pace import Pace
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.nats.region import read_writing_region
from runtime.bus.port import GenerationState
from runtime.errors import InvalidInput
from runtime.projections import rebuild_candidate, rebuild_lease
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.projections.rebuild_lease import RunningRebuild
from runtime.projections.verdicts import Verdict, combined_verdict
from runtime.settings import Settings
from runtime.stores.open import open_documents, open_graph, open_vectors
from services.merger.settings import MergerSettings

Report = Callable[[dict[str, Any]], None]

Destination = Literal["new", "previous", "candidate"]
"""Generations to switch to: new ones, those before the live ones, or those that `start` has
filled.
"""


@dataclass(frozen=True)
class OpenStack:
    """A stack's bus and stores, open. The stores' vectors are those of the configured embedding
    model.
    """

    client: Client
    settings: Settings
    stores: Stores
    embeddings: GenerationEmbedders

    @asynccontextmanager
    async def stores_of_generation(self, generation: int) -> AsyncGenerator[Stores]:
        """Give the stores, with vectors opened for the embedding model that made this
        generation.
        """
        stored_model = await self.stores.vectors.model_of(generation)
        if stored_model in (None, self.embeddings.configured.model):
            yield self.stores
            return
        vectors = open_vectors(
            self.settings, model=stored_model.name, dimension=stored_model.dimension
        )
        try:
            yield replace(self.stores, vectors=vectors)
        finally:
            await vectors.close()


@dataclass(frozen=True)
class RebuildRequest:
    """The projections to rebuild, and the embedding model of new vectors (dimension 0: the known
    one).
    """

    targets: Sequence[Projection]
    embedding_model: str = ""
    embedding_dim: int = 0
    events_per_second: int = 0
    """Events of the log that are read a second at most; 0: as many as possible."""
    until: LogPosition | None = None
    """The place up to which `start` and `check` read the log; None: its end."""
    emptied_before: bool = False
    """The stores were emptied before: there are no generations to go back to."""
    reason: str = ""
    """Why, for whoever looks while it is under way."""


@asynccontextmanager
async def open_prepared(settings: Settings) -> AsyncGenerator[OpenStack]:
    """Connect to bus and stores, and create what the stores lack. Raises ConfigurationError or
    Unavailable.
    """
    async with open_as_is(settings) as stack:
        await stack.stores.rows.prepare()
        await stack.stores.graph.prepare()
        yield stack


@asynccontextmanager
async def open_as_is(settings: Settings) -> AsyncGenerator[OpenStack]:
    """Connect to bus and stores and create nothing. Raises ConfigurationError when the bus does not
    answer.
    """
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        embeddings = GenerationEmbedders(settings)
        rows = open_documents(settings)
        graph = open_graph(settings)
        try:
            yield OpenStack(
                client, settings, Stores(rows, graph, embeddings.configured.vectors), embeddings
            )
        finally:
            for part in (embeddings, graph, rows):
                await part.close()


async def digests(settings: Settings, workspace: str) -> dict[str, Any]:
    """`{"status": sha256, "graph": …, "vectors": …, "counts": {…}}` of the live generations."""
    async with open_prepared(settings) as stack:
        pointers = await NatsLiveGenerations.bind(stack.client.jetstream())
        live = await pointers.live()
        async with stack.stores_of_generation(live.vectors) as stores:
            of_each = {name: await digest(name, workspace, live, stores) for name in PROJECTIONS}
    counts = {name: digest_of_kind.counts for name, digest_of_kind in of_each.items()}
    return {
        **{name: digest_of_kind.sha256 for name, digest_of_kind in of_each.items()},
        "counts": counts,
    }


async def rebuild(
    target: Target,
    request: RebuildRequest,
    report: Report,
    workspace: str = "default",
    gate: GoldenGate | None = None,
) -> dict[str, Any]:
    """Rebuild these projections of all workspaces; the digests compared are those of `workspace`.

    Raises ConfigurationError where vectors would be of another embedding model and nobody said so,
    WorseAnswers where the gate keeps the new generations, which then wait for `promote`.
    """
    async with _open_rebuild(target, request, report, to="new") as work:
        assert work.checkpoints is not None
        async with _gated(work, gate):
            result = await work.run(workspace)
        await rebuild_candidate.note_speed(
            work.checkpoints.values, request.targets, result["events"], result["seconds"]
        )
        return result | (gate.as_json() if gate else {})


@asynccontextmanager
async def _gated(work: Rebuild, gate: GoldenGate | None) -> AsyncGenerator[None]:
    """Let the gate look before the switch inside. What it keeps waits for promotion."""
    if gate is None:
        yield
        return
    assert work.checkpoints is not None
    work.before_switch = partial(gate.check, work.log)
    try:
        yield
    except WorseAnswers:
        await rebuild_candidate.write(work.checkpoints.values, work.candidate())
        raise
    await gate.record(work.log, is_live=True)


async def start(
    target: Target, request: RebuildRequest, report: Report, workspace: str = "default"
) -> dict[str, Any]:
    """Fill new generations as `rebuild` does, and leave them for `promote`. Raises what `rebuild`
    raises.
    """
    async with _open_rebuild(target, request, report, to="new") as work:
        assert work.checkpoints is not None
        await rebuild_candidate.write(work.checkpoints.values, None)
        result = await work.fill(workspace)
        await rebuild_candidate.write(work.checkpoints.values, work.candidate())
        return result


async def check(
    target: Target, request: RebuildRequest, report: Report, workspace: str = "default"
) -> dict[str, Any]:
    """Rebuild one workspace beside the live generation, compare the two, and drop it again.

    Raises what `rebuild` raises, and InvalidInput where generations wait for promotion, which would
    be dropped too.
    """
    async with _open_rebuild(target, request, report, to="new") as work:
        assert work.checkpoints is not None
        if await rebuild_candidate.read(work.checkpoints.values):
            raise InvalidInput(
                "generations wait for promotion: `lightstream rebuild promote` or `cleanup` first"
            )
        return await work.check(workspace)


async def promote(
    target: Target, request: RebuildRequest, report: Report, gate: GoldenGate | None = None
) -> dict[str, Any]:
    """Switch to what `start` has filled, with all that happened since; `wanted.targets` are
    ignored.

    Raises what `rebuild` raises, and InvalidInput where nothing waits or another rebuild has
    replaced it.
    """
    async with connected(target.settings.nats_url, name="lightstream-cli") as client:
        candidate = await rebuild_candidate.read(
            await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
        )
    if candidate is None:
        raise InvalidInput(
            "no generation waits for promotion: `lightstream rebuild start` fills one"
        )
    request = replace(request, targets=tuple(candidate.generations))
    async with _open_rebuild(target, request, report, to="candidate") as work:
        assert work.checkpoints is not None
        async with _gated(work, gate):
            result = await work.promote(candidate)
        await rebuild_candidate.write(work.checkpoints.values, None)
        return result | (gate.as_json() if gate else {})


async def cleanup(target: Target, targets: Sequence[Projection]) -> None:
    """Drop generations of these projections that are neither live nor the one before; also one that
    waits.
    """
    async with open_as_is(target.settings) as stack:
        bus = stack.client.jetstream()
        values = await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)
        async with rebuild_lease.hold(values, targets):
            candidate = await rebuild_candidate.read(values)
            if candidate and not set(targets).isdisjoint(candidate.generations):
                await rebuild_candidate.write(values, None)
            await drop_unused(await NatsLiveGenerations.bind(bus), stack.stores, targets)


async def wait_for_rebuild(settings: Settings, report: Report) -> None:
    """Return when no rebuild is under way."""
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        values = await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
        while work := (await rebuild_lease.alive(values))[0]:
            report(dict(work.progress))


async def rollback(target: Target, request: RebuildRequest, report: Report) -> dict[str, Any]:
    """Make the previous generations of these projections the live ones again, with all that
    happened since.

    Raises what `rebuild` raises, and InvalidInput where there is none to go back to.
    """
    async with _open_rebuild(target, request, report, to="previous") as work:
        return await work.roll_back()


async def accept_loss(
    target: Target, request: RebuildRequest, report: Report, workspace: str = "default"
) -> dict[str, Any]:
    """Take the log as it is although it lost events: make every projection anew from it, then let
    services write again.

    Raises InvalidInput when the log lost nothing.
    """
    async with _open_rebuild(target, request, report, to="new") as work:
        assert work.checkpoints is not None
        jetstream = work.checkpoints.jetstream
        rows = work.stores.rows
        loss = await checkpoints.require_loss(jetstream, rows)
        await checkpoints.rewind_consumers(jetstream)
        result = await work.run(workspace)
        await checkpoints.accept_loss(jetstream, rows)
        added_count = await checkpoints.add_unfinished_again(work.log, work.pointers, rows)
    return {**result, "loss": loss, "added_again": added_count}


async def read_losses(settings: Settings) -> Verdict:
    """Return what the services found lost of the log and of the stores."""
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        return await combined_verdict(
            await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
        )


def _paced(report: Report, lease: RunningRebuild) -> Report:
    """Return a report that adds the pace to each step, and shows the step to who else asks for the
    rebuild.
    """
    pace = Pace()

    def tell(step: dict[str, Any]) -> None:
        progress = pace.of(step)
        lease.progress = progress
        report(progress)

    return tell


@asynccontextmanager
async def _open_rebuild(
    target: Target, request: RebuildRequest, report: Report, *, to: Destination
) -> AsyncGenerator[Rebuild]:
    settings = embedding_model.with_embedding_model(
        target.settings, request.embedding_model, request.embedding_dim
    )
    async with open_prepared(settings) as stack:
        pointers = await NatsLiveGenerations.bind(stack.client.jetstream())
        generations, _ = await pointers.read()
        embedding = stack.embeddings.configured
        if "vectors" in request.targets:
            embedding = await _choose_embedding(target, request, stack, generations["vectors"], to)
        elsewhere = nullcontext(stack.stores)
        async with (
            stack.stores_of_generation(generations["vectors"].live)
            if "vectors" in request.targets
            else elsewhere as live
        ):
            stores = replace(stack.stores, vectors=embedding.vectors)
            checkpoints_of_stack = await Checkpoints.open(stack.client.jetstream(), stores)
            async with rebuild_lease.hold(
                checkpoints_of_stack.values, request.targets, request.reason
            ) as lease:
                if to == "new" and "vectors" in request.targets and "graph" not in request.targets:
                    await checkpoints.require_sound_graph(stack.client.jetstream(), stores)
                jetstream = stack.client.jetstream()
                # What a following region cannot handle waits in the region that writes.
                follows = await read_writing_region(jetstream)
                yield Rebuild(
                    NatsLog(jetstream),
                    pointers,
                    stores,
                    embedding.embedder,
                    request.targets,
                    _paced(report, lease),
                    target.settings_of(MergerSettings),
                    checkpoints_of_stack,
                    live_stores=live,
                    parked_events=None if follows else NatsParkedEvents(jetstream),
                    events_per_second=request.events_per_second,
                    emptied_before=request.emptied_before,
                    until=request.until,
                )


async def _choose_embedding(
    target: Target,
    request: RebuildRequest,
    stack: OpenStack,
    pointer: GenerationState,
    to: Destination,
) -> EmbeddedVectors:
    """Return the embedding for the vectors: the configured one, or else that of the generation that
    is there.
    """
    before = await stack.stores.vectors.model_of(pointer.live)
    before = before or await embedding_model.last_used_model(stack.client.jetstream())
    embedding = stack.embeddings.configured
    if to != "new":
        generation = pointer.previous if to == "previous" else pointer.highest
        if generation is None:
            raise InvalidInput("vectors has no previous generation: it was never rebuilt")
        async with stack.embeddings.of(generation) as embedding:
            pass
    now = embedding.model
    was_requested = bool(request.embedding_model) and now == stack.embeddings.configured.model
    embedding_model.refuse_unrequested_change(before, now, was_requested)
    if now != before:
        await embedding_model.refuse_unsearchable_model(target, now)
    return embedding
