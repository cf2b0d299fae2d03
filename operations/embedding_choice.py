"""An embedding model for one workspace: what changing it takes, and changing it.

The vectors of the workspace and its branches stand in a generation of their own, which is made from
the log beside the live one and switched to with one write, as a rebuild of all does it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from contracts.events import EmbeddingModelChosen
from contracts.graph import VECTOR_KINDS, EmbeddingModel, Generations, Partition
from contracts.ids import is_window, origin_of
from knowledge.passage_vectors import texts_to_embed
from operations import embedding_model
from operations.chosen_models import choosable_model, publish_choice, said_model
from operations.digest import Stores
from operations.estimate import ModelEstimate
from operations.generations import drop_unused
from operations.golden_gate import GoldenGate, WorseAnswers
from operations.open_stack import open_as_is
from operations.projections import RebuildRequest, open_rebuild
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.branches import read_branches
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import LiveGenerations, Log
from runtime.errors import InvalidInput
from runtime.models.bindings import OFFLINE_EMBEDDERS
from runtime.models.open import as_setting, open_tokenizer
from runtime.projections import rebuild_candidate
from runtime.projections.embedding_keys import embedding_key
from runtime.settings import Settings
from runtime.stores.documents.port import Table

PAGE = 1000
"""Rows of the live vectors that are read at a time."""

BASIS = (
    "the texts of the live vectors of the workspace and its branches, without those whose vectors "
    "by this model are cached; nothing is paid but for embedding them"
)


@dataclass(frozen=True)
class ModelChoice:
    """The embedding model that somebody wants for a workspace, as EMBEDDING_MODEL names it; empty:
    that of the whole stack.
    """

    workspace: str
    model: str = ""
    reason: str = ""


@dataclass
class ChoiceEstimate:
    """What embedding a workspace by another model takes. Where no model is paid `models` is
    empty.
    """

    workspace: str
    model: str
    texts: int = 0
    """Texts to embed."""
    cached_texts: int = 0
    """Texts whose vectors are cached."""
    tokens: int = 0
    models: Sequence[ModelEstimate] = ()
    money: float | None = None
    currency: str = ""
    basis: str = BASIS


async def describe(target: Target, workspace: str) -> dict[str, Any]:
    """Return the model that the workspace has, whether it was chosen, and the generation of its
    vectors.
    """
    async with open_as_is(target.settings) as stack:
        pointers, _ = await (await NatsLiveGenerations.bind(stack.client.jetstream())).read()
        origin = origin_of(workspace) or workspace
        own_model = pointers["vectors"].own_generations.get(origin)
        generation = own_model.generation if own_model else pointers["vectors"].live
        model = await stack.stores.vectors.model_of(generation)
        return {
            "workspace": workspace,
            "chosen_model": own_model.model if own_model else "",
            "model": str(model or stack.embeddings.configured.model),
            "generation": generation,
        }


async def estimate(target: Target, choice: ModelChoice) -> ChoiceEstimate:
    """Return what `choose` would embed; changes nothing. Raises what `choose` raises."""
    async with open_as_is(target.settings) as stack:
        jetstream = stack.client.jetstream()
        pointers = await NatsLiveGenerations.bind(jetstream)
        live = await pointers.live()
        await _refuse_odd_choice(NatsLog(jetstream), pointers, target.settings, choice)
        if choice.model:
            name, dimension = choosable_model(target.settings, choice.model)
            embedding = await stack.embeddings.by(name, dimension)
        else:
            async with stack.embeddings.of(live.vectors) as embedding:
                name = as_setting(embedding.model.name)
        result = ChoiceEstimate(choice.workspace, name)
        seen_keys: set[str] = set()
        for workspace in await _with_branches(NatsLog(jetstream), choice.workspace):
            generation = live.of_workspace(workspace).vectors
            async with stack.stores_of_generation(generation) as stores:
                partition = Partition(workspace, generation)
                await _count(partition, stores, embedding.model, seen_keys, result)
    return _priced(result, target)


async def _count(
    partition: Partition,
    stores: Stores,
    model: EmbeddingModel,
    seen_keys: set[str],
    result: ChoiceEstimate,
) -> None:
    """Add the texts of these vectors that the model has not embedded yet. A branch takes what its
    origin has, whose keys are among `seen_keys`.
    """
    count_tokens = open_tokenizer().count
    table = Table("embeddings", Partition(partition.workspace, 0))
    for kind in VECTOR_KINDS:
        after = ""
        while page := await stores.vectors.scan(partition, kind, after, PAGE):
            after = page[-1].id
            rows = [row for row in page if not is_window(row.id)]
            texts = [
                text
                for row in rows
                for text in (texts_to_embed(row, model.name) if kind == "chunks" else [row.text])
            ]
            keys = {embedding_key(model.name, model.dimension, text): text for text in texts}
            new_keys = [key for key in keys if key not in seen_keys]
            seen_keys.update(new_keys)
            cached_rows = await stores.rows.get(table, new_keys)
            missing_texts = [keys[key] for key in new_keys if key not in cached_rows]
            result.cached_texts += len(cached_rows)
            result.texts += len(missing_texts)
            result.tokens += sum(map(count_tokens, missing_texts))


def _priced(result: ChoiceEstimate, target: Target) -> ChoiceEstimate:
    settings = target.settings
    result.currency = settings.prices.currency
    if result.model in OFFLINE_EMBEDDERS:
        return result
    money = settings.prices.money(result.model, result.tokens, 0, 0)
    result.money = None if money is None else float(money)
    calls = -(-result.texts // settings.embedding_batch_num)
    result.models = [ModelEstimate(result.model, calls, result.tokens, 0, result.money)]
    return result


async def choose(
    target: Target,
    choice: ModelChoice,
    report: Callable[[dict[str, Any]], None],
    gate: GoldenGate | None = None,
) -> dict[str, Any]:
    """Embed the workspace and its branches by this model, and have questions search that from then
    on; return what was done.

    Raises InvalidInput for a model that no workspace can have, for one that it has, for a branch,
    and while generations wait for promotion; ConfigurationError where the query service could not
    search; WorseAnswers where the gate keeps the new vectors, which are dropped; `Busy` during a
    rebuild; `Unavailable`.
    """
    model_choice = None
    if choice.model:
        name, dimension = choosable_model(target.settings, choice.model)
        model_choice = EmbeddingModelChosen(model=name, dimension=dimension, reason=choice.reason)
    request = RebuildRequest(
        ("vectors",),
        reason=choice.reason or f"another embedding model for {choice.workspace}",
        only_workspace=choice.workspace,
        model_choice=model_choice,
    )
    async with open_rebuild(target, request, report, choice.workspace) as work:
        await _refuse_odd_choice(work.log, work.pointers, target.settings, choice)
        assert work.checkpoints is not None
        if await rebuild_candidate.read(work.checkpoints.values):
            raise InvalidInput(
                "generations wait for promotion: `lightstream rebuild promote` or `cleanup` first"
            )
        own_model = work.own_models[choice.workspace]
        await embedding_model.refuse_unsearchable_model(target, own_model.embedding.model)
        work.workspaces = await _with_branches(work.log, choice.workspace)
        dimension = own_model.embedding.model.dimension if own_model.setting else 0
        event = EmbeddingModelChosen(
            model=own_model.setting, dimension=dimension, reason=choice.reason
        )
        work.before_switch = partial(_say, work, choice.workspace, event, gate)
        try:
            result = await work.run(choice.workspace)
        except WorseAnswers:
            await drop_unused(work.pointers, work.stores, work.targets)
            raise
        if gate:
            await gate.record(work.log, is_live=True)
        generation = work.generations.of_workspace(choice.workspace).vectors
    return {
        **result,
        **(gate.as_json() if gate else {}),
        "workspace": choice.workspace,
        "workspaces": list(work.workspaces),
        "chosen_model": own_model.setting,
        "model": str(own_model.embedding.model),
        "generations": {"vectors": generation},
    }


async def _refuse_odd_choice(
    log: Log, pointers: LiveGenerations, settings: Settings, choice: ModelChoice
) -> None:
    """Raise InvalidInput for a branch, and for a model that the workspace has already."""
    workspace = choice.workspace
    if origin := origin_of(workspace):
        raise InvalidInput(f"{workspace} is a branch: it has the embedding model of {origin}")
    own_model = (await pointers.read())[0]["vectors"].own_generations.get(workspace)
    present_models = {own_model.model if own_model else "", await said_model(log, workspace)}
    wanted_model = choosable_model(settings, choice.model)[0] if choice.model else ""
    if present_models == {wanted_model}:
        name = wanted_model or "the model of the whole stack"
        raise InvalidInput(f"workspace {workspace} has {name} already: nothing was changed")


async def _with_branches(log: Log, workspace: str) -> list[str]:
    branches = await read_branches(log, workspace)
    return [workspace, *(branch.workspace for branch in branches)]


async def _say(
    work: Rebuild,
    workspace: str,
    event: EmbeddingModelChosen,
    gate: GoldenGate | None,
    generations: Generations,
) -> None:
    """Have the log say what was chosen, once the golden questions fare no worse."""
    if gate:
        await gate.check(work.log, generations)
    await publish_choice(work.log, workspace, event)
