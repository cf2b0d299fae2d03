"""Digest, rebuild and rollback of a whole stack, from its settings: what the command line calls."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from contracts.events import EmbeddingModelChosen
from contracts.graph import PROJECTIONS, Generations, Projection, of_origin
from contracts.ids import origin_of
from contracts.partitions import LogPosition
from contracts.topology import CHECKPOINTS_BUCKET
from operations import checkpoints, embedding_model
from operations.checkpoints import Checkpoints
from operations.chosen_models import open_chosen, open_own, publish_choice, read_choices
from operations.digest import digest
from operations.generations import drop_unused
from operations.golden_gate import GoldenGate, WorseAnswers
from operations.open_stack import OpenStack, open_as_is, open_prepared
from operations.own_vectors import OwnModel
from operations.pace import Pace
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.bus.generations import GenerationState, live_generations
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.nats.region import read_writing_region
from runtime.errors import InvalidInput
from runtime.projections import rebuild_candidate, rebuild_lease
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.projections.rebuild_lease import RunningRebuild
from runtime.projections.verdicts import Verdict, combined_verdict
from runtime.settings import Settings
from services.merger.settings import MergerSettings

Report = Callable[[dict[str, Any]], None]

Destination = Literal["new", "previous", "candidate"]
"""Generations to switch to: new ones, those before the live ones, or those that `start` has
filled.
"""


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
    only_workspace: str = ""
    """The workspace that alone gets new vectors: by the embedding model of `model_choice`, or by
    that of the live ones.
    """
    model_choice: EmbeddingModelChosen | None = None


async def digests(settings: Settings, workspace: str) -> dict[str, Any]:
    """`{"status": sha256, "graph": …, "vectors": …, "counts": {…}}` of the live generations."""
    async with open_prepared(settings) as stack:
        pointers = await NatsLiveGenerations.bind(stack.client.jetstream())
        live = await pointers.live()
        async with stack.stores_of_generation(live.of_workspace(workspace).vectors) as stores:
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
    async with open_rebuild(target, request, report, workspace) as work:
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
    async with open_rebuild(target, request, report, workspace) as work:
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
    async with open_rebuild(target, request, report, workspace) as work:
        assert work.checkpoints is not None
        if await rebuild_candidate.read(work.checkpoints.values):
            raise InvalidInput(
                "generations wait for promotion: `lightstream rebuild promote` or `cleanup` first"
            )
        own_model = of_origin(work.own_models, workspace)
        work.own_models = {origin_of(workspace) or workspace: own_model} if own_model else {}
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
    async with open_rebuild(target, request, report, to="candidate") as work:
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
    async with open_rebuild(target, request, report, to="previous") as work:
        if "vectors" in request.targets:
            work.before_switch = partial(_say_choices_of, work)
        return await work.roll_back()


async def accept_loss(
    target: Target, request: RebuildRequest, report: Report, workspace: str = "default"
) -> dict[str, Any]:
    """Take the log as it is although it lost events: make every projection anew from it, then let
    services write again.

    Raises InvalidInput when the log lost nothing.
    """
    async with open_rebuild(target, request, report, workspace) as work:
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


async def _say_choices_of(work: Rebuild, _: Generations) -> None:
    """Have the log say which models workspaces have once these generations serve again."""
    before = work.initial_pointers["vectors"].own_generations
    for workspace in sorted({*before, *work.own_generations}):
        own_model = work.own_models.get(workspace)
        choice = EmbeddingModelChosen(
            model=own_model.setting if own_model else "",
            dimension=own_model.embedding.model.dimension if own_model and own_model.setting else 0,
            reason="back to the vectors before",
        )
        await publish_choice(work.log, workspace, choice)


@asynccontextmanager
async def open_rebuild(
    target: Target,
    request: RebuildRequest,
    report: Report,
    workspace: str = "default",
    *,
    to: Destination = "new",
) -> AsyncGenerator[Rebuild]:
    """Give the rebuild that is asked for, with everything open, and nobody else's under way.
    `workspace`: the one whose digests are compared. Raises what `rebuild` raises.
    """
    settings = embedding_model.with_embedding_model(
        target.settings, request.embedding_model, request.embedding_dim
    )
    async with open_prepared(settings) as stack, AsyncExitStack() as contexts:
        jetstream = stack.client.jetstream()
        log = NatsLog(jetstream)
        pointers = await NatsLiveGenerations.bind(jetstream)
        generations, _ = await pointers.read()
        live_number = live_generations(generations).of_workspace(workspace).vectors
        values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
        embedding = await _choose_embedding(target, request, stack, generations["vectors"], to)
        has_vectors = "vectors" in request.targets
        stores_of_live = stack.stores_of_generation(live_number) if has_vectors else nullcontext()
        async with stores_of_live as live_stores:
            stores = replace(stack.stores, vectors=embedding.vectors)
            checkpoints_of_stack = Checkpoints(jetstream, values, stores)
            async with rebuild_lease.hold(values, request.targets, request.reason) as lease:
                if to == "new" and has_vectors and "graph" not in request.targets:
                    await checkpoints.require_sound_graph(jetstream, stores)
                embeddings = await contexts.enter_async_context(
                    _of_services(target, request, stack)
                )
                own_models = await _own_models(request, embeddings, log, values, pointers, to)
                # What a following region cannot handle waits in the region that writes.
                follows = await read_writing_region(jetstream)
                yield Rebuild(
                    log,
                    pointers,
                    stores,
                    embedding.embedder,
                    request.targets,
                    _paced(report, lease),
                    target.settings_of(MergerSettings),
                    checkpoints_of_stack,
                    live_stores=live_stores,
                    parked_events=None if follows else NatsParkedEvents(jetstream),
                    events_per_second=request.events_per_second,
                    emptied_before=request.emptied_before,
                    until=request.until,
                    own_models=own_models,
                    only_own=bool(request.only_workspace),
                )


@asynccontextmanager
async def _of_services(
    target: Target, request: RebuildRequest, stack: OpenStack
) -> AsyncGenerator[GenerationEmbedders]:
    """Give what embeds by the settings of the services, whatever model was asked for."""
    if not request.embedding_model:
        yield stack.embeddings
        return
    embeddings = GenerationEmbedders(target.settings)
    try:
        yield embeddings
    finally:
        await embeddings.close()


async def _own_models(
    request: RebuildRequest,
    embeddings: GenerationEmbedders,
    log: NatsLog,
    values: NatsSharedValues,
    pointers: NatsLiveGenerations,
    to: Destination,
) -> dict[str, OwnModel]:
    """Return what embeds the workspaces that have a model of their own, in the generations that are
    switched to.
    """
    if "vectors" not in request.targets:
        return {}
    if request.only_workspace and request.model_choice:
        return await open_chosen(embeddings, {request.only_workspace: request.model_choice})
    pointer = (await pointers.read())[0]["vectors"]
    if request.only_workspace:
        async with embeddings.of(pointer.live) as embedding:
            return {request.only_workspace: OwnModel("", embedding)}
    if to == "new":
        return await open_chosen(embeddings, await read_choices(log))
    candidate = await rebuild_candidate.read(values)
    if to == "candidate" and candidate:
        return await open_own(embeddings, candidate.own_generations)
    return await open_own(embeddings, pointer.previous_own_generations)


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
    if "vectors" not in request.targets:
        return stack.embeddings.configured
    if request.only_workspace:
        async with stack.embeddings.of(pointer.live) as live_embedding:
            return live_embedding
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
