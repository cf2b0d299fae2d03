"""How many events the extractor handles at once."""

import pytest

from services.extractor.settings import ExtractorSettings


@pytest.mark.parametrize(
    ("environment", "workers"),
    [
        ({}, 2),
        ({"LLM_MAX_ASYNC": "16"}, 2),
        ({"LLM_API_KEY": "k"}, 8),
        ({"LLM_API_KEY": "k", "LLM_MAX_ASYNC": "16"}, 32),
        ({"LLM_API_KEY": "k", "LLM_MAX_ASYNC": "1"}, 2),
        ({"LLM_API_KEY": "k", "LLM_MAX_ASYNC": "0"}, 128),
        ({"LLM_API_KEY": "k", "LLM_MAX_ASYNC": "500"}, 564),
        ({"LLM_API_KEY": "k", "LLM_MAX_ASYNC": "16", "EXTRACTOR_WORKERS": "3"}, 3),
    ],
)
def test_more_events_are_at_hand_than_the_model_may_have_calls(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], workers: int
) -> None:
    for name in (
        "LLM_API_KEY",
        "OPENAI_API_KEY",
        "LLM_BASE_URL",
        "OPENAI_BASE_URL",
        "LLM_MAX_ASYNC",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ExtractorSettings().workers == workers
