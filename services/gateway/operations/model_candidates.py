"""Models that an operator wants to use: what is said of one, the settings to try it with, and the
variables that have it used.
"""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, model_validator

from runtime.models.bindings import (
    ADDRESSES,
    EMBEDDING_BINDINGS,
    GEMINI,
    KEYLESS,
    LLM_BINDINGS,
    OFFLINE_EMBEDDERS,
    OPENAI,
)
from runtime.models.connections import embedding_connection
from runtime.models.roles import language_model
from services.gateway.strict_model import StrictModel
from services.query.errors import BadRequest
from services.query.settings import QuerySettings

Part = Literal["language", "embedding", "reranker"]
"""What a model does."""

BUILT_IN = "built-in"
"""The binding of embedders of our own."""

RERANK_BINDINGS = ("cohere", "jina", "aliyun", "voyage", "nvidia", "tei")
BINDINGS: Mapping[Part, tuple[str, ...]] = {
    "language": LLM_BINDINGS,
    "embedding": (BUILT_IN, *EMBEDDING_BINDINGS),
    "reranker": RERANK_BINDINGS,
}

NO_KEY = "not-needed"
"""Sent to a server that asks for no key, so that no general key is."""

NOBODY: Mapping[str, Any] = {
    "azure_client_id": "",
    "azure_token_credentials": "",
    "google_genai_use_vertexai": False,
}
"""Settings without those who ask Azure and Google Cloud, whose tokens go to no other server."""

LONGEST_TRIAL = 60.0
"""Seconds for which a trial waits for a language model or a reranker at most."""


class Candidate(StrictModel):
    """A model that may be used."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"part": "language", "binding": "ollama", "model": "qwen3:8b", "address": ""}
            ]
        },
    )

    part: Part
    binding: str = Field(max_length=64, description="whose form its requests have")
    address: str = Field(default="", max_length=2048, description="empty: the binding's own")
    model: str = Field(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")
    key: SecretStr | None = Field(
        default=None,
        max_length=4096,
        strict=False,
        description="absent: the one in use, where binding and server are those in use",
    )

    @model_validator(mode="after")
    def _can_be_used(self) -> "Candidate":
        if self.binding not in BINDINGS[self.part]:
            raise ValueError(f"`binding` must be one of {', '.join(BINDINGS[self.part])}")
        key = self.key.get_secret_value() if self.key else ""
        if not (key.isascii() and (key.isprintable() or not key)):
            raise ValueError("`key` holds characters that no key has: enter it again")
        if self.binding == BUILT_IN and self.model not in OFFLINE_EMBEDDERS:
            raise ValueError(f"built in are {', '.join(OFFLINE_EMBEDDERS)}")
        if self.binding == "bedrock" and self.address:
            raise ValueError("the address of bedrock follows from AWS_REGION: give none")
        return self

    @property
    def is_built_in(self) -> bool:
        """Whether it is an embedder of our own."""
        return self.binding == BUILT_IN


def candidate_address(candidate: Candidate) -> str:
    """Return where its requests go; empty for a provider's own server that no setting names."""
    if candidate.address or candidate.part == "reranker":
        return candidate.address
    return ADDRESSES.get(candidate.binding, "")


def server_of(address: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address."""
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        return "", address, None


def candidate_settings(settings: QuerySettings, candidate: Candidate) -> QuerySettings:
    """Return the settings with the candidate in them. No key and no field that is set for another
    server goes to it.
    """
    key = SecretStr(_key(settings, candidate))
    address, model = candidate.address, candidate.model
    values: dict[str, Any] = {
        "openai_api_key": SecretStr(""),
        "openai_base_url": "",
        "aws_bearer_token_bedrock": SecretStr(""),
        **({} if _is_on_same_server(settings, candidate) else NOBODY),
    }
    if candidate.part == "language":
        values |= {
            "llm_binding": candidate.binding,
            "llm_base_url": address,
            "llm_model": model,
            "llm_api_key": key,
            "llm_timeout": min(settings.llm_timeout, LONGEST_TRIAL),
            "llm_extra_body": "",
            "azure_openai_deployment": "",
        }
    elif candidate.part == "embedding":
        values |= {
            "embedding_binding": OPENAI if candidate.is_built_in else candidate.binding,
            "embedding_base_url": address,
            "embedding_model": model,
            "embedding_api_key": key,
            "embedding_dim": 0,
            "azure_embedding_deployment": "",
        }
    else:
        values |= {
            "rerank_binding": candidate.binding,
            "rerank_binding_host": address,
            "rerank_model": model,
            "rerank_binding_api_key": key,
            "rerank_timeout": min(settings.rerank_timeout, LONGEST_TRIAL),
        }
    return settings.model_copy(update=values)


def check_identity(settings: QuerySettings, candidate: Candidate) -> None:
    """Raise BadRequest for a candidate to which its settings would send tokens that were not sent
    when it was tried: of Google Cloud, which are of the binding, whatever its address and key.
    """
    if (
        candidate.binding == GEMINI
        and settings.google_genai_use_vertexai
        and not _is_on_same_server(settings, candidate)
    ):
        raise BadRequest(
            "GOOGLE_GENAI_USE_VERTEXAI is set, by which tokens of Google Cloud would go there: "
            "unset it first, or set the model where you set that"
        )


def variables_of(settings: QuerySettings, candidate: Candidate, dimension: int) -> dict[str, str]:
    """Return the variables that have the candidate used, `dimension` numbers a vector; one with an
    empty value is to be set no more.
    """
    binding = "" if candidate.binding == OPENAI or candidate.is_built_in else candidate.binding
    if candidate.part == "reranker":
        return {
            "RERANK_BINDING": binding,
            "RERANK_MODEL": candidate.model,
            "RERANK_BINDING_HOST": candidate.address,
            "RERANK_BASE_URL": "",
            **_key_variables(settings, candidate, "RERANK_BINDING_API_KEY", "RERANK_API_KEY"),
        }
    is_language = candidate.part == "language"
    name = "LLM" if is_language else "EMBEDDING"
    return {
        f"{name}_BINDING": binding,
        f"{name}_MODEL": candidate.model,
        f"{name}_BASE_URL": candidate.address,
        f"{name}_BINDING_HOST": "",
        "AZURE_OPENAI_DEPLOYMENT" if is_language else "AZURE_EMBEDDING_DEPLOYMENT": "",
        **({} if is_language else {"EMBEDDING_DIM": str(dimension or "")}),
        **_key_variables(settings, candidate, f"{name}_API_KEY", f"{name}_BINDING_API_KEY"),
    }


def _key_variables(
    settings: QuerySettings, candidate: Candidate, name: str, other_name: str
) -> dict[str, str]:
    """Return the variables of the key; none where it stays as it is set."""
    if candidate.key is None and _is_on_same_server(settings, candidate):
        return {}
    return {name: _key(settings, candidate), other_name: ""}


def _key(settings: QuerySettings, candidate: Candidate) -> str:
    """Return the key to send: the one given, or the one in use where it goes to the same server."""
    if candidate.key and (given_key := candidate.key.get_secret_value()):
        return given_key
    if candidate.key is None and _is_on_same_server(settings, candidate):
        return _reached(settings, candidate.part)[2]
    needs_none = candidate.is_built_in or candidate.part == "reranker"
    return "" if needs_none or candidate.binding in KEYLESS or not candidate.address else NO_KEY


def _is_on_same_server(settings: QuerySettings, candidate: Candidate) -> bool:
    """Return whether the candidate has the binding and the server of what is used in general."""
    binding, address, _ = _reached(settings, candidate.part)
    if binding != candidate.binding:
        return False
    is_vertex = binding == GEMINI and settings.google_genai_use_vertexai
    if is_vertex and not candidate.address:
        return candidate.key is None
    return server_of(address) == server_of(candidate_address(candidate))


def _reached(settings: QuerySettings, part: Part) -> tuple[str, str, str]:
    """Return binding, address and key of what is used in general; empty where nothing is."""
    if part == "reranker":
        key = settings.rerank_binding_api_key.get_secret_value()
        return settings.rerank_binding, settings.rerank_binding_host, key
    if part == "embedding":
        connection = embedding_connection(settings)
        binding = settings.embedding_binding if settings.has_embedding_endpoint else BUILT_IN
        return binding, connection.address, connection.key
    model = language_model(settings)
    return (model.binding, model.base_url, model.connection.key) if model else ("", "", "")
