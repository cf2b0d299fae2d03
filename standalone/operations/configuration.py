"""Every setting with its value, where that comes from and what it means; and what in an environment nobody reads."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from runtime.errors import ConfigurationError
from runtime.models.roles import ROLES, RoleSettings
from runtime.settings import Settings, variables, without_secrets
from services.chunker.settings import ChunkerSettings
from services.extractor.settings import ExtractorSettings
from services.indexer.settings import IndexerSettings
from services.merger.settings import MergerSettings
from services.query.api.auth.config import auth_config
from services.query.api.auth.settings import AccessSettings
from services.query.settings import QuerySettings
from standalone.operations.settings import CommandSettings

SETTINGS: dict[str, type[Settings]] = {
    "every service": Settings,
    "models of single roles": RoleSettings,
    "the chunker": ChunkerSettings,
    "the extractor": ExtractorSettings,
    "the merger": MergerSettings,
    "the indexer": IndexerSettings,
    "the query service": QuerySettings,
    "access to the API": AccessSettings,
    "the command line": CommandSettings,
}

DEFAULT = "default"
HIDDEN, NONE = "(set, not shown)", "(none)"

LIGHTRAG_VARIABLES = {
    "LLM_BINDING": "every model is called by OpenAI's protocol: LLM_BASE_URL",
    "LLM_BINDING_HOST": "LLM_BASE_URL",
    "LLM_BINDING_API_KEY": "LLM_API_KEY",
    "EMBEDDING_BINDING": "every model is called by OpenAI's protocol: EMBEDDING_BASE_URL",
    "EMBEDDING_BINDING_HOST": "EMBEDDING_BASE_URL",
    "EMBEDDING_BINDING_API_KEY": "EMBEDDING_API_KEY",
    "WORKING_DIR": "the option --data of `lightstream up`",
    "INPUT_DIR": "`lightstream add` with a path",
    "SSL": "a proxy with TLS in front of the API",
    "SSL_CERTFILE": "a proxy with TLS in front of the API",
    "SSL_KEYFILE": "a proxy with TLS in front of the API",
    "LIGHTRAG_KV_STORAGE": "DOCUMENTS_URL",
    "LIGHTRAG_DOC_STATUS_STORAGE": "DOCUMENTS_URL",
    "LIGHTRAG_GRAPH_STORAGE": "NEO4J_URI",
    "LIGHTRAG_VECTOR_STORAGE": "MILVUS_URI",
    "MONGODB_WORKSPACE": "WORKSPACE",
    "NEO4J_WORKSPACE": "WORKSPACE",
    "MILVUS_WORKSPACE": "WORKSPACE",
    "MILVUS_USER": "MILVUS_TOKEN",
    "MILVUS_PASSWORD": "MILVUS_TOKEN",
}
"""Variables of LightRAG that mean nothing here, and what does instead."""

MEANINGS = {
    "neo4j_username": "user of the graph",
    "neo4j_password": "its password",
    "neo4j_database": "its database",
    "milvus_token": "`user:password` or a key of the vectors' server",
    "llm_base_url": "the language model's endpoint, of OpenAI's kind",
    "llm_model": "the language model",
    "llm_api_key": "its key",
    "embedding_base_url": "the embedding model's endpoint, of OpenAI's kind",
    "embedding_api_key": "its key",
    "host": "where the health pages and the API listen",
    "log_level": "DEBUG, INFO, WARNING, ERROR or CRITICAL",
    "summary_language": "language of what the model writes",
    "top_k": "entities and relations searched for",
    "chunk_top_k": "passages searched for, and kept in the context",
    "max_entity_tokens": "tokens of entities in the context",
    "max_relation_tokens": "tokens of relations in the context",
    "max_total_tokens": "tokens of the whole context",
    "cosine_threshold": "hits at or below this similarity are left out",
    "kg_chunk_pick_method": "how passages behind entities and relations are chosen: VECTOR or WEIGHT",
    "min_rerank_score": "passages that the reranker scores lower are left out",
    "rerank_binding": "whose protocol the reranker speaks: cohere, jina or aliyun; empty: none",
    "rerank_model": "the reranker",
    "rerank_binding_api_key": "its key",
    "rerank_by_default": "whether questions are reranked that do not say",
    "webui_description": "what pages say of this deployment",
    "related_chunk_number": "passages that the first entity or relation may bring",
}
"""Meanings of settings that have no description of their own."""

SETTING_LIKE = re.compile(
    r"(LIGHTRAG|LIGHTSTREAM|LLM|EMBEDDING|RERANK|CHUNK|SUMMARY|ENTITY|EXTRACT|KEYWORD|VLM|TOKEN|AUTH|LOGIN|NEO4J|MILVUS"
    r"|MONGO|MONGODB|OLLAMA|WEBUI|MAX|MIN_RERANK|RATE_LIMIT|FORCE_LLM|USER_PROMPT|ENABLE)_\w+"
    r"|TOP_K|TIMEOUT|VERBOSE|JWT_ALGORITHM|WHITELIST_PATHS|CORS_ORIGINS|COSINE_THRESHOLD"
)
"""Names that LightRAG or this project might read."""


@dataclass(frozen=True)
class ShownSetting:
    """One setting. `source` is the variable it comes from, `default`, or what set it."""

    of: str
    names: tuple[str, ...]
    value: str
    source: str
    meaning: str


def settings(environ: Mapping[str, str], own: Mapping[str, str], setter: str) -> Iterator[ShownSetting]:
    """Every setting; `own` are variables that `setter` gives to its services whatever the environment says."""
    for of, group in SETTINGS.items():
        for name, field in group.model_fields.items():
            if name in group.__annotations__:
                yield _shown(of, name, field, environ, own, setter)


def faults(own: Mapping[str, str]) -> list[str]:
    """Return why services cannot start with this process's environment; no secret is in it."""
    found: list[str] = []
    for group in SETTINGS.values():
        try:
            group()
        except ValidationError as error:
            found += [f"{'.'.join(map(str, fault['loc'])).upper()}: {fault['msg']}" for fault in error.errors()]
    try:
        auth_config(AccessSettings(host=own["HOST"]) if "HOST" in own else AccessSettings())
    except ConfigurationError as error:
        found.append(str(error))
    except ValidationError:
        pass  # said above
    return list(dict.fromkeys(line.removeprefix(": ") for line in found))


def contradictions() -> list[str]:
    """Return settings that have no effect or contradict each other."""
    found: list[str] = []
    for group in SETTINGS.values():
        try:
            found += group().contradictions
        except ValidationError:
            continue
    return list(dict.fromkeys(found))


def unread(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that look like settings and are read by nobody, with what may be meant."""
    known = known_names()
    found = {name: name.upper() for name in environ if environ[name]}
    strange = {name: upper for name, upper in found.items() if upper not in known and _looks_like_setting(upper)}
    return {name: LIGHTRAG_VARIABLES.get(upper) or closest(upper, known) for name, upper in sorted(strange.items())}


def known_names() -> set[str]:
    """The variables of all settings."""
    fields = (item for group in SETTINGS.values() for item in group.model_fields.items())
    return {name for key, field in fields for name in variables(key, field)}


def _looks_like_setting(name: str) -> bool:
    return name in LIGHTRAG_VARIABLES or bool(SETTING_LIKE.fullmatch(name))


def closest(name: str, known: set[str]) -> str:
    """The variable that may be meant, with a question mark; empty when none is near."""
    near = difflib.get_close_matches(name, sorted(known), 1, 0.85)
    return f"{near[0]}?" if near else ""


def _shown(
    of: str, name: str, field: FieldInfo, environ: Mapping[str, str], own: Mapping[str, str], setter: str
) -> ShownSetting:
    names = variables(name, field)
    upper = {key.upper(): value for key, value in environ.items() if value}
    given = next((variable for variable in names if variable in upper), "")
    set_by = next((variable for variable in names if variable in own), "")
    default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
    default = "" if default is None else default
    value = own[set_by] if set_by else upper[given] if given else str(default)
    # An address may be shown without its password even where the whole is kept as a secret.
    secret = SecretStr in (field.annotation, *get_args(field.annotation)) and "://" not in str(default)
    source = setter if set_by else given or DEFAULT
    return ShownSetting(
        of, names, _safe(value, secret), source, field.description or MEANINGS.get(name) or _meaning_for_role(name)
    )


def _meaning_for_role(name: str) -> str:
    """Return the meaning of a role's own setting: which general one it replaces."""
    role, _, general = name.partition("_")
    return f"{general.upper()} for the role {role} alone" if role in ROLES else ""


def _safe(value: str, secret: bool) -> str:
    if not value:
        return NONE
    if secret:
        return HIDDEN
    try:
        parts = urlsplit(value)
        return _printable(without_secrets(value) if "@" in parts.netloc or parts.query else value)
    except ValueError:
        return HIDDEN


def _printable(value: str) -> str:
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in value)
