"""What docker compose is given: pinned, healthy, closed to the outside, without a secret, and fit for the services."""

import re
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts import permissions, subjects
from contracts.registry import PRODUCERS, service_of
from contracts.topology import CONSUMERS
from services.extractor.settings import ExtractorSettings
from services.indexer.settings import IndexerSettings
from services.query.settings import QuerySettings
from tests.architecture.sources import REPOSITORY, SERVICES

TEXT = (REPOSITORY / "docker-compose.yml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
ALL: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = (*SERVICES, "settings", "topology", "operator", "cli")
SERVERS = sorted(set(ALL) - set(OURS))
WITHOUT_PAGE = ("settings", "topology", "operator", "cli")
"""Programs without a health page: they end by themselves, or listen on no port."""
DOCKERFILE = (REPOSITORY / "deploy/Dockerfile").read_text("utf-8")

IMAGE = re.compile(r"\$\{(\w+_IMAGE):-([^}]+)\}")
"""An image that `.env` may name by digest."""

FLOORS = {"nats": (2, 11, 1), "mongo": (8, 0, 17), "neo4j": (5, 26, 0), "milvusdb/milvus": (2, 6, 10)}
"""The least versions without a published hole that matters here."""

OPENED_WITH = {
    "open_documents": {"DOCUMENTS_URL", "MONGO_DATABASE"},
    "open_graph": {"NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"},
    "open_vectors": {"MILVUS_URI", "MILVUS_TOKEN", "MILVUS_INDEX_TYPE"},
    "open_chat": {"OPENAI_API_KEY", "LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL"},
    "open_embedder": {"OPENAI_API_KEY", "EMBEDDING_API_KEY", "EMBEDDING_BASE_URL", "EMBEDDING_MODEL", "EMBEDDING_DIM"},
}
"""What a service's `main.py` opens, and the variables that takes."""

MODELS = ("open_chat", "open_embedder")


def required() -> set[str]:
    """The variables that compose refuses to start without."""
    return set(re.findall(r"\$\{(\w+):\?", TEXT))


def opened(service: str) -> set[str]:
    """What a service's wiring opens."""
    wiring = "".join(path.read_text("utf-8") for path in (REPOSITORY / "services" / service).glob("*.py"))
    followed = {"open_vectors", "open_embedder"} if re.search(r"\bGenerationEmbedders\(", wiring) else set[str]()
    return {name for name in OPENED_WITH if f"{name}(" in wiring} | followed


def test_there_are_the_five_services_and_the_four_servers() -> None:
    assert set(SERVICES) <= set(ALL)
    assert SERVERS == ["milvus", "mongo", "nats", "neo4j"]


@pytest.mark.parametrize("name", ALL)
def test_a_container_is_checked_limited_and_logs_within_bounds(name: str) -> None:
    container = ALL[name]
    assert container["healthcheck"] == {"disable": True} if name in WITHOUT_PAGE else container["healthcheck"]["test"]
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
    assert (container["build"]["context"], container["build"]["dockerfile"]) == (".", "deploy/Dockerfile")
    assert "volumes" not in container
    assert "privileged" not in container


def test_only_the_api_is_published_and_that_to_this_machine() -> None:
    published = {name: container["ports"] for name, container in ALL.items() if "ports" in container}
    assert published == {"query": ["${API_ADDRESS:-127.0.0.1}:${API_PORT:-9621}:9621"]}
    assert not [name for name, container in ALL.items() if container.get("network_mode", "none") != "none"]
    assert not [name for name, container in ALL.items() if {"pid", "ipc", "devices", "privileged"} & set(container)]


def test_servers_have_no_way_out_and_a_service_only_for_its_models() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert {tuple(ALL[name]["networks"]) for name in SERVERS} == {("inside",)}
    outside = {name for name in SERVICES if "outside" in ALL[name]["networks"]}
    assert outside == {name for name in SERVICES if opened(name) & set(MODELS)}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_told_where_everything_is_that_it_opens_and_nothing_else(service: str) -> None:
    given = set(ALL[service]["environment"])
    assert "NATS_URL" in given
    needed = set[str]().union(*(OPENED_WITH[name] for name in opened(service)))
    assert needed <= given
    assert not given & (set[str]().union(*OPENED_WITH.values()) - needed)


def test_images_are_pinned_above_the_floors() -> None:
    for name in SERVERS:
        named = IMAGE.fullmatch(ALL[name]["image"])
        assert named
        assert named[1] == f"{name.upper()}_IMAGE"
        image, tag = named[2].split(":")
        version = tuple(int(part) for part in re.findall(r"\d+", tag)[:3])
        assert len(version) == 3, f"{image}:{tag} names no exact version"
        assert version >= FLOORS[image]
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"${PYTHON_IMAGE}"}
    base = re.search(r"^ARG PYTHON_IMAGE=(python:3\.11\.\d+-slim-\w+)$", DOCKERFILE, re.MULTILINE)
    assert base
    assert ALL["query"]["build"]["args"] == {"PYTHON_IMAGE": f"${{PYTHON_IMAGE:-{base[1]}}}"}


def test_the_image_has_the_project_s_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert {ALL[name]["image"] for name in OURS} == {f"lightstream:{project['version']}"}


def test_no_secret_stands_in_the_files() -> None:
    secret = re.compile(r"(PASSWORD|TOKEN|_KEY|_AUTH)$")
    for container in ALL.values():
        for name, value in (container.get("environment") or {}).items():
            if secret.search(name):
                assert value is None or re.fullmatch(r"(neo4j/|root:|lightstream:)?\$\{\w+:\?[^}]+\}", value), name
    urls = re.findall(r"\w+://[^@\n]*@", TEXT)
    assert urls
    assert all(re.fullmatch(r"\w+://\w+:\$\{\w+:\?run deploy/make-env first\}@", url) for url in urls)


def test_a_service_starts_once_the_stores_are_prepared_and_those_once_they_answer() -> None:
    healthy = {name: {"condition": "service_healthy"} for name in SERVERS}
    assert ALL["topology"]["depends_on"] == {**healthy, "settings": {"condition": "service_completed_successfully"}}
    ready = {"topology": {"condition": "service_completed_successfully"}}
    assert all(ALL[name]["depends_on"] == ready for name in SERVICES)


def test_what_is_mounted_and_copied_exists() -> None:
    volumes = [volume.split(":")[0] for container in ALL.values() for volume in container.get("volumes", ())]
    files = [volume for volume in volumes if volume.startswith(".")]
    assert {volume for volume in volumes if not volume.startswith(".")} == set(COMPOSE["volumes"]) == set(SERVERS)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for name in (*files, *(name for line in copied for name in line.split())):
        assert (REPOSITORY / name).exists(), name
    kept = (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    assert {f"!{name}" for line in copied for name in line.split()} == {line for line in kept if line.startswith("!")}


def test_the_image_is_locked_and_runs_as_nobody_in_particular() -> None:
    assert "--require-hashes" in DOCKERFILE
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", DOCKERFILE, re.MULTILINE)
    assert re.findall(r"^ARG (\w+)", DOCKERFILE, re.MULTILINE) == ["PYTHON_IMAGE"]


def make_env(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a copy of `deploy/make-env`, which writes beside its own folder."""
    script = folder / "deploy" / "make-env"
    script.parent.mkdir(exist_ok=True)
    script.write_bytes((REPOSITORY / "deploy/make-env").read_bytes())
    (folder / "docker-compose.yml").write_text(TEXT, "utf-8")
    return subprocess.run(["sh", str(script)], capture_output=True, text=True, check=False)


def variables(file: Path) -> dict[str, str]:
    lines = [line for line in file.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_the_env_file_has_every_password_and_is_nobody_else_s_to_read(tmp_path: Path) -> None:
    made = make_env(tmp_path)
    file = tmp_path / ".env"
    found = variables(file)
    assert made.returncode == 0
    assert set(found) == required()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert all(re.fullmatch(r"k[0-9a-f]{48}", value) for value in found.values())
    assert len(set(found.values())) == len(found)
    assert not [value for value in found.values() if value in made.stdout + made.stderr]


def test_an_env_file_is_never_overwritten(tmp_path: Path) -> None:
    make_env(tmp_path)
    before = (tmp_path / ".env").read_text()
    again = make_env(tmp_path)
    assert (again.returncode, "is there already" in again.stderr) == (0, True)
    assert (tmp_path / ".env").read_text() == before


def test_an_older_env_file_is_given_what_is_new_and_told_what_reaches_no_container(tmp_path: Path) -> None:
    make_env(tmp_path)
    file = tmp_path / ".env"
    older = (
        file.read_text().replace("NATS_QUERY_PASSWORD", "NATS_SERVICES_PASSWORD").replace("#LLM_MODEL=", "LLM_MODEL=m")
    )
    file.write_text(f"{older}LLM_BASEURL=https://private.example")
    again = make_env(tmp_path)
    assert again.returncode == 1
    told = [line.split()[0] for line in again.stderr.splitlines() if "reaches no container" in line]
    assert told == ["LLM_BASEURL", "NATS_SERVICES_PASSWORD"]
    assert "private.example" not in again.stdout + again.stderr
    assert file.read_text().startswith(f"{older}LLM_BASEURL=https://private.example\nNATS_QUERY_PASSWORD=k")
    assert required() <= set(variables(file))


def test_what_the_env_file_offers_besides_is_read_by_somebody(tmp_path: Path) -> None:
    make_env(tmp_path)
    offered = set(re.findall(r"^#([A-Z_]+)=", (tmp_path / ".env").read_text(), re.MULTILINE))
    passed = {
        name for container in ALL.values() for name, value in container.get("environment", {}).items() if value is None
    }
    assert offered <= passed | set(re.findall(r"\$\{(\w+):-", TEXT))


def test_git_and_the_image_s_builder_never_see_the_env_file() -> None:
    assert ".env" in (REPOSITORY / ".gitignore").read_text("utf-8").splitlines()
    assert (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()[1] == "*"


def test_an_empty_variable_is_the_same_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "EMBEDDING_MODEL", "EMBEDDING_DIM", "PORT", "TOP_K", "MONGO_DATABASE"):
        monkeypatch.setenv(name, "")
    assert not ExtractorSettings().has_llm
    assert not IndexerSettings().has_embedding_endpoint
    settings = QuerySettings()
    assert (settings.port, settings.top_k, settings.mongo_database) == (9621, 40, "lightstream")


def test_the_users_of_the_bus_are_those_of_the_contracts() -> None:
    assert (REPOSITORY / "deploy/nats/users.conf").read_text("utf-8") == permissions.configuration()
    bus = (REPOSITORY / "deploy/nats/nats-server.conf").read_text("utf-8")
    assert 'include "users.conf"' in bus
    assert "sync_interval: always" in bus


def test_a_service_may_say_its_events_and_take_from_its_durables_and_may_change_neither() -> None:
    users = {user.name: user for user in permissions.USERS}
    assert {"operator", "publisher", *SERVICES} == set(users)
    for name in SERVICES:
        allowed = users[name].allowed
        said = {subject.rpartition(".")[2] for subject in allowed if subject.startswith("kb.v1.")}
        assert subjects.PROBE in allowed
        assert said == {event for event, producers in PRODUCERS.items() if name in producers}
        taken = {subject.rpartition(".")[2] for subject in allowed if ".CONSUMER.INFO." in subject}
        # Operators who use the API see every consumer, and read and remove dead letters.
        assert taken == {durable.name for durable in CONSUMERS if name == "query" or service_of(durable) == name}
        operates = {subject for grant in permissions.OPERATES for subject in grant.allowed} if name == "query" else ()
        allowed = tuple(subject for subject in allowed if subject not in operates)
        forbidden = r"\.(STREAM\.CREATE|UPDATE|DELETE|PURGE|RESET|PAUSE|SNAPSHOT|RESTORE)\.|GENERATIONS\.pointers"
        assert not [subject for subject in allowed if re.search(forbidden, subject)]
        made = {subject.partition(".*.")[2] for subject in allowed if ".CONSUMER.CREATE." in subject}
        taken_types = {wanted for durable in CONSUMERS if service_of(durable) == name for wanted in durable.filters}
        assert made == taken_types | {subjects.of_type("StageFailed")}
        denied = set(users[name].denied)
        assert {f"$JS.API.CONSUMER.CREATE.{durable.stream}.{durable.name}.>" for durable in CONSUMERS} <= denied


def pin_images(folder: Path, *arguments: str, digest: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of `deploy/pin-images`, with a registry that says this digest of every image."""
    if not (folder / ".env").exists():
        make_env(folder)
    docker = folder / "bin" / "docker"
    docker.parent.mkdir(exist_ok=True)
    docker.write_text(f"#!/bin/sh\necho '{digest}'\n")
    docker.chmod(0o755)
    script = folder / "deploy" / "pin-images"
    script.write_bytes((REPOSITORY / "deploy/pin-images").read_bytes())
    command, environ = ["sh", str(script), *arguments], {"PATH": f"{docker.parent}:/usr/bin:/bin"}
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_images_are_pinned_by_what_the_registry_says_and_the_check_tells_which_are_not(tmp_path: Path) -> None:
    digest = f"sha256:{'a' * 64}"
    unpinned = pin_images(tmp_path, "--check", digest=digest)
    assert (unpinned.returncode, len(unpinned.stderr.splitlines())) == (1, 5)
    before = variables(tmp_path / ".env")
    for _ in range(2):
        assert pin_images(tmp_path, digest=digest).returncode == 0
        images = {name: f"{image}@{digest}" for name, image in IMAGE.findall(TEXT)}
        assert variables(tmp_path / ".env") == before | images
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert pin_images(tmp_path, "--check", digest=digest).returncode == 0
    (tmp_path / "docker-compose.yml").write_text(TEXT.replace("nats:2", "nats:3"), "utf-8")
    stale = pin_images(tmp_path, "--check", digest=digest)
    assert (stale.returncode, stale.stderr.count("NATS_IMAGE")) == (1, 1)


def test_a_registry_that_names_no_digest_pins_nothing(tmp_path: Path) -> None:
    make_env(tmp_path)
    before = (tmp_path / ".env").read_text()
    refused = pin_images(tmp_path, digest="unauthorized")
    assert (refused.returncode, "no digest of" in refused.stderr) == (1, True)
    assert (tmp_path / ".env").read_text() == before
