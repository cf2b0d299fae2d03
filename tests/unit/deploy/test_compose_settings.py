"""docker-compose.yml passes on every setting to whoever reads it, and nothing of .env is dropped in
silence.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from operations import compose, configuration
from runtime.environment_settings import EnvironmentSettings
from runtime.provider_settings import ProviderSettings
from runtime.settings import Settings
from runtime.variables import variables
from tests.architecture.sources import REPOSITORY, SERVICES
from tests.unit.deploy.test_deploy import ALL, opened, settings_given
from tests.unit.deploy.test_make_env import make_env

OPENED_WITH = {
    "documents_url": "open_documents",
    "mongo_": "open_documents",
    "neo4j_": "open_graph",
    "milvus_": "open_vectors",
    "llm_": "open_chat",
    "embedding_": "open_embedder",
    "azure_openai_": "open_chat",
    "ollama_llm_": "open_chat",
    "azure_embedding_": "open_embedder",
    "ollama_embedding_": "open_embedder",
    "openai_": "models",
    "aws_": "models",
    "azure_": "models",
    "google_": "models",
}
"""How a shared setting begins that only those read who open this. Any other is read by every
service.
"""

OF_THE_IMAGE = {"HOST", "PORT"}
INSTEAD = {
    "MONGO_URI": "DOCUMENTS_URL",
    "STORES_URL": "DOCUMENTS_URL",
    "GRAPH_URL": "NEO4J_URI",
    "VECTORS_URL": "MILVUS_URI",
    "VECTORS_TOKEN": "MILVUS_TOKEN",
    "QDRANT_API_KEY": "MILVUS_TOKEN",
}
"""Other names of what docker-compose.yml sets itself, under the first."""

PLAIN = {
    "PATH": "/usr/bin",
    "HOME": "/tmp",
    "HOSTNAME": "a",
    "PYTHON_VERSION": "3",
    "HOST": "0.0.0.0",
    "PORT": "9621",
}
"""What a container has that is given nothing."""


OR_IN_A_FILE = {
    f"{name}_API_KEY_FILE"
    for name in (
        "LLM",
        "EXTRACT_LLM",
        "SUMMARY_LLM",
        "KEYWORD_LLM",
        "QUERY_LLM",
        "VLM_LLM",
        "EMBEDDING",
        "RERANK",
    )
} | {"OTEL_EXPORTER_OTLP_HEADERS_FILE"}
"""Files that count where the variable is not set."""


def of_group(group: type[EnvironmentSettings]) -> dict[str, tuple[str, ...]]:
    """A group's own settings, each with its variables."""
    fields = group.model_fields.items()
    return {name: variables(name, field) for name, field in fields if name in group.__annotations__}


def read_by(service: str) -> set[str]:
    """The variables a service reads."""
    of_all = of_group(Settings) | of_group(ProviderSettings)
    opens = opened(service)
    opens = {*opens, *({"models"} if {"open_chat", "open_embedder"} & set(opens) else ())}
    read = {
        variable
        for name, variables in of_all.items()
        if (
            need := next(
                (needs for start, needs in OPENED_WITH.items() if name.startswith(start)), None
            )
        )
        is None
        or need in opens
        for variable in variables
    }
    groups = ["models of single roles"] if "open_chat" in opens else []
    groups += ["summaries of descriptions"] if service in ("merger", "query") else []
    groups += [f"the {service}", "the query service" if service == "query" else ""]
    groups += ["the gateway", "webhooks", "access to the API"] if service == "query" else []
    own_settings = {
        v
        for of in groups
        if of in configuration.SETTINGS
        for vs in of_group(configuration.SETTINGS[of]).values()
        for v in vs
    }
    return read | own_settings


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_reaches_the_service_that_reads_it(service: str) -> None:
    missing_names = read_by(service) - settings_given(service) - OF_THE_IMAGE - set(INSTEAD)
    assert missing_names == set(), "add them to docker-compose.yml"


@pytest.mark.parametrize("name", ["topology", "cli"])
def test_commands_are_given_every_setting_that_lightstream_config_lists(name: str) -> None:
    known_names = configuration.known_names()
    files = {f"{name}_FILE" for name in known_names} & known_names
    assert known_names - files - OF_THE_IMAGE - set(INSTEAD) - settings_given(name) == set()


def test_an_endpoint_is_passed_on_wherever_its_key_is() -> None:
    for name, container in ALL.items():
        variables = set(container.get("environment") or ())
        for key, address in (
            ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
            ("LLM_API_KEY", "LLM_BASE_URL"),
        ):
            assert key not in variables or address in variables, name


def test_what_is_not_set_is_passed_on_as_it_is() -> None:
    """A value in the file beside a setting would win over .env."""
    fixed_variables = {
        variable
        for name in (*SERVICES, "topology", "cli")
        for variable, value in ALL[name]["environment"].items()
        if value is not None and not re.fullmatch(r"\$\{(\w+):\?[^}]+\}", value)
    }
    in_a_file = {name.removesuffix("_FILE") for name in fixed_variables if name not in OR_IN_A_FILE}
    assert fixed_variables | in_a_file | OF_THE_IMAGE | set(INSTEAD) == set(compose.SET_BY_COMPOSE)


def test_a_model_of_figures_goes_with_the_container_that_asks_it() -> None:
    model = {**PLAIN, "VLM_MODEL": "eyes"}
    assert "COMPOSE_PROFILES=figures" in compose.dropped_variables(model).mistakes["VLM_MODEL"]
    for more in ({"COMPOSE_PROFILES": "apart, figures"}, {"VLM_PROCESS_ENABLE": "false"}):
        assert compose.dropped_variables({**model, **more}).mistakes == {}


def test_the_variables_of_the_files_are_those_that_the_check_knows() -> None:
    files = REPOSITORY.glob("docker-compose*.yml")
    texts = "".join(file.read_text("utf-8") for file in files)
    assert set(re.findall(r"\$\{(\w+)", texts)) == compose.SERVERS
    telemetry = {
        name for name in ALL["cli"]["environment"] if name.startswith("OTEL_")
    } - OR_IN_A_FILE
    assert telemetry == compose.TELEMETRY


def test_the_check_comes_before_everything_and_sees_what_env_says_and_nothing_else() -> None:
    check = ALL["settings"]
    assert check["command"] == ["lightstream", "config", "--compose"]
    assert check["env_file"] == [{"path": ".env", "required": False}]
    assert "environment" not in check
    assert check["network_mode"] == "none"
    assert ALL["topology"]["depends_on"]["settings"] == {
        "condition": "service_completed_successfully"
    }


@pytest.mark.parametrize(
    ("name", "meant_name"),
    [
        ("LLM_BASEURL", "LLM_BASE_URL?"),
        ("OPENAI_BASEURL", "OPENAI_BASE_URL?"),
        ("OPENAI_API_BASE_URL", "OPENAI_BASE_URL?"),
        ("EMBEDING_MODEL", "EMBEDDING_MODEL?"),
        ("AZURE_OPENAI_ENDPOINT", "LLM_BASE_URL"),
        ("WORKSPACES", "WORKSPACE?"),
        ("LLM_API_KEY_FIL", "LLM_API_KEY_FILE?"),
        ("LIGHTRAG_API_KEY", "the file secrets/api_key"),
        (
            "NATS_URL",
            (
                "docker-compose.yml names its own servers and secrets: write "
                "docker-compose.override.yml to use others"
            ),
        ),
    ],
)
def test_a_slip_in_a_name_is_told(name: str, meant_name: str) -> None:
    assert compose.dropped_variables({**PLAIN, name: "x"}).mistakes == {name: meant_name}


def test_what_is_nobody_s_business_is_told_and_stops_nothing() -> None:
    result = compose.dropped_variables(
        {**PLAIN, "OF_MY_BACKUP": "x", "COMPOSE_PROFILES": "tools", "NATS_SERVICES_PASSWORD": "x"}
    )
    assert result == compose.DroppedVariables({}, ["NATS_SERVICES_PASSWORD", "OF_MY_BACKUP"])


def test_where_the_api_listens_has_names_of_its_own() -> None:
    result = compose.dropped_variables({**PLAIN, "HOST": "10.0.0.1", "PORT": "80"})
    assert result.mistakes == {"HOST": "API_ADDRESS", "PORT": "API_PORT"}


def test_what_make_env_writes_and_every_setting_passes(tmp_path: Path) -> None:
    make_env(tmp_path)
    lines = [line.removeprefix("#") for line in (tmp_path / ".env").read_text("utf-8").splitlines()]
    offered_settings = {
        line.partition("=")[0]: "1" for line in lines if re.match(r"[A-Z_]+=", line)
    }
    all_settings = dict.fromkeys(configuration.known_names() - set(compose.SET_BY_COMPOSE), "1")
    assert compose.dropped_variables(
        {**PLAIN, **offered_settings, **all_settings, "COMPOSE_PROFILES": "figures"}
    ) == compose.DroppedVariables({}, [])


def test_the_command_ends_with_code_1_and_names_the_variable() -> None:
    command = [str(Path(sys.executable).with_name("lightstream")), "config", "--compose"]
    for environment, code in (
        ({"LLM_BASEURL": "https://private.example"}, 1),
        ({"LLM_BASE_URL": "https://p.example"}, 0),
    ):
        ran = subprocess.run(
            command, env={**PLAIN, **environment}, capture_output=True, text=True, check=False
        )
        assert ran.returncode == code, ran.stderr
        assert ("LLM_BASEURL: here LLM_BASE_URL?" in ran.stdout) == bool(code)
        assert "private.example" not in ran.stdout + ran.stderr
