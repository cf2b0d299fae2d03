"""A `.env` of LightRAG, unchanged: what each of its variables becomes, and which are told as
unknown.
"""

from dataclasses import dataclass
from io import StringIO

import pytest
from dotenv import dotenv_values

from operations import configuration
from runtime.errors import ConfigurationError
from runtime.models.connections import embedding_connection
from runtime.models.roles import RoleSettings, language_model
from services.query.settings import QuerySettings

COMMON = """
### of every deployment
HOST=0.0.0.0
PORT=9621
WEBUI_TITLE='Tides of Port Elm'
MAX_ASYNC=4
SUMMARY_LANGUAGE=English
ENABLE_LLM_CACHE_FOR_EXTRACT=true
RERANK_BINDING=null
OLLAMA_LLM_NUM_CTX=16384
# LLM_TIMEOUT=180
LIGHTRAG_KV_STORAGE=PGKVStorage
POSTGRES_HOST=db.port-elm.example
QDRANT_URL=http://vectors.port-elm.example:6333
"""
UNKNOWN = {
    "ENABLE_LLM_CACHE_FOR_EXTRACT",
    "LIGHTRAG_KV_STORAGE",
    "POSTGRES_HOST",
    "QDRANT_URL",
}
"""What of them is told as read by nobody."""


@dataclass(frozen=True)
class Case:
    """Lines of a `.env`, and what they become."""

    lines: str
    binding: str
    address: str
    model: str
    key: str
    embedding: tuple[str, str, str]
    """Binding, address and key."""
    unknown: frozenset[str] = frozenset()


CASES = {
    "openai": Case(
        """
LLM_BINDING=openai
LLM_BINDING_HOST=https://api.openai.com/v1
LLM_BINDING_API_KEY=sk-port-elm
LLM_MODEL=gpt-5-mini
OPENAI_LLM_REASONING_EFFORT=minimal
OPENAI_LLM_TOP_P=0.9
EMBEDDING_BINDING=openai
EMBEDDING_BINDING_HOST=https://api.openai.com/v1
EMBEDDING_BINDING_API_KEY=sk-port-elm-vectors
EMBEDDING_MODEL=text-embedding-3-large
EMBEDDING_DIM=3072
EMBEDDING_TOKEN_LIMIT=8192
EMBEDDING_SEND_DIM=false
""",
        "openai",
        "https://api.openai.com/v1",
        "gpt-5-mini",
        "sk-port-elm",
        ("openai", "https://api.openai.com/v1", "sk-port-elm-vectors"),
        frozenset({"OPENAI_LLM_TOP_P"}),
    ),
    "azure": Case(
        """
LLM_BINDING=azure_openai
LLM_BINDING_HOST=https://port-elm.openai.azure.com/
LLM_BINDING_API_KEY=azure-key
LLM_MODEL=tides
AZURE_OPENAI_API_VERSION=2024-08-01-preview
EMBEDDING_BINDING=azure_openai
EMBEDDING_BINDING_HOST=https://port-elm.openai.azure.com/
EMBEDDING_BINDING_API_KEY=azure-key
EMBEDDING_MODEL=tide-vectors
EMBEDDING_DIM=3072
AZURE_EMBEDDING_API_VERSION=2024-08-01-preview
""",
        "azure_openai",
        "https://port-elm.openai.azure.com/",
        "tides",
        "azure-key",
        ("azure_openai", "https://port-elm.openai.azure.com/", "azure-key"),
    ),
    "ollama": Case(
        """
LLM_BINDING=ollama
LLM_BINDING_HOST=http://localhost:11434
LLM_MODEL=qwen3:8b
OLLAMA_LLM_TEMPERATURE=0.85
OLLAMA_LLM_NUM_PREDICT=9000
OPENAI_API_KEY=sk-of-another-program
EMBEDDING_BINDING=ollama
EMBEDDING_MODEL=bge-m3
EMBEDDING_DIM=1024
OLLAMA_EMBEDDING_NUM_CTX=8192
""",
        "ollama",
        "http://localhost:11434",
        "qwen3:8b",
        "",
        ("ollama", "http://localhost:11434", ""),
    ),
    "gemini": Case(
        """
LLM_BINDING=gemini
LLM_BINDING_HOST=DEFAULT_GEMINI_ENDPOINT
LLM_BINDING_API_KEY=gemini-key
LLM_MODEL=gemini-flash-latest
GEMINI_LLM_MAX_OUTPUT_TOKENS=9000
GEMINI_LLM_THINKING_CONFIG='{"thinking_budget": 0}'
EMBEDDING_BINDING=jina
EMBEDDING_BINDING_HOST=https://api.jina.ai/v1/embeddings
EMBEDDING_BINDING_API_KEY=jina-key
EMBEDDING_MODEL=jina-embeddings-v4
EMBEDDING_DIM=2048
""",
        "gemini",
        "https://generativelanguage.googleapis.com",
        "gemini-flash-latest",
        "gemini-key",
        ("jina", "https://api.jina.ai/v1/embeddings", "jina-key"),
        frozenset({"GEMINI_LLM_THINKING_CONFIG"}),
    ),
    "vertex": Case(
        """
LLM_BINDING=gemini
LLM_BINDING_HOST=DEFAULT_GEMINI_ENDPOINT
LLM_MODEL=gemini-2.5-flash
GOOGLE_GENAI_USE_VERTEXAI=true
GOOGLE_CLOUD_PROJECT='port-elm'
GOOGLE_CLOUD_LOCATION='us-central1'
GOOGLE_APPLICATION_CREDENTIALS='/etc/port-elm/account.json'
EMBEDDING_BINDING=gemini
EMBEDDING_MODEL=gemini-embedding-001
EMBEDDING_DIM=1536
""",
        "gemini",
        "https://us-central1-aiplatform.googleapis.com",
        "gemini-2.5-flash",
        "",
        ("gemini", "https://us-central1-aiplatform.googleapis.com", ""),
    ),
    "bedrock": Case(
        """
LLM_BINDING=aws_bedrock
LLM_MODEL=anthropic.claude-3-5-sonnet-20241022-v2:0
AWS_ACCESS_KEY_ID=AKIDEXAMPLE
AWS_SECRET_ACCESS_KEY=aws-secret
AWS_REGION=eu-central-1
BEDROCK_LLM_TEMPERATURE=1.0
EMBEDDING_BINDING=aws_bedrock
EMBEDDING_MODEL=amazon.titan-embed-text-v2:0
EMBEDDING_DIM=1024
""",
        "bedrock",
        "",
        "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "",
        ("bedrock", "", ""),
    ),
}


def set_variables(monkeypatch: pytest.MonkeyPatch, text: str) -> dict[str, str]:
    """Set the variables of a `.env` file, and return them."""
    values = {name: value or "" for name, value in dotenv_values(stream=StringIO(text)).items()}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_models_of_lightrags_file_are_those_here(
    monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    environment = set_variables(monkeypatch, COMMON + case.lines)
    settings = RoleSettings()
    model = language_model(settings, "query")
    assert model
    where = model.binding, model.base_url, model.model, model.api_key.get_secret_value()
    assert where == (case.binding, case.address, case.model, case.key)
    connection = embedding_connection(settings)
    vectors = settings.embedding_binding, connection.address, connection.key
    assert vectors == case.embedding
    assert settings.has_embedding_endpoint
    assert model.limits.calls == 4
    assert set(configuration.unread(environment)) == UNKNOWN | case.unknown
    assert QuerySettings().rerank_binding == "null"
    for secret in (case.key, case.embedding[2]):
        assert not secret or secret not in f"{settings!r}{model!r}"


def test_options_of_a_binding_reach_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    set_variables(monkeypatch, COMMON + CASES["ollama"].lines)
    ollama = language_model(RoleSettings(), "extract")
    assert ollama
    assert ollama.fields == {"temperature": 0.85, "max_tokens": 9000} | {
        "options": {"num_ctx": 16384}
    }
    assert embedding_connection(RoleSettings()).window == 8192


def test_azure_s_version_reaches_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    set_variables(monkeypatch, CASES["azure"].lines)
    azure = language_model(RoleSettings())
    assert azure
    assert azure.connection.api_version == "2024-08-01-preview"
    assert embedding_connection(RoleSettings()).api_version == "2024-08-01-preview"


def test_a_role_with_another_binding_has_that_one_s_address_and_no_key_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_variables(
        monkeypatch,
        f"{CASES['openai'].lines}\nKEYWORD_LLM_BINDING=ollama\nKEYWORD_LLM_MODEL=qwen3:4b\n"
        "EXTRACT_LLM_BINDING=anthropic\nEXTRACT_LLM_BINDING_API_KEY=anthropic-key\n",
    )
    settings = RoleSettings()
    keyword = language_model(settings, "keyword")
    extract = language_model(settings, "extract")
    assert keyword
    assert (keyword.base_url, keyword.connection.key) == ("http://localhost:11434", "")
    assert "reasoning_effort" not in keyword.fields
    assert extract
    assert (extract.base_url, extract.connection.key) == (
        "https://api.anthropic.com",
        "anthropic-key",
    )
    assert extract.settings == "EXTRACT_LLM"


@pytest.mark.parametrize("name", ["LLM_BINDING", "EMBEDDING_BINDING", "QUERY_LLM_BINDING"])
def test_a_binding_that_is_not_here_is_refused_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "lollms")
    with pytest.raises(ConfigurationError, match=rf"^{name}: must be one of openai, azure_openai"):
        RoleSettings()
