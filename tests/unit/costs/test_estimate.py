"""`add --estimate`: chunks and prompts as the services make them, and no more is claimed than is
known.
"""

from pathlib import Path

import pytest

from operations.documents import find_documents
from operations.estimate import CostEstimate, EstimateSettings, PastCalls, estimate_cost
from runtime.models.open import open_tokenizer
from services.chunker.settings import ChunkerSettings
from services.extractor.domain.prompt import system_prompt, user_prompt
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import extraction_config

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
