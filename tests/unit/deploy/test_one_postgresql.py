"""docker-compose.postgres.yml: one server in the place of three, for whoever opens a store."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from operations import compose, stores
from operations.settings import CommandSettings
from runtime.settings import Settings
from tests.architecture.sources import REPOSITORY
from tests.unit.deploy.test_deploy import ALL, IMAGE
from tests.unit.deploy.test_make_env import made_secrets, make_env

LAYER: dict[str, Any] = yaml.safe_load(
    (REPOSITORY / "docker-compose.postgres.yml").read_text("utf-8")
)
SERVICES: dict[str, dict[str, Any]] = LAYER["services"]
REPLACED = ("mongo", "neo4j", "milvus")


def test_three_servers_are_not_started_and_nothing_waits_for_them() -> None:
    for name in REPLACED:
        assert SERVICES[name] == {"deploy": {"replicas": 0}}
    assert SERVICES["topology"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_whoever_opens_a_store_is_given_the_one_address_and_none_of_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opening = {name for name in ALL if "DOCUMENTS_URL_FILE" in (ALL[name].get("environment") or ())}
    assert set(SERVICES) == {*opening, *REPLACED, "postgres"}
    url = "postgresql://lightstream:secret@postgres:5432/rag"
    (tmp_path / "stores_url").write_text(f"{url}\n")
    for name in opening:
        assert SERVICES[name]["secrets"] == ["stores_url"]
        with monkeypatch.context() as variables:
            environment = {**ALL[name]["environment"], **SERVICES[name]["environment"]}
            for variable, value in environment.items():
                if value is not None and not str(value).startswith("/run/secrets/"):
                    variables.setenv(variable, str(value))
            assert environment["STORES_URL_FILE"] == "/run/secrets/stores_url"
            variables.setenv("STORES_URL_FILE", str(tmp_path / "stores_url"))
            settings = Settings()
        addresses = (settings.neo4j_uri, settings.milvus_uri)
        assert {settings.documents_url.get_secret_value(), *addresses} == {url}


def test_the_server_is_pinned_checked_limited_and_reached_from_inside_alone() -> None:
    server = SERVICES["postgres"]
    image = IMAGE.fullmatch(server["image"])
    assert image
    assert image[1] in compose.SERVERS
    assert image[2].startswith("pgvector/pgvector:0.8.")
    assert tuple(server["networks"]) == ("inside",)
    assert "ports" not in server
    assert server["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]
    assert {"cpus", "memory"} <= set(server["deploy"]["resources"]["limits"])
    for key in ("restart", "security_opt", "logging"):
        assert server[key] == ALL["mongo"][key]
    files = [volume.split(":")[0] for volume in server["volumes"] if volume.startswith(".")]
    assert all((REPOSITORY / file).exists() for file in files)
    assert set(LAYER["volumes"]) == {"postgres"}


def test_make_env_writes_its_secrets_which_fit_together(tmp_path: Path) -> None:
    make_env(tmp_path)
    secrets = made_secrets(tmp_path)
    assert set(LAYER["secrets"]) <= set(secrets)
    password = secrets["postgres_password"].strip()
    assert secrets["stores_url"] == f"postgresql://lightstream:{password}@postgres:5432/rag\n"
    assert password != secrets["postgres_root_password"].strip()


async def test_no_account_of_milvus_is_made_where_vectors_are_in_postgresql(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MILVUS_SERVICES_TOKEN", "lightstream:secret")
    monkeypatch.setenv("STORES_URL", "postgresql://lightstream:secret@127.0.0.1:9/rag")
    assert await stores.make_accounts(CommandSettings()) == []
