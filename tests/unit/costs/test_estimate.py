"""`add --estimate`: chunks and prompts as the services make them, and no more is claimed than is
known.
"""

from pathlib import Path

import pytest
from pydantic import SecretStr

from operations.documents import find_documents
from operations.estimate import CostEstimate, EstimateSettings, PastCalls, estimate_cost
from operations.figure_estimate import DESCRIPTION_TOKENS, DescriptionUsage
from runtime.models.open import open_tokenizer
from services.chunker.settings import ChunkerSettings
from services.extractor.domain.prompt import system_prompt, user_prompt
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import extraction_config
from tests.support.pictures import picture, word_file

CHUNKER = ChunkerSettings(chunk_size=20, chunk_overlap_size=0)
PRICES = '{"m": {"prompt": 1000, "completion": 2000}}'
TEXT = "Ada Marlow keeps the light of Port Elm. " * 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "blank.txt").write_text(" \n")
    return tmp_path


def extractor(gleaning: int = 0) -> ExtractorSettings:
    return ExtractorSettings(
        llm_base_url="http://127.0.0.1:9/v1",
        llm_model="m",
        model_prices=PRICES,
        max_gleaning=gleaning,
        embedding_base_url="http://127.0.0.1:9/v1",
        embedding_model="vectors",
    )


async def estimated(
    folder: Path, settings: ExtractorSettings, answer: float | None = None
) -> CostEstimate:
    past = PastCalls(answer)
    return await estimate_cost(
        find_documents([str(folder)]).sources, EstimateSettings(CHUNKER, settings, past=past)
    )


async def test_prompts_are_counted_as_they_will_be_sent(folder: Path) -> None:
    result = await estimated(folder, extractor(), answer=7.0)
    count = open_tokenizer().count
    config = extraction_config(extractor())
    chat, embedding = result.models
    prompt_tokens = count(system_prompt(config)) + count(user_prompt(config, ""))
    assert (result.documents, chat.model, chat.calls) == (1, "m", result.chunks)
    assert result.chunks == -(-count(TEXT.strip()) // 20)
    assert (
        0 <= chat.prompt - result.chunks * prompt_tokens - count(TEXT.strip()) <= 3 * result.chunks
    )
    assert chat.completion == 7 * result.chunks
    assert chat.money == pytest.approx((chat.prompt * 1000 + chat.completion * 2000) / 1_000_000)
    assert (embedding.model, embedding.money, result.money) == ("vectors", None, chat.money)
    assert "the workspace's own so far" in result.basis


async def test_a_second_round_reads_the_first_again(folder: Path) -> None:
    once = await estimated(folder, extractor())
    twice = await estimated(folder, extractor(gleaning=1))
    assert twice.models[0].calls == 2 * once.models[0].calls
    assert twice.models[0].prompt > 2 * once.models[0].prompt
    assert "70% of the passages" in once.basis


async def test_what_cannot_be_read_is_named_and_models_of_this_machine_cost_nothing(
    folder: Path,
) -> None:
    result = await estimated(folder, ExtractorSettings())
    assert (result.models, result.money, result.documents) == ([], None, 1)
    assert [file.name for file in result.refused] == ["blank.txt"]


async def test_figures_are_counted_once_each_with_the_passages_that_they_become(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.docx").write_bytes(word_file(picture(), picture(bar=40)))
    (tmp_path / "b.docx").write_bytes(word_file(picture(), picture(bar=60, width=63)))
    chunker = ChunkerSettings(
        vlm_llm_model="eyes",
        vlm_llm_api_key=SecretStr("k"),
        model_prices='{"eyes": {"prompt": 10, "completion": 20}}',
    )
    sources = find_documents([str(tmp_path)]).sources
    without = await estimate_cost(sources, EstimateSettings(CHUNKER, extractor()))
    guessed = await estimate_cost(sources, EstimateSettings(chunker, extractor()))
    assert without.figures == 0
    eyes, chat, _ = guessed.models
    assert (eyes.model, eyes.calls, guessed.figures) == ("eyes", 2, 3)
    assert eyes.prompt > 2 * (85 + 170)
    assert eyes.completion == 2 * DESCRIPTION_TOKENS
    assert chat.calls == guessed.chunks
    past = PastCalls(description=DescriptionUsage(1000, 50))
    known = await estimate_cost(sources, EstimateSettings(chunker, extractor(), past=past))
    assert (known.models[0].prompt, known.models[0].completion) == (2000, 100)
    assert "the workspace's own so far" in known.basis
