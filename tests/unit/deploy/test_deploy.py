"""What docker compose is given: pinned, healthy, closed, without a secret, fit for the services."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from distribution import manual
from operations import compose
from runtime.parsing.settings import ParserSettings
from services.extractor.settings import ExtractorSettings
from services.gateway.settings import GatewaySettings
from services.indexer.settings import IndexerSettings
from services.query.settings import QuerySettings
from tests.architecture.sources import REPOSITORY, SERVICES

TEXT = (REPOSITORY / "docker-compose.yml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
ALL: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = (
    *SERVICES,
    "figures",
    "webhooks",
    "gateway",
    "questions",
    "settings",
    "topology",
    "stores",
    "intake",
    "operator",
    "cli",
)
MONITORING = ("prometheus", "grafana")
SERVERS = sorted(set(ALL) - set(OURS) - set(MONITORING))
WITHOUT_PAGE = ("settings", "topology", "stores", "intake", "operator", "cli")
"""Programs without a health page: they end by themselves, or listen on no port."""
DOCKERFILE = (REPOSITORY / "deploy/Dockerfile").read_text("utf-8")

IMAGE = re.compile(r"\$\{(\w+_IMAGE):-([^}]+)\}")
"""An image that `.env` may name by digest."""

APART = ("figure_service",)
"""Parts of services that the deployment runs as processes of their own."""

FLOORS = {
    "nats": (2, 11, 1),
    "mongo": (8, 0, 17),
    "neo4j": (5, 26, 0),
    "milvusdb/milvus": (2, 6, 10),
}
"""The least versions without a published hole that matters here."""

OPENED_WITH = {
    "open_documents": {"DOCUMENTS_URL", "MONGO_DATABASE"},
    "open_graph": {"NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"},
    "open_vectors": {"MILVUS_URI", "MILVUS_TOKEN", "MILVUS_INDEX_TYPE"},
    "open_chat": {"OPENAI_API_KEY", "LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL"},
    "open_embedder": {
        "OPENAI_API_KEY",
        "EMBEDDING_API_KEY",
        "EMBEDDING_BASE_URL",
        "EMBEDDING_MODEL",
        "EMBEDDING_DIM",
    },
}
"""What a service's `main.py` opens, and the variables that takes."""

MODELS = ("open_chat", "open_embedder")


def secrets_of(name: str) -> dict[str, str]:
    """The files of secrets that a container is given: where they are mounted, and which they
    are.
    """
    secrets = ALL[name].get("secrets", ())
    pairs = [
        (secret, secret) if isinstance(secret, str) else (secret["target"], secret["source"])
        for secret in secrets
    ]
    return {
        target if target.startswith("/") else f"/run/secrets/{target}": source
        for target, source in pairs
    }


def environment(name: str) -> dict[str, str | None]:
    """The variables that a container is given; None for those of .env."""
    return ALL[name].get("environment") or {}


def settings_given(name: str) -> set[str]:
    """The settings that a container is given, whether as a variable or as a file."""
    return {
        variable.removesuffix("_FILE") if value else variable
        for variable, value in environment(name).items()
    }


def opened(service: str) -> set[str]:
    """What a service's wiring opens, but for a part of it that is a process of its own here."""
    wiring = "".join(
        path.read_text("utf-8")
        for path in (REPOSITORY / "services" / service).glob("*.py")
        if path.stem not in APART
    )
    implications = (
        {"open_vectors", "open_embedder"}
        if re.search(r"\bGenerationEmbedders\(", wiring)
        else set[str]()
    )
    return {name for name in OPENED_WITH if f"{name}(" in wiring} | implications


def test_there_are_the_five_services_and_the_four_servers() -> None:
    assert set(SERVICES) <= set(ALL)
    assert SERVERS == ["milvus", "mongo", "nats", "neo4j"]


@pytest.mark.parametrize("name", ALL)
def test_a_container_is_checked_limited_and_logs_within_bounds(name: str) -> None:
    container = ALL[name]
    assert (
        container["healthcheck"] == {"disable": True}
        if name in WITHOUT_PAGE
        else container["healthcheck"]["test"]
    )
    limits = container["deploy"]["resources"]["limits"]
    assert {"cpus", "memory"} <= set(limits)
    assert set(container["logging"]["options"]) == {"max-size", "max-file"}
    assert "no-new-privileges:true" in container["security_opt"]
    assert name == "cli" or container["restart"] in {"unless-stopped", "on-failure:5", "no"}


@pytest.mark.parametrize("name", OURS)
def test_a_program_of_ours_can_write_nothing_but_its_scratch(name: str) -> None:
    container = ALL[name]
    assert container["read_only"]
    assert container["cap_drop"] == ["ALL"]
    assert (container["build"]["context"], container["build"]["dockerfile"]) == (
        ".",
        "deploy/Dockerfile",
    )
    assert "volumes" not in container
    assert "privileged" not in container


def test_only_the_api_is_published_and_that_to_this_machine() -> None:
    ports = {name: container["ports"] for name, container in ALL.items() if "ports" in container}
    api = ["${API_ADDRESS:-127.0.0.1}:${API_PORT:-9621}:9621"]
    assert ports == {
        # One of the two: QUERY_REPLICAS=0 goes with the profile of the other.
        "query": api,
        "gateway": api,
        "grafana": ["127.0.0.1:${GRAFANA_PORT:-3000}:3000"],
    }
    assert not [
        name for name, container in ALL.items() if container.get("network_mode", "none") != "none"
    ]
    assert not [
        name
        for name, container in ALL.items()
        if {"pid", "ipc", "devices", "privileged"} & set(container)
    ]


def test_servers_have_no_way_out_and_a_service_only_for_its_models() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert {tuple(ALL[name]["networks"]) for name in (*SERVERS, "prometheus")} == {("inside",)}
    outside = {name for name in SERVICES if "outside" in ALL[name]["networks"]}
    assert outside == {name for name in SERVICES if opened(name) & set(MODELS)}


def test_figures_are_described_by_a_container_that_alone_has_the_model_and_a_way_to_it() -> None:
    assert ALL["chunker"]["networks"] == ["inside"]
    assert set(secrets_of("chunker").values()) == {"nats_url_chunker", "otlp_headers"}
    assert ALL["chunker"]["environment"]["FIGURE_DESCRIBER"] == "apart"
    assert set(compose.MODEL_OF_FIGURES) <= settings_given("chunker")
    assert not {name for name in settings_given("chunker") if "KEY" in name}
    assert ALL["figures"]["profiles"] == ["figures"]
    assert ALL["figures"]["networks"] == ["inside", "outside"]
    needed_secrets = {"nats_url_chunker", "documents_url", "llm_api_key", "vlm_llm_api_key"}
    assert set(secrets_of("figures").values()) == {*needed_secrets, "otlp_headers"}
    assert settings_given("extractor") & set(compose.MODEL_OF_FIGURES) <= settings_given("figures")
    of_orders = {"FIGURE_DESCRIBER", "VLM_MAX_FIGURES", *compose.MODEL_OF_FIGURES}
    assert of_orders <= settings_given("operator") & settings_given("cli")


def test_the_sender_of_webhooks_has_a_way_out_and_no_credentials_of_callers() -> None:
    assert ALL["webhooks"]["profiles"] == ["webhooks"]
    assert ALL["webhooks"]["networks"] == ["inside", "outside"]
    assert set(secrets_of("webhooks").values()) == {
        "nats_url_webhooks",
        "documents_url",
        "otlp_headers",
    }
    settings = settings_given("webhooks")
    assert "WEBHOOK_ALLOWED_NETWORKS" in settings
    assert OPENED_WITH["open_documents"] <= settings
    other_settings = (
        OPENED_WITH["open_graph"] | OPENED_WITH["open_vectors"] | OPENED_WITH["open_chat"]
    )
    assert not settings & (other_settings | OPENED_WITH["open_embedder"])
    assert "WEBHOOK_SENDER" in settings_given("query")


CALLERS = {"api_key", "api_keys", "auth_accounts", "token_secret"}
MODEL_KEYS = {"llm_api_key", "keyword_llm_api_key", "query_llm_api_key", "rerank_api_key"} | {
    "embedding_api_key"
}


def test_the_intake_is_given_the_bus_and_parsers_and_nothing_else() -> None:
    assert ALL["intake"]["profiles"] == ["intake"]
    assert set(secrets_of("intake").values()) == {"nats_url_operator", "otlp_headers"}
    settings = settings_given("intake")
    of_parsers = {name.upper() for name in ParserSettings.__annotations__} - {"KEEP_ORIGINALS"}
    assert of_parsers <= settings, "files are read as they are everywhere else"
    assert not settings & set[str]().union(*OPENED_WITH.values())


def test_apart_the_gateway_has_the_secrets_of_callers_and_the_query_service_those_of_models() -> (
    None
):
    gateway, questions, together = (
        set(secrets_of(name).values()) for name in ("gateway", "questions", "query")
    )
    assert gateway & (CALLERS | MODEL_KEYS) == CALLERS
    assert questions & (CALLERS | MODEL_KEYS) == MODEL_KEYS
    assert gateway & questions == {"documents_url", "neo4j_password", "questions_key"} | {
        "otlp_headers"
    }
    # Together they have what the one container has, and what they show each other.
    assert gateway | questions == together | {"questions_key", "nats_url_gateway"}
    assert not settings_given("gateway") & OPENED_WITH["open_chat"]
    assert "LIGHTRAG_API_KEY_FILE" not in ALL["questions"]["environment"]
    assert settings_given("gateway") | settings_given("questions") >= settings_given("query")


def test_apart_the_gateway_stands_for_the_query_service() -> None:
    assert {ALL[name]["profiles"][0] for name in ("gateway", "questions")} == {"apart"}
    assert ALL["query"]["deploy"]["replicas"] == "${QUERY_REPLICAS:-1}"
    assert ALL["gateway"]["networks"]["inside"] == {"aliases": ["query"]}
    assert ALL["gateway"]["environment"]["QUESTIONS_URL"] == "http://questions:9621"
    assert ALL["questions"]["command"][-1] == "lightstream_rag.services.query.main"
    assert ALL["gateway"]["command"] == ALL["query"]["command"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_told_where_everything_is_that_it_opens_and_nothing_else(service: str) -> None:
    settings = settings_given(service)
    assert "NATS_URL" in settings
    needed_settings = set[str]().union(*(OPENED_WITH[name] for name in opened(service)))
    assert needed_settings <= settings
    assert not settings & (set[str]().union(*OPENED_WITH.values()) - needed_settings)


def test_images_are_pinned_above_the_floors() -> None:
    for name in (*SERVERS, *MONITORING):
        match = IMAGE.fullmatch(ALL[name]["image"])
        assert match
        assert match[1] == f"{name.upper()}_IMAGE"
        image, tag = match[2].split(":")
        version = tuple(int(part) for part in re.findall(r"\d+", tag)[:3])
        assert len(version) == 3, f"{image}:{tag} names no exact version"
        assert version >= FLOORS.get(image, version)
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {
        "${PYTHON_IMAGE}",
        "dependencies",
        "scratch",
        "build",  # a stage of its own
    }
    base = re.search(r"^ARG PYTHON_IMAGE=(python:3\.11\.\d+-slim-\w+)$", DOCKERFILE, re.MULTILINE)
    assert base
    assert ALL["query"]["build"]["args"] == {"PYTHON_IMAGE": f"${{PYTHON_IMAGE:-{base[1]}}}"}


def test_the_image_has_the_project_s_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert {ALL[name]["image"] for name in OURS} == {f"lightstream:{project['version']}"}
    assert f'org.opencontainers.image.version="{project["version"]}"' in DOCKERFILE


def test_no_secret_stands_in_the_file_nor_in_an_environment() -> None:
    secret = re.compile(r"(PASSWORD|TOKEN|_KEY|_AUTH)$")
    for container in ALL:
        for name, value in environment(container).items():
            assert value is None or not secret.search(name), name
    assert "://" not in re.sub(r"(http|bolt)://[a-z0-9.]+(:\d+)?", "", TEXT)
    assert not re.findall(r"\$\{\w*(PASSWORD|TOKEN|KEY)\w*", TEXT)


@pytest.mark.parametrize("name", ALL)
def test_a_container_is_given_the_secrets_that_it_reads_and_no_other(name: str) -> None:
    secrets = secrets_of(name)
    files = {value for variable, value in environment(name).items() if variable.endswith("_FILE")}
    read_by_themselves = {
        "nats": {"/run/secrets/nats_passwords"},
        "mongo": {"/run/secrets/mongo_password"},
        "milvus": {"/milvus/configs/user.yaml"},
        "prometheus": {"/run/secrets/prometheus_key"},
    }
    assert set(secrets) == {value for value in files if value} | read_by_themselves.get(name, set())
    assert set(secrets.values()) <= set(COMPOSE["secrets"])
    if name in (*SERVICES, "figures", "webhooks"):
        user = "chunker" if name == "figures" else name
        assert secrets["/run/secrets/nats_url"] == f"nats_url_{user}"
    if name not in ("topology", "stores", "intake", "operator", "cli", "milvus"):
        assert not {"nats_url_operator", "milvus_root_token", "milvus_user.yaml"} & set(
            secrets.values()
        )


def test_a_service_starts_once_the_stores_are_prepared_and_those_once_they_answer() -> None:
    healthy = {name: {"condition": "service_healthy"} for name in SERVERS}
    assert ALL["topology"]["depends_on"] == {
        **healthy,
        "settings": {"condition": "service_completed_successfully"},
    }
    after_topology = {"topology": {"condition": "service_completed_successfully"}}
    assert ALL["stores"]["depends_on"] == after_topology
    after_stores = {"stores": {"condition": "service_completed_successfully"}}
    assert all(
        ALL[name]["depends_on"] == after_stores for name in (*SERVICES, "figures", "webhooks")
    )


def test_what_is_mounted_and_copied_exists() -> None:
    volumes = [
        volume.split(":")[0]
        for container in ALL.values()
        for volume in container.get("volumes", ())
    ]
    files = [volume for volume in volumes if volume.startswith(".")]
    assert {volume for volume in volumes if not volume.startswith(".")} == set(COMPOSE["volumes"])
    assert set(COMPOSE["volumes"]) == {*SERVERS, *MONITORING}
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for name in (*files, *(name for line in copies for name in line.split())):
        assert (REPOSITORY / name).exists(), name
    ignore_lines = (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    assert {f"!{name}" for line in copies for name in line.split()} == {
        line for line in ignore_lines if line.startswith("!")
    }


def test_the_manual_of_the_image_has_all_its_pages() -> None:
    stage = DOCKERFILE.partition(" AS manual\n")[2].partition("\nFROM ")[0]
    copies = re.findall(r"^COPY (.+) \S+$", stage, re.MULTILINE)
    sources = {REPOSITORY / name for line in copies for name in line.split()}
    missing = [
        page for page in manual.pages(REPOSITORY) if sources.isdisjoint({page, *page.parents})
    ]
    assert missing == []


def test_the_image_is_locked_and_runs_as_nobody_in_particular() -> None:
    assert "--require-hashes" in DOCKERFILE
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", DOCKERFILE, re.MULTILINE)
    assert set(re.findall(r"^ARG (\w+)", DOCKERFILE, re.MULTILINE)) == {
        "PYTHON_IMAGE",
        "SOURCE_DATE_EPOCH",
    }
    images = [stage.partition("\nFROM ")[0] for stage in DOCKERFILE.split("FROM scratch AS ")[1:]]
    assert [image.split()[0] for image in images] == ["services", "embedded"]
    assert ALL["query"]["build"]["target"] == "services"
    for image in images:
        # It has one layer and runs nothing: no shell is left to run it.
        assert re.findall(r"^(COPY|RUN|ADD) .*", image, re.MULTILINE) == ["COPY"]
        assert "\nUSER 10001:10001\n" in image and "\nHEALTHCHECK " in image
        # Without a shell a command is a list of words.
        commands = re.findall(r"CMD (.+)$", image, re.MULTILINE)
        assert all(command.startswith("[") for command in commands)
    commands = [ALL[name].get("command", []) for name in OURS]
    assert all(isinstance(words, list) and "sh" not in words for words in commands)


def test_git_and_the_image_s_builder_never_see_the_secrets() -> None:
    assert {".env", "/secrets/"} <= set((REPOSITORY / ".gitignore").read_text("utf-8").splitlines())
    assert (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()[1] == "*"


def test_an_empty_variable_is_the_same_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "LLM_BASE_URL",
        "LLM_API_KEY",
        "EMBEDDING_MODEL",
        "EMBEDDING_DIM",
        "PORT",
        "TOP_K",
        "MONGO_DATABASE",
    ):
        monkeypatch.setenv(name, "")
    assert not ExtractorSettings().has_llm
    assert not IndexerSettings().has_embedding_endpoint
    settings = QuerySettings()
    assert (settings.top_k, settings.mongo_database) == (40, "lightstream")
    assert GatewaySettings().port == 9621
