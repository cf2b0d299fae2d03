"""Language models by role: a setting of a role's own goes before the general one, under LightRAG's
names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic import AliasChoices, Field, SecretStr, field_validator

from runtime.models.bindings import LLM_BINDINGS, Connection, binding_of, own_address
from runtime.models.connections import (
    address_of,
    entra_identity,
    key_of,
    server_of,
    vertex_project,
)
from runtime.models.limits import Limits
from runtime.models.request_fields import merged_fields, parse_fields
from runtime.settings import Settings, needs_no_key

Role = Literal["extract", "summary", "keyword", "query", "vlm"]
"""What a language model is asked for: entities and relations, summaries, keywords of a question,
answers, descriptions of figures.
"""

ROLES: tuple[Role, ...] = get_args(Role)

VISION: Role = "vlm"
"""The role that a model has only where it is wanted: the general one may see no pictures."""

_OF_MODEL = frozenset({"binding", "base_url", "model", "api_key"})
"""Settings that say which model a role has."""

_GENERAL = {
    "binding": "llm_binding",
    "base_url": "llm_base_url",
    "model": "llm_model",
    "api_key": "llm_api_key",
    "timeout": "llm_timeout",
    "max_async": "llm_max_async",
    "max_requests_per_minute": "llm_max_requests_per_minute",
    "max_tokens_per_minute": "llm_max_tokens_per_minute",
}
_CHAINS: dict[Role, tuple[Role, ...]] = {"summary": ("extract", "summary")}
"""Roles whose settings count, the last one before the others: LightRAG's extracting model writes
summaries, too.
"""


def _named(*names: str, text: str = "", **limits: float) -> Any:
    """Return a field that is None, and so the general setting, unless one of these variables is
    set.
    """
    bounds: Any = limits
    return Field(
        default=None, validation_alias=AliasChoices(*names), description=text or None, **bounds
    )


_EXTRA_BODY = (
    "JSON object: further fields of its requests, before the general ones; null takes one away"
)


class RoleSettings(Settings):
    """Models of single roles. What is not set is as in the general setting."""

    extract_llm_binding: str | None = _named("EXTRACT_LLM_BINDING")
    extract_llm_base_url: str | None = _named("EXTRACT_LLM_BASE_URL", "EXTRACT_LLM_BINDING_HOST")
    extract_llm_model: str | None = _named("EXTRACT_LLM_MODEL", text="extracts, and summarises")
    extract_llm_api_key: SecretStr | None = _named(
        "EXTRACT_LLM_API_KEY", "EXTRACT_LLM_BINDING_API_KEY"
    )
    extract_llm_extra_body: str | None = _named(
        "EXTRACT_LLM_EXTRA_BODY", "EXTRACT_OPENAI_LLM_EXTRA_BODY", text=_EXTRA_BODY
    )
    extract_llm_timeout: float | None = _named("EXTRACT_LLM_TIMEOUT", gt=0)
    extract_llm_max_async: int | None = _named(
        "EXTRACT_LLM_MAX_ASYNC", "EXTRACT_MAX_ASYNC_LLM", ge=0
    )
    extract_llm_max_requests_per_minute: int | None = _named(
        "EXTRACT_LLM_MAX_REQUESTS_PER_MINUTE", ge=0
    )
    extract_llm_max_tokens_per_minute: int | None = _named(
        "EXTRACT_LLM_MAX_TOKENS_PER_MINUTE", ge=0
    )

    summary_llm_binding: str | None = _named("SUMMARY_LLM_BINDING")
    summary_llm_base_url: str | None = _named("SUMMARY_LLM_BASE_URL", "SUMMARY_LLM_BINDING_HOST")
    summary_llm_model: str | None = _named("SUMMARY_LLM_MODEL", text="condenses descriptions")
    summary_llm_api_key: SecretStr | None = _named(
        "SUMMARY_LLM_API_KEY", "SUMMARY_LLM_BINDING_API_KEY"
    )
    summary_llm_extra_body: str | None = _named(
        "SUMMARY_LLM_EXTRA_BODY", "SUMMARY_OPENAI_LLM_EXTRA_BODY", text=_EXTRA_BODY
    )
    summary_llm_timeout: float | None = _named("SUMMARY_LLM_TIMEOUT", gt=0)
    summary_llm_max_async: int | None = _named(
        "SUMMARY_LLM_MAX_ASYNC", "SUMMARY_MAX_ASYNC_LLM", ge=0
    )
    summary_llm_max_requests_per_minute: int | None = _named(
        "SUMMARY_LLM_MAX_REQUESTS_PER_MINUTE", ge=0
    )
    summary_llm_max_tokens_per_minute: int | None = _named(
        "SUMMARY_LLM_MAX_TOKENS_PER_MINUTE", ge=0
    )

    keyword_llm_binding: str | None = _named("KEYWORD_LLM_BINDING")
    keyword_llm_base_url: str | None = _named("KEYWORD_LLM_BASE_URL", "KEYWORD_LLM_BINDING_HOST")
    keyword_llm_model: str | None = _named(
        "KEYWORD_LLM_MODEL", text="names the keywords of a question"
    )
    keyword_llm_api_key: SecretStr | None = _named(
        "KEYWORD_LLM_API_KEY", "KEYWORD_LLM_BINDING_API_KEY"
    )
    keyword_llm_extra_body: str | None = _named(
        "KEYWORD_LLM_EXTRA_BODY", "KEYWORD_OPENAI_LLM_EXTRA_BODY", text=_EXTRA_BODY
    )
    keyword_llm_timeout: float | None = _named("KEYWORD_LLM_TIMEOUT", gt=0)
    keyword_llm_max_async: int | None = _named(
        "KEYWORD_LLM_MAX_ASYNC", "KEYWORD_MAX_ASYNC_LLM", ge=0
    )
    keyword_llm_max_requests_per_minute: int | None = _named(
        "KEYWORD_LLM_MAX_REQUESTS_PER_MINUTE", ge=0
    )
    keyword_llm_max_tokens_per_minute: int | None = _named(
        "KEYWORD_LLM_MAX_TOKENS_PER_MINUTE", ge=0
    )

    query_llm_binding: str | None = _named("QUERY_LLM_BINDING")
    query_llm_base_url: str | None = _named("QUERY_LLM_BASE_URL", "QUERY_LLM_BINDING_HOST")
    query_llm_model: str | None = _named("QUERY_LLM_MODEL", text="answers questions")
    query_llm_api_key: SecretStr | None = _named("QUERY_LLM_API_KEY", "QUERY_LLM_BINDING_API_KEY")
    query_llm_extra_body: str | None = _named(
        "QUERY_LLM_EXTRA_BODY", "QUERY_OPENAI_LLM_EXTRA_BODY", text=_EXTRA_BODY
    )
    query_llm_timeout: float | None = _named("QUERY_LLM_TIMEOUT", gt=0)
    query_llm_max_async: int | None = _named("QUERY_LLM_MAX_ASYNC", "QUERY_MAX_ASYNC_LLM", ge=0)
    query_llm_max_requests_per_minute: int | None = _named(
        "QUERY_LLM_MAX_REQUESTS_PER_MINUTE", ge=0
    )
    query_llm_max_tokens_per_minute: int | None = _named("QUERY_LLM_MAX_TOKENS_PER_MINUTE", ge=0)

    vlm_llm_binding: str | None = _named("VLM_LLM_BINDING", "VLM_BINDING")
    vlm_llm_base_url: str | None = _named(
        "VLM_LLM_BASE_URL", "VLM_LLM_BINDING_HOST", "VLM_BASE_URL", "VLM_BINDING_HOST"
    )
    vlm_llm_model: str | None = _named(
        "VLM_LLM_MODEL", "VLM_MODEL", text="describes figures: a model that sees pictures"
    )
    vlm_llm_api_key: SecretStr | None = _named(
        "VLM_LLM_API_KEY", "VLM_LLM_BINDING_API_KEY", "VLM_API_KEY", "VLM_BINDING_API_KEY"
    )
    vlm_llm_extra_body: str | None = _named(
        "VLM_LLM_EXTRA_BODY", "VLM_OPENAI_LLM_EXTRA_BODY", text=_EXTRA_BODY
    )
    vlm_llm_timeout: float | None = _named("VLM_LLM_TIMEOUT", "VLM_TIMEOUT", gt=0)
    vlm_llm_max_async: int | None = _named(
        "VLM_LLM_MAX_ASYNC", "VLM_MAX_ASYNC_LLM", "VLM_MAX_ASYNC", ge=0
    )
    vlm_llm_max_requests_per_minute: int | None = _named("VLM_LLM_MAX_REQUESTS_PER_MINUTE", ge=0)
    vlm_llm_max_tokens_per_minute: int | None = _named("VLM_LLM_MAX_TOKENS_PER_MINUTE", ge=0)
    vlm_process_enable: bool | None = Field(
        default=None,
        description="whether figures are described; empty: where the role has a model of its own",
    )

    summary_language: str = Field(
        default="English",
        min_length=1,
        description="language of descriptions, summaries and the keywords of questions",
    )

    @field_validator(*(f"{role}_llm_extra_body" for role in ROLES))
    @classmethod
    def _fields_of_a_role_can_be_read(cls, text: str | None) -> str | None:
        parse_fields(text or "")
        return text

    @field_validator(*(f"{role}_llm_binding" for role in ROLES))
    @classmethod
    def _a_role_binds_a_language_model(cls, name: str | None) -> str | None:
        return name and binding_of(name, LLM_BINDINGS)

    @field_validator(*(f"{role}_llm_base_url" for role in ROLES))
    @classmethod
    def _is_an_address_of_a_role(cls, address: str | None) -> str | None:
        return own_address(address or "") or None

    @property
    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        idle = [
            role
            for role in ROLES
            if own_settings(self, role)
            and language_model(self, role) is None
            and not (role == VISION and self.vlm_process_enable is False)
        ]
        return super().contradictions + [
            f"settings of {role.upper()}_LLM_ are set but neither a key nor a base URL: no language model is used"  # noqa: E501
            for role in idle
        ]


class SummarySettings(RoleSettings):
    """When descriptions are summarised rather than joined. The merger does it; the query service
    folds the graph of the past alike.
    """

    force_llm_summary_on_merge: int = Field(
        default=8, ge=2, description="distinct descriptions of one thing"
    )
    summary_max_tokens: int = Field(
        default=1200, ge=1, description="of all its descriptions together"
    )


@dataclass(frozen=True)
class LanguageModel:
    """A language model as the settings describe it."""

    binding: str
    base_url: str
    model: str
    api_key: SecretStr
    timeout: float
    """Seconds of one call."""
    limits: Limits
    settings: str = "LLM"
    """The beginning of the names of the variables that describe it, for messages."""
    counted_as: str = "language model"
    """Calls with the same text here, address, model and key share their limits."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of each request."""
    connection: Connection = field(default=Connection(), repr=False)


def language_model(settings: Settings, role: Role | None = None) -> LanguageModel | None:
    """Return the language model of a role, of no role the general one; None if none is configured.

    The general key and the general fields of requests go to the general endpoint alone: a role on
    another server has its own or none.
    """
    if role == VISION and not wants_descriptions(settings):
        return None
    values: dict[str, Any] = {name: getattr(settings, field) for name, field in _GENERAL.items()}
    fields = general_fields(settings)
    is_configured = settings.has_llm
    beginning = "LLM"
    kind = "language model"
    for part in _CHAINS.get(role, (role,)) if role else ():
        own_values = own_settings(settings, part)
        if _is_elsewhere(settings, values, own_values):
            values |= {"base_url": "", "api_key": SecretStr("")}
            fields = {}
        is_configured = is_configured or _names_endpoint(settings, own_values)
        values |= own_values
        fields = merged_fields(
            fields, parse_fields(getattr(settings, f"{part}_llm_extra_body", None) or "")
        )
        if own_values.keys() & _OF_MODEL:
            beginning = f"{part.upper()}_LLM"
        if own_values.keys() - {"timeout"}:
            kind = f"language model of role {part}"
    if not is_configured:
        return None
    return _language_model(settings, values, fields, beginning, kind)


def wants_descriptions(settings: Settings) -> bool:
    """Return whether figures are described: where it is asked for, or a model is given for it."""
    is_wanted: bool | None = getattr(settings, "vlm_process_enable", None)
    return (
        bool(own_settings(settings, VISION).keys() & _OF_MODEL) if is_wanted is None else is_wanted
    )


def general_fields(settings: Settings) -> dict[str, Any]:
    """Return the further fields of every request to the general model; those of LLM_EXTRA_BODY go
    first.
    """
    fields = {
        "temperature": settings.llm_temperature,
        "max_tokens": settings.llm_max_tokens,
        "max_completion_tokens": settings.llm_max_completion_tokens,
        "reasoning_effort": settings.llm_reasoning_effort or None,
    }
    return merged_fields(fields, parse_fields(settings.llm_extra_body))


def _names_endpoint(settings: Settings, own_values: Mapping[str, Any]) -> bool:
    is_named = bool(own_values.keys() & {"base_url", "api_key"})
    return is_named or needs_no_key(settings, own_values.get("binding", ""))


def _is_elsewhere(
    settings: Settings, values: Mapping[str, Any], own_values: Mapping[str, Any]
) -> bool:
    """Return whether a role has another binding or server than the general settings say."""
    binding = own_values.get("binding", values["binding"])
    address = own_values.get("base_url", "" if binding != values["binding"] else None)
    if address is None:
        return False
    return binding != values["binding"] or server_of(address) != server_of(
        address_of(settings, values["binding"], values["base_url"])
    )


def _language_model(
    settings: Settings, values: Mapping[str, Any], fields: dict[str, Any], beginning: str, kind: str
) -> LanguageModel:
    """Return the model that these values describe, with what its binding has by itself."""
    binding = values["binding"]
    limits = Limits(
        values["max_requests_per_minute"], values["max_tokens_per_minute"], values["max_async"]
    )
    address = address_of(settings, binding, values["base_url"])
    key = key_of(settings, binding, values["api_key"].get_secret_value())
    connection = Connection(
        address,
        key,
        settings.azure_openai_api_version,
        settings.azure_openai_deployment if beginning == "LLM" else "",
        settings.azure_openai_batch_deployment,
        settings.aws_region,
        entra=entra_identity(settings),
        vertex=vertex_project(settings),
    )
    if binding == "ollama" and settings.ollama_llm_num_ctx:
        window = {"num_ctx": settings.ollama_llm_num_ctx}
        fields = {**fields, "options": {**window, **(fields.get("options") or {})}}
    where = binding, address, values["model"], SecretStr(key)
    return LanguageModel(*where, values["timeout"], limits, beginning, kind, fields, connection)


def own_settings(settings: Settings, role: Role) -> dict[str, Any]:
    """Return what is set for this role alone, by the name of the setting without its beginning."""
    values = {name: getattr(settings, f"{role}_llm_{name}", None) for name in _GENERAL}
    return {name: value for name, value in values.items() if value is not None}
