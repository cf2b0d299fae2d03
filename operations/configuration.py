"""Every setting with its value, where that comes from and what it means; and what in an environment
nobody reads.
"""

import difflib
import re
from collections.abc import Iterator, Mapping

from embedded import service_settings
from operations import lightrag_options
from operations.moving import lightrag_stores
from operations.query_service import QueryServiceSettings
from operations.settings import CommandSettings
from runtime.environment_settings import EnvironmentSettings, unusable
from runtime.errors import ConfigurationError
from runtime.shown_settings import ShownSetting, shown_settings
from runtime.variables import FILE, is_secret, variables

SETTINGS: dict[str, type[EnvironmentSettings]] = {
    **service_settings.SERVICE_SETTINGS,
    "commands over HTTP": QueryServiceSettings,
    "the command line": CommandSettings,
}

LIGHTRAG_VARIABLES = {
    "AZURE_OPENAI_ENDPOINT": "LLM_BASE_URL",
    "AZURE_OPENAI_API_KEY": "LLM_API_KEY",
    "AZURE_EMBEDDING_ENDPOINT": "EMBEDDING_BASE_URL",
    "AZURE_EMBEDDING_API_KEY": "EMBEDDING_API_KEY",
    "GEMINI_API_KEY": "LLM_API_KEY or EMBEDDING_API_KEY",
    "ENABLE_LLM_CACHE_FOR_EXTRACT": "nothing: what a model extracted is always kept",
    "WORKING_DIR": "the option --data of `lightstream up`",
    "INPUT_DIR": "`lightstream add` with a path",
    "SSL": "a proxy with TLS in front of the API",
    "SSL_CERTFILE": "a proxy with TLS in front of the API",
    "SSL_KEYFILE": "a proxy with TLS in front of the API",
    "LIGHTRAG_KV_STORAGE": "DOCUMENTS_URL, or STORES_URL",
    "POSTGRES_MAX_CONNECTIONS": "STORES_POOL_SIZE",
    "LIGHTRAG_DOC_STATUS_STORAGE": "DOCUMENTS_URL, or STORES_URL",
    "LIGHTRAG_GRAPH_STORAGE": "GRAPH_URL, or STORES_URL",
    "LIGHTRAG_VECTOR_STORAGE": "VECTORS_URL, or STORES_URL",
    **dict.fromkeys(
        lightrag_stores.VARIABLES, "STORES_URL, or `lightstream up --stores` with this file"
    ),
    "MONGODB_WORKSPACE": "WORKSPACE",
    "NEO4J_WORKSPACE": "WORKSPACE",
    "MILVUS_WORKSPACE": "WORKSPACE",
    "QDRANT_WORKSPACE": "WORKSPACE",
    "QDRANT_URL": "VECTORS_URL, as qdrant://host:6333 or qdrant+https://host:6333",
    "MILVUS_USER": "MILVUS_TOKEN",
    "MILVUS_PASSWORD": "MILVUS_TOKEN",
}
"""Variables of LightRAG that mean nothing here, and what does instead."""

SETTING_LIKE = re.compile(
    r"(LIGHTRAG|LIGHTSTREAM|LLM|EMBEDDING|RERANK|CHUNK|SUMMARY|ENTITY|EXTRACT|KEYWORD|VLM|TOKEN|AUTH|LOGIN|NEO4J|MILVUS"
    r"|POSTGRES|STORES|GRAPH|VECTORS|QDRANT|REDIS|MEMGRAPH|NEBULA|OPENSEARCH|AZURE_OPENAI|AZURE_EMBEDDING|LANGFUSE|VLLM"
    r"|MONGO|MONGODB|OLLAMA|WEBUI|MAX|MIN_RERANK|RATE_LIMIT|FORCE_LLM|USER_PROMPT|ENABLE)_\w+"
    r"|TOP_K|TIMEOUT|VERBOSE|JWT_ALGORITHM|WHITELIST_PATHS|CORS_ORIGINS|COSINE_THRESHOLD"
)
"""Names that LightRAG or this project might read."""


def settings(
    environ: Mapping[str, str], stack_settings: Mapping[str, str], setter: str
) -> Iterator[ShownSetting]:
    """Every setting; `stack_settings` are variables that `setter` gives to its services whatever
    the environment says.
    """
    return shown_settings(SETTINGS, environ, stack_settings, setter)


def faults() -> list[str]:
    """Return why services and commands cannot start with this process's environment; no secret is
    in it.
    """
    faults = service_settings.faults() + unusable([CommandSettings])
    return list(dict.fromkeys(fault.sentence for fault in faults))


def contradictions() -> list[str]:
    """Return settings that have no effect or contradict each other."""
    contradictory: list[str] = []
    for group in SETTINGS.values():
        try:
            contradictory += group().contradictions
        except ConfigurationError:
            continue
    return list(dict.fromkeys(contradictory))


def unread(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that look like settings and are read by nobody, with what may be meant."""
    settings_names = known_names()
    names = {name: name.upper() for name in environ if environ[name]}
    strange = {
        name: upper
        for name, upper in names.items()
        if upper not in settings_names and _looks_like_setting(upper)
    }
    return {name: _meant(upper, settings_names) for name, upper in sorted(strange.items())}


def known_names() -> set[str]:
    """The variables of all settings."""
    fields = [item for group in SETTINGS.values() for item in group.model_fields.items()]
    names = {name for key, field in fields for name in variables(key, field)}
    return names | {
        f"{name}{FILE}"
        for key, field in fields
        if is_secret(key, field)
        for name in variables(key, field)
    }


def _looks_like_setting(name: str) -> bool:
    return name in LIGHTRAG_VARIABLES or bool(
        SETTING_LIKE.fullmatch(name) or lightrag_options.substitute(name)
    )


def _meant(name: str, known_settings: set[str]) -> str:
    """Return what to set instead of a variable that is not read, empty where that is not known."""
    return (
        LIGHTRAG_VARIABLES.get(name)
        or lightrag_options.substitute(name)
        or closest(name, known_settings)
    )


def closest(name: str, candidates: set[str]) -> str:
    """The variable that may be meant, with a question mark; empty when none is near."""
    near = difflib.get_close_matches(name, sorted(candidates), 1, 0.85)
    return f"{near[0]}?" if near else ""
