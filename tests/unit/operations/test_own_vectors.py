"""A workspace with an embedding model of its own: its vectors stand in a generation of their own,
and the others never notice.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.events import EmbeddingModelChosen
from contracts.graph import PROJECTIONS, VECTOR_KINDS, Generations, Partition
from offline.embeddings.lexical import LexicalEmbedder
from operations.chosen_models import choosable_model, publish_choice, read_choices, said_model
from operations.digest import Stores, digest
from operations.own_vectors import OwnModel
from operations.rebuild import Rebuild
from runtime.bus.generations import OwnGeneration
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.errors import InvalidInput
from runtime.projections.embedding import EmbeddedVectors
from runtime.projections.rebuild_candidate import Candidate
from runtime.settings import Settings
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.port import Vectors
from runtime.stores.vectors.sqlite.store import SqliteVectors
from services.merger.settings import MergerSettings
from tests.unit.operations.test_bulk_load import recorded
from tests.unit.operations.test_recorded_digests import DIGESTS

OTHER = "other"
STACK_MODEL = LexicalEmbedder(64)


class Stack:
    """The stores of a stack, its pointers and a log with two workspaces, `w` and `other`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "vectors.sqlite"
        self.opened: list[SqliteVectors] = []
        self.stores = Stores(MemoryRows(), MemoryGraph(), self.vectors_of(STACK_MODEL))
        self.pointers = MemoryLiveGenerations()
        self.log = recorded(MemoryLog())

    def vectors_of(self, embedder: LexicalEmbedder) -> SqliteVectors:
        vectors = SqliteVectors(self.path, model=embedder.model, dimension=embedder.dimension)
        self.opened.append(vectors)
        return vectors

    def own_model(self, dimension: int, setting: str = "lexical") -> OwnModel:
        embedder = LexicalEmbedder(dimension)
        return OwnModel(setting, EmbeddedVectors(embedder, embedder, self.vectors_of(embedder)))

    def rebuild(self, own_models: Mapping[str, OwnModel], **fields: Any) -> Rebuild:
        targets = fields.pop("targets", ("vectors",))
        return Rebuild(
            self.log,
            self.pointers,
            self.stores,
            STACK_MODEL,
            targets,
            lambda _: None,
            MergerSettings(),
            own_models=own_models,
            **fields,
        )

    async def rebuild_other(self, model: OwnModel) -> dict[str, Any]:
        """Give the workspace `other` vectors of its own by this model."""
        fields = {"only_own": True, "workspaces": [OTHER], "live_stores": self.stores}
        work = self.rebuild({OTHER: model}, **fields)
        return await work.run(OTHER)

    async def counts(self, vectors: Vectors, workspace: str, generation: int) -> int:
        partition = Partition(workspace, generation)
        return sum([await vectors.count(partition, kind) for kind in VECTOR_KINDS])

    async def digest_of(self, workspace: str, vectors: Vectors) -> str:
        live = await self.pointers.live()
        stores = replace(self.stores, vectors=vectors)
        return (await digest("vectors", workspace, live, stores)).sha256


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncGenerator[Stack]:
    """A stack whose projections were made anew once: generation 2 is live."""
    stack = Stack(tmp_path)
    await stack.rebuild({}, targets=PROJECTIONS).run("w")
    yield stack
    for vectors in stack.opened:
        await vectors.close()


async def test_a_workspace_gets_a_generation_of_its_own_and_the_others_keep_theirs(
    stack: Stack,
) -> None:
    own_model = stack.own_model(32)
    result = await stack.rebuild_other(own_model)
    live = await stack.pointers.live()
    assert live == Generations(2, 2, 2, {OTHER: 3})
    assert [live.of_workspace(name).vectors for name in ("w", OTHER, "other..branch")] == [2, 3, 3]
    assert result["digests"]["vectors"]["same"]
    assert await stack.digest_of(OTHER, own_model.embedding.vectors) == DIGESTS[OTHER, "vectors"]
    assert await stack.digest_of("w", stack.stores.vectors) == DIGESTS["w", "vectors"]
    assert await stack.counts(own_model.embedding.vectors, "w", 3) == 0
    model = await stack.stores.vectors.model_of(3)
    assert model is not None
    assert model.dimension == 32


async def test_a_rebuild_of_the_stack_respects_the_choice(stack: Stack) -> None:
    own_model = stack.own_model(32)
    await stack.rebuild_other(own_model)
    await stack.rebuild({OTHER: own_model}, targets=PROJECTIONS).run("w")
    assert await stack.pointers.live() == Generations(3, 3, 4, {OTHER: 5})
    assert await stack.digest_of(OTHER, own_model.embedding.vectors) == DIGESTS[OTHER, "vectors"]
    assert await stack.digest_of("w", stack.stores.vectors) == DIGESTS["w", "vectors"]
    assert await stack.counts(stack.stores.vectors, OTHER, 4) == 0
    # What was live before the last switch is there, and nothing older.
    assert await stack.stores.vectors.generations() == {2, 3, 4, 5}


async def test_workspaces_of_one_model_share_a_generation(stack: Stack) -> None:
    models = {OTHER: stack.own_model(32), "w": stack.own_model(32), "x": stack.own_model(16)}
    await stack.rebuild(models).run("w")
    assert (await stack.pointers.live()).own_vectors == {OTHER: 4, "w": 4, "x": 5}


async def test_the_last_change_is_undone_with_what_has_happened_since(stack: Stack) -> None:
    full_log = stack.log.messages
    stack.log.messages = full_log[:100]
    own_model = stack.own_model(32)
    await stack.rebuild_other(own_model)
    stack.log.messages = full_log
    await stack.rebuild({}).roll_back()
    assert await stack.pointers.live() == Generations(2, 2, 2)
    assert await stack.digest_of(OTHER, stack.stores.vectors) == DIGESTS[OTHER, "vectors"]
    pointers, _ = await stack.pointers.read()
    assert pointers["vectors"].previous_own_generations == {OTHER: OwnGeneration(3, "lexical")}
    await stack.rebuild({OTHER: own_model}).roll_back()
    assert (await stack.pointers.live()).own_vectors == {OTHER: 3}
    assert await stack.digest_of(OTHER, own_model.embedding.vectors) == DIGESTS[OTHER, "vectors"]


async def test_back_at_the_model_of_the_stack_it_is_part_of_the_next_rebuild(stack: Stack) -> None:
    await stack.rebuild_other(stack.own_model(32))
    embedding = EmbeddedVectors(STACK_MODEL, STACK_MODEL, stack.stores.vectors)
    await stack.rebuild_other(OwnModel("", embedding))
    assert (await stack.pointers.live()).own_vectors == {OTHER: 4}
    assert await stack.digest_of(OTHER, stack.stores.vectors) == DIGESTS[OTHER, "vectors"]
    await stack.rebuild({}).run(OTHER)
    assert await stack.pointers.live() == Generations(2, 2, 5)
    assert await stack.digest_of(OTHER, stack.stores.vectors) == DIGESTS[OTHER, "vectors"]


async def test_what_waits_for_promotion_has_the_generations_of_workspaces(stack: Stack) -> None:
    own_model = stack.own_model(32)
    work = stack.rebuild({OTHER: own_model})
    await work.fill("w")
    candidate = work.candidate()
    assert candidate.own_fields == {OTHER: {"generation": 4, "model": "lexical"}}
    assert await stack.pointers.live() == Generations(2, 2, 2)
    await stack.rebuild({OTHER: own_model}).promote(Candidate(**vars(candidate)))
    assert await stack.pointers.live() == Generations(2, 2, 3, {OTHER: 4})


async def test_a_choice_made_meanwhile_replaces_what_waits_for_promotion(stack: Stack) -> None:
    work = stack.rebuild({})
    await work.fill("w")
    await stack.rebuild_other(stack.own_model(32))
    with pytest.raises(InvalidInput, match="start another rebuild"):
        await stack.rebuild({}).promote(work.candidate())
    assert await stack.pointers.live() == Generations(2, 2, 2, {OTHER: 4})


async def test_the_log_says_the_last_choice_of_each_workspace_once() -> None:
    log = MemoryLog()
    german = EmbeddingModelChosen(model="multilingual", dimension=512)
    for workspace in ("handbuch", "handbuch", "annex"):
        await publish_choice(log, workspace, german)
    assert len(log.messages) == 2
    assert await read_choices(log) == {"handbuch": german, "annex": german}
    await publish_choice(log, "annex", EmbeddingModelChosen())
    assert await read_choices(log) == {"handbuch": german}
    assert [await said_model(log, name) for name in ("handbuch", "annex", "x")] == [
        "multilingual",
        "",
        "",
    ]


def test_a_workspace_has_a_built_in_model_or_the_one_there_are_settings_for() -> None:
    offline = Settings.model_validate({"embedding_model": "minilm"})
    endpoint = Settings.model_validate(
        {"embedding_model": "bge-m3", "embedding_dim": 1024, "embedding_api_key": "secret"}
    )
    assert choosable_model(offline, "multilingual") == ("multilingual", 0)
    assert choosable_model(endpoint, "minilm") == ("minilm", 0)
    assert choosable_model(endpoint, "bge-m3") == ("bge-m3", 1024)
    with pytest.raises(InvalidInput, match="no embedding endpoint"):
        choosable_model(offline, "bge-m3")
    with pytest.raises(InvalidInput, match="may need other ones"):
        choosable_model(endpoint, "nomic-embed-text")
