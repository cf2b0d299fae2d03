"""Models from settings: the peer's names of variables, and what each does."""

import sys

import pytest

from runtime.bus.memory import MemorySharedValues
from runtime.errors import ConfigurationError
from runtime.models import open as models
from runtime.models.limits import Limits
from runtime.models.open import open_chat, open_embedder
from runtime.models.rate_limiters import RateLimiters
from runtime.settings import Settings


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Limits, float]]:
    """What rate limiters are made with, by use."""
    limits_by_use: dict[str, tuple[Limits, float]] = {}
    limiter = RateLimiters.limiter

    def made(
        self: RateLimiters, kind: str, name: str, key: str, limits: Limits, max_wait: float
    ) -> object:
        assert "secret" not in name
        limits_by_use[kind] = limits, max_wait
        return limiter(self, kind, name, key, limits, max_wait)

    monkeypatch.setattr(RateLimiters, "limiter", made)
    return limits_by_use


async def test_limits_are_read_from_the_peer_s_variables(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, tuple[Limits, float]]
) -> None:
    for name, value in {
        "LLM_API_KEY": "secret",
        "EMBEDDING_API_KEY": "secret",
        "EMBEDDING_BASE_URL": "http://user:secret@127.0.0.1:9/v1",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "MAX_ASYNC": "7",
        "LLM_MAX_REQUESTS_PER_MINUTE": "500",
        "LLM_MAX_TOKENS_PER_MINUTE": "90000",
        "EMBEDDING_FUNC_MAX_ASYNC": "0",
        "EMBEDDING_MAX_REQUESTS_PER_MINUTE": "30",
        "EMBEDDING_MAX_TOKENS_PER_MINUTE": "1000",
    }.items():
        monkeypatch.setenv(name, value)
    guards = RateLimiters(MemorySharedValues())
    chat = open_chat(Settings(), guards)
    embedder = open_embedder(Settings(), guards, max_wait=3.0)
    assert chat is not None
    assert limits["language model"] == (
        Limits(requests=500, tokens=90000, calls=7),
        models.math.inf,
    )
    assert limits["embeddings"] == (Limits(requests=30, tokens=1000, calls=0), 3.0)
    assert guards.notes.keys() == limits.keys()
    await chat.close()
    await embedder.close()


def test_the_defaults_are_four_and_eight_calls_at_once() -> None:
    settings = Settings()
    assert (settings.llm_max_async, settings.embedding_max_async, settings.embedding_batch_num) == (
        4,
        8,
        32,
    )
    assert (settings.llm_max_requests_per_minute, settings.llm_max_tokens_per_minute) == (0, 0)


@pytest.mark.parametrize("name", ["EMBEDDING_MAX_TOKENS", "EMBEDDING_TOKEN_LIMIT"])
def test_the_limit_of_a_text_has_two_names(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "512")
    assert Settings().embedding_max_tokens == 512


def test_an_unknown_dimension_keeps_the_process_from_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "bge-m3")
    with pytest.raises(ConfigurationError, match="set EMBEDDING_DIM: the dimension of bge-m3"):
        open_embedder(Settings())


@pytest.mark.parametrize(
    ("module", "variables", "extra"),
    [
        ("botocore.auth", {"LLM_BINDING": "bedrock", "AWS_REGION": "us-east-1"}, "bedrock"),
        (
            "google.auth",
            {
                "LLM_BINDING": "gemini",
                "GOOGLE_GENAI_USE_VERTEXAI": "true",
                "GOOGLE_CLOUD_PROJECT": "p",
            },
            "vertex",
        ),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, variables: dict[str, str], extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for name, value in {**variables, "LLM_MODEL": "m"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=rf"pip install 'lightstream-rag\[{extra}\]'"):
        open_chat(Settings())
