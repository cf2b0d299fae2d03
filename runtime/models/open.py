"""Opens models by the settings: at an endpoint where one is configured, else offline ones."""

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from contracts.graph import EmbeddingModel
from runtime.errors import ConfigurationError
from runtime.models.bindings import OFFLINE_EMBEDDERS
from runtime.models.connections import embedding_connection
from runtime.models.embedding_names import provider_name
from runtime.models.limits import Limits
from runtime.models.port import Embedder, Tokenizer, ToolChat
from runtime.models.rate_limiters import RateLimiters
from runtime.models.request_fields import parse_fields
from runtime.models.roles import ROLES, Role, language_model
from runtime.settings import Settings

if TYPE_CHECKING:
    from runtime.models.embedder import TextForm

# Imported where they are needed: aiohttp takes half a second to load, onnxruntime 70 MB, and most
# processes need neither. ruff: noqa: PLC0415

KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"

_OWN = {
    "all-MiniLM-L6-v2-int8-dynamic@": "minilm",
    "all-MiniLM-L6-v2-int8@": "minilm-floats",
    "universal-sentence-encoder-multilingual-3@": "multilingual",
    "lexical-hash-": "lexical",
}
"""Values of EMBEDDING_MODEL for the built-in embedders, by the prefix of their model name."""

_KINDS = {
    "jina": ("task", "retrieval.passage", "retrieval.query"),
    "voyage": ("input_type", "document", "query"),
    "gemini": ("taskType", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
}
"""The field in which a provider is told what a text is, and its value for documents and
questions.
"""

UNSHARED_LIMITERS = RateLimiters()
"""Rate limiters of a process that shares no limits with others."""


def open_chat(
    settings: Settings,
    limiters: RateLimiters = UNSHARED_LIMITERS,
    *,
    role: Role | None = None,
    max_wait: float = math.inf,
) -> ToolChat | None:
    """Return the language model of a role, or None if none is configured: the service then chooses
    its offline part.

    `max_wait`: seconds a call of a person waits for a turn; such calls are also repeated after a
    short failure. Calls for events wait without limit, and the bus repeats the event.
    """
    chosen_model = language_model(settings, role)
    if chosen_model is None:
        return None
    from runtime.models.chat import EndpointChat  # noqa: PLC0415
    from runtime.models.endpoint import Endpoint  # noqa: PLC0415
    from runtime.models.wires.open import open_wire  # noqa: PLC0415

    wire = open_wire(chosen_model.binding, chosen_model.connection)
    address = wire.address
    model = chosen_model.model
    key = wire.key
    limiter = limiters.limiter(
        chosen_model.counted_as,
        _shown(model, address),
        f"{address} {model} {key}",
        chosen_model.limits,
        max_wait,
    )
    return EndpointChat(
        Endpoint(wire, limiter, chosen_model.timeout, chosen_model.settings, _retries(max_wait)),
        model,
        chosen_model.fields,
    )


def open_embedder(
    settings: Settings, limiters: RateLimiters = UNSHARED_LIMITERS, *, max_wait: float = math.inf
) -> Embedder:
    """Return the embedder; see `open_chat`. Raises ConfigurationError if its endpoint's dimension
    is unknown.
    """
    if settings.has_embedding_endpoint:
        return _endpoint_embedder(settings, limiters, max_wait)
    if settings.embedding_model == "lexical":
        from offline.embeddings.lexical import LexicalEmbedder  # noqa: PLC0415

        return LexicalEmbedder()
    if settings.embedding_model == "multilingual":
        from runtime.models.multilingual import MultilingualEmbedder  # noqa: PLC0415

        return MultilingualEmbedder()
    from runtime.models.minilm import MiniLmEmbedder  # noqa: PLC0415

    return MiniLmEmbedder(floats=settings.embedding_model == "minilm-floats")


def can_embed(settings: Settings, model: str) -> bool:
    """Return whether these settings allow an embedder of that name: a built-in one, or any at their
    endpoint.
    """
    return as_setting(model) in OFFLINE_EMBEDDERS or settings.has_embedding_endpoint


def choosable_models(settings: Settings) -> list[str]:
    """Return the models that a workspace can have for itself, as EMBEDDING_MODEL names them: the
    built-in ones, and the one that the settings name at an endpoint.
    """
    if not settings.has_embedding_endpoint:
        return [*OFFLINE_EMBEDDERS]
    return [*OFFLINE_EMBEDDERS, settings.embedding_model or DEFAULT_EMBEDDING_MODEL]


def as_setting(model: str) -> str:
    """Return the value of EMBEDDING_MODEL for an embedder with this model name."""
    built_in = (setting for beginning, setting in _OWN.items() if model.startswith(beginning))
    return next(built_in, provider_name(model))


def open_embedder_of(
    settings: Settings,
    made_by: EmbeddingModel,
    limiters: RateLimiters = UNSHARED_LIMITERS,
    *,
    max_wait: float = math.inf,
) -> Embedder:
    """Return the embedder that made vectors, built in or at the endpoint of the settings; see
    `open_embedder`.

    Raises ConfigurationError where the settings allow none: texts never go to an endpoint that they
    do not name.
    """
    if not can_embed(settings, made_by.name):
        raise ConfigurationError(
            f"{made_by} needs an embedding endpoint, and the settings name none"
        )
    model_settings = {
        "embedding_model": as_setting(made_by.name),
        "embedding_dim": made_by.dimension,
    }
    embedder = open_embedder(
        settings.model_copy(update=model_settings), limiters, max_wait=max_wait
    )
    if EmbeddingModel(embedder.model, embedder.dimension) != made_by:
        raise ConfigurationError(
            f"{made_by} is not what this version of the program has under that name"
        )
    return embedder


def open_question_embedder(settings: Settings, documents: Embedder) -> Embedder:
    """Return the embedder of questions that are compared with what `documents` embeds, which is the
    one to close.

    It is the same, unless the settings tell questions and documents apart.
    """
    if not settings.has_embedding_endpoint:
        return documents
    from runtime.models.embedder import EndpointEmbedder  # noqa: PLC0415

    return (
        documents.of_questions(_text_form(settings, "query"))
        if isinstance(documents, EndpointEmbedder)
        else documents
    )


def _text_form(settings: Settings, kind: Literal["document", "query"]) -> "TextForm":
    from runtime.models.embedder import TextForm  # noqa: PLC0415

    fields = parse_fields(getattr(settings, f"embedding_{kind}_extra_body"))
    prefix = getattr(settings, f"embedding_{kind}_prefix")
    return TextForm(prefix, {**_fields_of_kind(settings, kind), **fields})


def _fields_of_kind(settings: Settings, kind: Literal["document", "query"]) -> dict[str, Any]:
    """Return the fields with which the provider is told of which kind the texts are. Of documents
    none where their wire tells it by itself.
    """
    binding = settings.embedding_binding
    is_cohere = binding == "cohere" or (
        binding == "bedrock" and settings.embedding_model.partition(".")[0] == "cohere"
    )
    if kind == "query" and (is_cohere or binding == "nvidia"):
        return {"input_type": "search_query" if is_cohere else "query"}
    name, *values = _KINDS.get(binding, ("", "", ""))
    return {name: values[kind == "query"]} if settings.embedding_asymmetric and name else {}


def embedding_dimension(settings: Settings) -> int:
    """Return how many numbers a vector of the endpoint has. Raises ConfigurationError where that is
    neither set nor known.
    """
    model = settings.embedding_model or DEFAULT_EMBEDDING_MODEL
    dimension = settings.embedding_dim or KNOWN_DIMENSIONS.get(model, 0)
    if not dimension:
        raise ConfigurationError(f"set EMBEDDING_DIM: the dimension of {model} is not known here")
    return dimension


def _endpoint_embedder(settings: Settings, limiters: RateLimiters, max_wait: float) -> Embedder:
    from runtime.models.embedder import EndpointEmbedder, VectorForm  # noqa: PLC0415
    from runtime.models.endpoint import Endpoint  # noqa: PLC0415
    from runtime.models.truncation import cutter  # noqa: PLC0415
    from runtime.models.wires.open import open_wire  # noqa: PLC0415

    wire = open_wire(settings.embedding_binding, embedding_connection(settings))
    address = wire.address
    model = settings.embedding_model or DEFAULT_EMBEDDING_MODEL
    key = wire.key
    dimension = embedding_dimension(settings)
    limits = Limits(
        settings.embedding_max_requests_per_minute,
        settings.embedding_max_tokens_per_minute,
        settings.embedding_max_async,
    )
    limiter = limiters.limiter(
        "embeddings", _shown(model, address), f"{address} {model} {key}", limits, max_wait
    )
    return EndpointEmbedder(
        Endpoint(wire, limiter, settings.embedding_timeout, "EMBEDDING", _retries(max_wait)),
        model,
        dimension,
        batch=settings.embedding_batch_num,
        form=VectorForm(
            settings.embedding_send_dim,
            settings.embedding_use_base64,
            _text_form(settings, "document"),
        ),
        cut=cutter(settings.embedding_max_tokens, settings.embedding_max_bytes),
    )


def _shown(model: str, address: str) -> str:
    """Return model and host, for people: an address may hold a password."""
    return f"{model} at {urlsplit(address).hostname or 'the model endpoint'}"


def _retries(max_wait: float) -> int:
    return 0 if max_wait == math.inf else 2


def open_tokenizer() -> Tokenizer:
    """Return the tokenizer that sizes chunks and budgets: `o200k_base`, offline."""
    from runtime.models.tokens import TiktokenTokenizer  # noqa: PLC0415

    return TiktokenTokenizer()


def preload_models(settings: Settings) -> None:
    """Load what models of these settings need once in a process, so that processes that it forks
    share it.

    Nothing of it starts a thread or opens a connection.
    """
    open_tokenizer()
    has_chat = any(language_model(settings, role) for role in ROLES)
    if has_chat or settings.has_embedding_endpoint:
        import_module("runtime.models.wires.open")
    if has_chat:
        import_module("runtime.models.chat")
    if settings.has_embedding_endpoint:
        import_module("runtime.models.embedder")
    elif settings.embedding_model not in ("lexical", "multilingual"):
        from runtime.models.minilm import preload  # noqa: PLC0415

        preload(floats=settings.embedding_model == "minilm-floats")
