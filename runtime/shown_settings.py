"""Settings as people see them: value, source and meaning, and never a secret."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from runtime.environment_settings import EnvironmentSettings
from runtime.errors import ConfigurationError
from runtime.models.roles import ROLES
from runtime.settings import IN_ONE_DATABASE
from runtime.variables import Given, is_secret, secret_files, variables, without_secrets

DEFAULT = "default"
HIDDEN = "(set, not shown)"
NONE = "(none)"

MEANINGS = {
    "neo4j_username": "user of the graph",
    "neo4j_password": "its password",
    "neo4j_database": "its database",
    "milvus_token": "`user:password` or a key of the vectors' server",
    "llm_model": "the language model",
    "llm_api_key": "its key",
    "embedding_api_key": "its key",
    "host": "where the health pages and the API listen",
    "log_level": "DEBUG, INFO, WARNING, ERROR or CRITICAL",
    "top_k": "entities and relations searched for",
    "chunk_top_k": "passages searched for, and kept in the context",
    "max_entity_tokens": "tokens of entities in the context",
    "max_relation_tokens": "tokens of relations in the context",
    "max_total_tokens": "tokens of the whole context",
    "cosine_threshold": "hits at or below this similarity are left out",
    "kg_chunk_pick_method": (
        "how passages behind entities and relations are chosen: VECTOR or WEIGHT"
    ),
    "min_rerank_score": "passages that the reranker scores lower, from 0 to 1, are left out",
    "rerank_binding": (
        "whose form reranking has: cohere, jina, aliyun, voyage, nvidia, huggingface; empty: none"
    ),
    "rerank_model": "the reranker",
    "rerank_binding_api_key": "its key",
    "rerank_by_default": "whether questions are reranked that do not say",
    "webui_description": "what pages say of this deployment",
    "related_chunk_number": "passages that the first entity or relation may bring",
}
"""Meanings of settings that have no description of their own."""


@dataclass(frozen=True)
class ShownSetting:
    """One setting. `source` is the variable it comes from, `default`, or what set it."""

    of: str
    names: tuple[str, ...]
    value: str
    source: str
    meaning: str


def shown_settings(
    groups: Mapping[str, type[EnvironmentSettings]],
    environ: Mapping[str, str],
    stack_settings: Mapping[str, str],
    setter: str,
) -> Iterator[ShownSetting]:
    """Every setting of these groups, each once; `stack_settings` are variables that `setter` gives,
    whatever `environ` says.
    """
    for of, group in groups.items():
        files: dict[str, Given] = {}
        with suppress(ConfigurationError):  # a file that cannot be read is told as a fault
            files = secret_files(group, environ)
        upper = {key.upper(): value for key, value in environ.items() if value}
        for name, field in group.model_fields.items():
            if name in group.__annotations__:
                yield _shown(
                    of,
                    name,
                    field,
                    files.get(name) or _named(_variables(name, field), upper),
                    stack_settings,
                    setter,
                )


def _variables(name: str, field: FieldInfo) -> tuple[str, ...]:
    """Return the variables that set a setting: a store without an address is in STORES_URL's."""
    own_variables = variables(name, field)
    return (*own_variables, "STORES_URL") if name in IN_ONE_DATABASE else own_variables


def _named(names: tuple[str, ...], upper: Mapping[str, str]) -> Given | None:
    return next((Given(name, upper[name]) for name in names if name in upper), None)


def _shown(
    of: str,
    name: str,
    field: FieldInfo,
    given_value: Given | None,
    stack_settings: Mapping[str, str],
    setter: str,
) -> ShownSetting:
    names = variables(name, field)
    set_by = next((variable for variable in names if variable in stack_settings), "")
    default = (
        field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
    )
    default = "" if default is None else default
    value = (
        stack_settings[set_by] if set_by else given_value.content if given_value else str(default)
    )
    # An address may be shown without its password even where the whole is kept as a secret.
    secret = is_secret(name, field) and "://" not in str(default)
    source = setter if set_by else given_value.variable if given_value else DEFAULT
    return ShownSetting(
        of,
        names,
        _safe(value, secret),
        source,
        field.description or MEANINGS.get(name) or _meaning_for_role(name),
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
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in value
    )
