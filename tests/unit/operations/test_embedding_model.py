"""Settings of another process, and which embedding model a rebuild may use."""

import os
import subprocess
import sys

import pytest

from contracts.graph import EmbeddingModel
from embedded.data_folder import Child, StackState
from embedded.environment import settings_from, stack_environment
from embedded.orphans import ProcessIdentity
from offline.language.windows import has_windows
from operations.embedding_model import refuse_unrequested_change, with_embedding_model
from runtime.errors import ConfigurationError, InvalidInput, ModelChanged
from runtime.models.open import as_setting, open_embedder, open_embedder_of
from runtime.projections.embedding import GenerationEmbedders
from runtime.settings import Settings
from services.merger.settings import MergerSettings

LEXICAL = EmbeddingModel("lexical-hash-v1", 384)
ENDPOINT = {"EMBEDDING_API_KEY": "secret", "EMBEDDING_MODEL": "bge-m3", "EMBEDDING_DIM": "1024"}


@pytest.fixture(autouse=True)
def _another_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process's variables, which count nowhere here."""
    for name, value in {
        "EMBEDDING_MODEL": "minilm",
        "OPENAI_API_KEY": "mine",
        "SUMMARY_MAX_TOKENS": "5",
    }.items():
        monkeypatch.setenv(name, value)


def test_settings_are_those_of_the_given_variables_alone() -> None:
    result = settings_from(
        Settings, {"embedding_model": "lexical", "MAX_ASYNC": "7", "LLM_MODEL": ""}
    )
    assert (result.embedding_model, result.llm_max_async, result.llm_model) == (
        "lexical",
        7,
        "gpt-4o-mini",
    )
    assert (result.has_llm, result.has_embedding_endpoint) == (False, False)
    assert settings_from(Settings, ENDPOINT).has_embedding_endpoint
    assert settings_from(MergerSettings, {"SUMMARY_MAX_TOKENS": "77"}).limits.tokens == 77
    assert settings_from(MergerSettings, {}).summary_max_tokens == 1200


def test_the_variables_of_a_stack_are_those_of_its_services() -> None:
    command = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]
    variables = {**os.environ, "EMBEDDING_MODEL": "lexical"}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE) as service:
        assert (
            service.stdout and service.stdout.readline()
        )  # before it runs, the system shows no variables of it
        try:
            ended_child = Child(ProcessIdentity(service.pid, 1))
            state = StackState(
                children={"query": Child(ProcessIdentity.of(service.pid)), "indexer": ended_child}
            )
            assert stack_environment(state)["EMBEDDING_MODEL"] == "lexical"
        finally:
            service.kill()
    assert stack_environment(state)["EMBEDDING_MODEL"] == "minilm"


def test_the_model_that_was_asked_for_needs_an_endpoint_and_a_dimension() -> None:
    offline = settings_from(Settings, {"EMBEDDING_MODEL": "lexical"})
    endpoint = settings_from(Settings, ENDPOINT)
    assert with_embedding_model(endpoint, "", 0) is endpoint
    assert with_embedding_model(endpoint, "lexical-hash-v1", 0).embedding_model == "lexical"
    with pytest.raises(
        ConfigurationError,
        match="EMBEDDING_MODEL=bge-m3 and EMBEDDING_BASE_URL or EMBEDDING_API_KEY",
    ):
        with_embedding_model(offline, "bge-m3", 0)
    with pytest.raises(InvalidInput, match="--embedding-dim"):
        with_embedding_model(endpoint, "nomic", 0)
    assert (
        with_embedding_model(endpoint, "bge-m3", 0).embedding_dim,
        with_embedding_model(endpoint, "nomic", 768).embedding_dim,
    ) == (
        1024,
        768,
    )
    assert with_embedding_model(endpoint, "text-embedding-3-large", 0).embedding_dim == 0


def test_a_change_nobody_said_aloud_names_both_models() -> None:
    for before in (None, LEXICAL):
        refuse_unrequested_change(before, LEXICAL, was_requested=False)
    refuse_unrequested_change(EmbeddingModel("lexical-hash-v1", 8), LEXICAL, was_requested=True)
    with pytest.raises(
        ConfigurationError,
        match=r"--embedding-model lexical` to go over .* `--embedding-model bge-m3`",
    ):
        refuse_unrequested_change(EmbeddingModel("bge-m3", 1024), LEXICAL, was_requested=False)


async def test_a_text_never_goes_to_an_endpoint_that_the_settings_do_not_name() -> None:
    offline = settings_from(Settings, {"EMBEDDING_MODEL": "lexical"})
    endpoint = settings_from(Settings, ENDPOINT)
    model = EmbeddingModel("text-embedding-3-small", 256)
    with pytest.raises(ConfigurationError, match="the settings name none"):
        open_embedder_of(offline, model)
    embedder = open_embedder_of(endpoint, model)
    assert (embedder.model, embedder.dimension) == ("text-embedding-3-small", 256)
    await embedder.close()
    with pytest.raises(ConfigurationError, match="not what this version"):
        open_embedder_of(offline, EmbeddingModel("lexical-hash-v0", 384))


async def test_a_generation_of_a_model_that_cannot_be_opened_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embeddings = GenerationEmbedders(
        settings_from(Settings, {"EMBEDDING_MODEL": "lexical", "MILVUS_URI": "http://127.0.0.1:9"})
    )
    models: dict[int, EmbeddingModel | None] = {
        1: None,
        2: LEXICAL,
        3: EmbeddingModel("bge-m3", 1024),
    }

    async def model_of(generation: int) -> EmbeddingModel | None:
        return models[generation]

    monkeypatch.setattr(embeddings.configured.vectors, "model_of", model_of)
    for generation in (1, 2):
        async with embeddings.of(generation) as result:
            assert result is embeddings.configured
    with pytest.raises(
        ModelChanged, match=r"bge-m3 \(1024 dimensions\).*lexical-hash-v1 \(384 dimensions\)"
    ):
        async with embeddings.of(3):
            pytest.fail("opened")
    await embeddings.close()


def test_a_name_of_a_model_may_be_any() -> None:
    for model in (LEXICAL, EmbeddingModel("a (b) (3 dimensions)", 7)):
        assert EmbeddingModel.named(str(model)) == model
    assert EmbeddingModel.named("bge-m3") is None


@pytest.mark.parametrize("setting", ["minilm", "minilm-floats"])
async def test_vectors_of_either_arithmetic_of_minilm_find_their_embedder_again(
    setting: str,
) -> None:
    settings = Settings.model_validate({"embedding_model": setting})
    embedder = open_embedder(settings)
    model = EmbeddingModel(embedder.model, embedder.dimension)
    assert as_setting(model.name) == setting
    again = open_embedder_of(Settings.model_validate({"embedding_model": "lexical"}), model)
    assert again.model == model.name
    for one in (embedder, again):
        await one.close()


def test_the_ways_out_of_a_change_of_minilm_have_two_names() -> None:
    old_model, new_model = (
        EmbeddingModel(name, 384)
        for name in ("all-MiniLM-L6-v2-int8@1", "all-MiniLM-L6-v2-int8-dynamic@1")
    )
    with pytest.raises(
        ConfigurationError,
        match=r"`--embedding-model minilm` to go.*`--embedding-model minilm-floats`",
    ):
        refuse_unrequested_change(old_model, new_model, was_requested=False)


async def test_the_multilingual_encoder_is_built_in_and_reopened_by_its_name() -> None:
    embedder = open_embedder(Settings(embedding_model="multilingual"))
    assert as_setting(embedder.model) == "multilingual"
    assert has_windows(embedder.model)
    (vector,) = await embedder.embed(["Where is the washing machine?"])
    assert len(vector) == embedder.dimension == 512
    made_by = EmbeddingModel(embedder.model, embedder.dimension)
    assert open_embedder_of(Settings(), made_by).model == embedder.model
