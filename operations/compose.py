"""Checks `.env` of docker compose: finds variables that no container would get."""

from collections.abc import Mapping
from dataclasses import dataclass

from operations import configuration
from operations.bus_accounts import USERS

SERVERS = {
    "API_ADDRESS",
    "API_PORT",
    "QUERY_REPLICAS",
    "GRAFANA_PORT",
    "NATS_IMAGE",
    "MONGO_IMAGE",
    "NEO4J_IMAGE",
    "MILVUS_IMAGE",
    "POSTGRES_IMAGE",
    "PROMETHEUS_IMAGE",
    "GRAFANA_IMAGE",
    "PYTHON_IMAGE",
}
"""Variables that the docker-compose files read themselves.
tests/unit/deploy/test_compose_settings.py compares them with those.
"""

TELEMETRY = {
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SDK_DISABLED",
}
"""Variables of the OpenTelemetry SDK that docker-compose.yml passes on."""

_OWN_SERVERS = (
    "docker-compose.yml names its own servers and secrets: write docker-compose.override.yml to "
    "use others"
)
SET_BY_COMPOSE = {
    "HOST": "API_ADDRESS",
    "PORT": "API_PORT",
    **dict.fromkeys(
        (
            "NATS_URL",
            "NATS_API_PREFIX",
            "GRAPH_URL",
            "VECTORS_URL",
            "DOCUMENTS_URL",
            "MONGO_URI",
            "MONGO_DATABASE",
            "NEO4J_URI",
            "NEO4J_USERNAME",
            "NEO4J_DATABASE",
            "MILVUS_URI",
            "MILVUS_TOKEN",
            "VECTORS_TOKEN",
            "QDRANT_API_KEY",
            "MILVUS_SERVICES_TOKEN",
            "LIGHTSTREAM_API_URL",
            "NATS_URL_FILE",
            "DOCUMENTS_URL_FILE",
            "NEO4J_PASSWORD_FILE",
            "MILVUS_TOKEN_FILE",
            "MILVUS_SERVICES_TOKEN_FILE",
            "LLM_API_KEY_FILE",
            "EMBEDDING_API_KEY_FILE",
            "LIGHTRAG_API_KEY_FILE",
            "LIGHTSTREAM_API_KEYS_FILE",
            "AUTH_ACCOUNTS_FILE",
            "TOKEN_SECRET_FILE",
            "EXTRACT_LLM_API_KEY_FILE",
            "SUMMARY_LLM_API_KEY_FILE",
            "KEYWORD_LLM_API_KEY_FILE",
            "QUERY_LLM_API_KEY_FILE",
            "VLM_LLM_API_KEY_FILE",
            "RERANK_API_KEY_FILE",
            "OTEL_EXPORTER_OTLP_HEADERS_FILE",
        ),
        _OWN_SERVERS,
    ),
    "FIGURE_DESCRIBER": "COMPOSE_PROFILES=figures",
    "STORES_URL": "the file secrets/stores_url, with docker-compose.postgres.yml",
    "NEO4J_PASSWORD": "the file secrets/neo4j_password",
    "LIGHTRAG_API_KEY": "the file secrets/api_key",
    "LIGHTSTREAM_API_KEYS": "the file secrets/api_keys",
    "AUTH_ACCOUNTS": "the file secrets/auth_accounts",
    "TOKEN_SECRET": "the file secrets/token_secret",
}
"""Settings that have no effect in `.env`, because docker-compose.yml sets them, and what to do
instead.
"""

MODEL_OF_FIGURES = (
    "VLM_LLM_BINDING",
    "VLM_BINDING",
    "VLM_LLM_BASE_URL",
    "VLM_LLM_BINDING_HOST",
    "VLM_BASE_URL",
    "VLM_BINDING_HOST",
    "VLM_LLM_MODEL",
    "VLM_MODEL",
    "VLM_PROCESS_ENABLE",
)
"""Variables by which the chunker lists figures, which a container with a profile describes."""

_OF_THE_IMAGE = {"HOST": "0.0.0.0", "PORT": "9621"}  # noqa: S104
"""Variables that the image sets itself; they do not come from `.env`."""

RETIRED = {
    *(user.password_variable for user in USERS),
    "NATS_SERVICES_PASSWORD",
    "MONGO_ROOT_PASSWORD",
    "MONGO_PASSWORD",
    "MILVUS_PASSWORD",
    "MILVUS_SERVICES_PASSWORD",
}
"""Variables that older versions of docker-compose.yml read: they may stay in `.env`."""

_FOREIGN = ("PYTHON", "COMPOSE_", "DOCKER_", "BUILDKIT_", "BUILDX_", "LC_")
_OF_EVERY_CONTAINER = {
    "PATH",
    "HOME",
    "HOSTNAME",
    "LANG",
    "TERM",
    "PWD",
    "SHLVL",
    "_",
    "GPG_KEY",
    "TIKTOKEN_CACHE_DIR",
    "CONTAINER",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
}


@dataclass(frozen=True)
class DroppedVariables:
    """Variables that no container gets, each with what may be meant. Nothing starts while there are
    `mistakes`.
    """

    mistakes: dict[str, str]
    unused: list[str]


def dropped_variables(environ: Mapping[str, str]) -> DroppedVariables:
    """Compare the variables of `.env`, as a container has them that is given nothing else, with
    what is passed on.
    """
    known_names = configuration.known_names() | SERVERS | TELEMETRY
    given_variables = {
        name: value for name, value in environ.items() if value and name not in SERVERS | TELEMETRY
    }
    mistakes = {
        name: instead
        for name, instead in SET_BY_COMPOSE.items()
        if name in given_variables and given_variables[name] != _OF_THE_IMAGE.get(name)
    }
    mistakes |= {
        name: meaning
        for name, meaning in configuration.unread(given_variables).items()
        if name not in RETIRED
    }
    mistakes |= _without_describer(environ, given_variables)
    strange_names = [
        name
        for name in given_variables
        if name.upper() not in known_names and name not in mistakes and not _foreign(name)
    ]
    # OPENAI_BASEURL: a slip in a name sends documents to another endpoint than the one that was
    # meant.
    near = {
        name: configuration.closest(name.upper(), known_names)
        for name in strange_names
        if name not in RETIRED
    }
    mistakes |= {name: instead for name, instead in near.items() if instead}
    return DroppedVariables(
        dict(sorted(mistakes.items())), sorted(set(strange_names) - set(mistakes))
    )


def _without_describer(
    environ: Mapping[str, str], given_variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables that name a model of figures where no container asks it."""
    profiles = environ.get("COMPOSE_PROFILES", "").split(",")
    is_off = given_variables.get("VLM_PROCESS_ENABLE", "").lower() in ("false", "0", "no", "off")
    if is_off or "figures" in map(str.strip, profiles):
        return {}
    return {
        name: "with COMPOSE_PROFILES=figures, for the container that asks the model"
        for name in MODEL_OF_FIGURES
        if name in given_variables
    }


def _foreign(name: str) -> bool:
    return name.upper() in _OF_EVERY_CONTAINER or name.upper().startswith(_FOREIGN)
