"""Secrets from files: `<variable>_FILE` beside every variable that holds one, and beside no
other.
"""

from pathlib import Path

import pytest
from pydantic import SecretStr

from embedded.environment import settings_from
from operations import configuration
from operations.query_service import named_by_environment
from operations.settings import CommandSettings
from runtime.errors import ConfigurationError
from runtime.models.connections import embedding_connection
from runtime.models.roles import language_model
from runtime.settings import Settings
from runtime.shown_settings import shown_settings
from runtime.variables import variables, without_secrets
from services.gateway.auth.settings import AccessSettings
from services.gateway.settings import GatewaySettings
from services.query.settings import QuerySettings


def secret(folder: Path, text: str) -> str:
    """A file with that text and the end of line that editors leave."""
    file = folder / f"secret-{len(list(folder.iterdir()))}"
    file.write_text(f"{text}\n", "utf-8")
    return str(file)


SCHEMES = {
    "NATS_URL": "nats",
    "STORES_URL": "postgresql",
    "DOCUMENTS_URL": "mongodb",
    "MONGO_URI": "mongodb",
    "NEO4J_URI": "bolt",
    "GRAPH_URL": "bolt",
    "MILVUS_URI": "http",
    "VECTORS_URL": "http",
}


def _content(name: str) -> str:
    """What a secret's file holds: an address where nothing else can be used."""
    return f"{SCHEMES[name]}://{name.lower()}" if name in SCHEMES else f"of {name}"


def test_every_secret_of_every_program_may_stand_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        name.removesuffix("_FILE") for name in configuration.known_names() if name.endswith("_FILE")
    }
    names -= {"ENTITY_TYPE_PROMPT", "USER_PROMPT_PREFIX"}
    assert {
        "NATS_URL",
        "DOCUMENTS_URL",
        "NEO4J_PASSWORD",
        "MILVUS_TOKEN",
        "LLM_API_KEY",
        "TOKEN_SECRET",
    } <= names
    for name in names:
        monkeypatch.setenv(f"{name}_FILE", secret(tmp_path, _content(name)))
    for kind in (QuerySettings, GatewaySettings, AccessSettings, CommandSettings):
        result = kind()
        assert result.nats_url == _content("NATS_URL")
        values = {
            field: value.get_secret_value()
            for field, value in result
            if isinstance(value, SecretStr)
        }
        assert values == {field: _content(_first(kind, field)) for field in values}
    assert named_by_environment(None)


def _first(kind: type[Settings], field: str) -> str:
    return next(iter(variables(field, kind.model_fields[field])))


def test_the_first_variable_counts_and_a_variable_goes_before_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY_FILE", secret(tmp_path, "narrow"))
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("NATS_URL_FILE", secret(tmp_path, "nats://file"))
    monkeypatch.setenv("NATS_URL", "nats://variable")
    result = Settings()
    model = language_model(result)
    assert model
    assert (model.api_key.get_secret_value(), embedding_connection(result).key) == (
        "narrow",
        "general",
    )
    assert result.nats_url == "nats://variable"
    assert "NATS_URL_FILE has no effect: NATS_URL is set" in result.contradictions
    assert Settings(nats_url="nats://given").nats_url == "nats://given"


def test_an_empty_file_is_as_none_and_one_that_is_not_there_keeps_it_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY_FILE", secret(tmp_path, ""))
    assert not Settings().has_llm
    monkeypatch.setenv("LLM_API_KEY_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(
        ConfigurationError, match="LLM_API_KEY_FILE names a file that cannot be read"
    ):
        Settings()
    assert any("LLM_API_KEY_FILE" in line for line in configuration.faults())


def test_what_is_shown_names_the_file_s_variable_and_not_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        "NATS_URL_FILE": secret(tmp_path, "nats://chunker:hush@nats:4222"),
        "NEO4J_PASSWORD_FILE": secret(tmp_path, "hush"),
    }
    by_name = {
        setting.names[0]: setting
        for setting in shown_settings({"all": Settings}, environment, {}, "")
    }
    assert (by_name["NATS_URL"].value, by_name["NATS_URL"].source) == (
        "nats://nats:4222",
        "NATS_URL_FILE",
    )
    assert (by_name["NEO4J_PASSWORD"].value, by_name["NEO4J_PASSWORD"].source) == (
        "(set, not shown)",
        "NEO4J_PASSWORD_FILE",
    )
    assert settings_from(Settings, environment).neo4j_password.get_secret_value() == "hush"
    assert configuration.unread(environment) == {}


@pytest.mark.parametrize(
    ("url", "safe_url"),
    [
        (
            "mongodb://user:hush@one:27017,two:27018/?replicaSet=r&tlsCertificateKeyFilePassword=hush",
            "mongodb://one:27017,two:27018/",
        ),
        ("bolt://[::1]:7687", "bolt://[::1]:7687"),
        ("https://a:b%40c@host/path?token=hush#part", "https://host/path"),
    ],
)
def test_an_address_is_shown_without_what_is_secret_in_it(url: str, safe_url: str) -> None:
    assert without_secrets(url) == safe_url
