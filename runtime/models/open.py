"""Models from settings: an OpenAI-compatible endpoint where one is configured, else what works offline."""

import math
from urllib.parse import urlsplit

from runtime.errors import ConfigurationError
from runtime.models.limits import Limits
from runtime.models.limits_shared import Guards
from runtime.models.ports import Chat, Embedder, Tokenizer
from runtime.settings import Settings

# Imported where they are needed: openai takes seconds to load, onnxruntime 70 MB, and most processes need neither.
# ruff: noqa: PLC0415

KNOWN_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"

ALONE = Guards()
"""For a process that shares no limits with others."""


def open_chat(settings: Settings, guards: Guards = ALONE, *, patience: float = math.inf) -> Chat | None:
    """The language model, or None when none is configured: the offline parts take over, and say so.

    `guards`: where replicas share limits. `patience`: seconds a person waits for a turn; such calls are also repeated
    after a blip. What comes from the log waits for as long as it takes, and the log repeats it.
    """
    if not settings.has_llm:
        return None
    from runtime.models.openai import OpenAiChat

    address, model, key = settings.llm_base_url, settings.llm_model, settings.llm_api_key.get_secret_value()
    limits = Limits(settings.llm_max_requests_per_minute, settings.llm_max_tokens_per_minute, settings.llm_max_async)
    return OpenAiChat(
        address,
        model,
        key,
        guards.guard("language model", _shown(model, address), f"{address} {model} {key}", limits, patience),
        timeout=settings.llm_timeout,
        retries=_retries(patience),
    )


def open_embedder(settings: Settings, guards: Guards = ALONE, *, patience: float = math.inf) -> Embedder:
    """The embedder; see `open_chat`. Raises ConfigurationError for an endpoint's dimension that is unknown."""
    if settings.has_embedding_endpoint:
        return _endpoint_embedder(settings, guards, patience)
    if settings.embedding_model == "lexical":
        from runtime.models.lexical import LexicalEmbedder

        return LexicalEmbedder()
    from runtime.models.minilm import MiniLmEmbedder

    return MiniLmEmbedder()


def _endpoint_embedder(settings: Settings, guards: Guards, patience: float) -> Embedder:
    from runtime.models.cutting import cutter
    from runtime.models.openai_embedder import OpenAiEmbedder

    address, model = settings.embedding_base_url, settings.embedding_model or DEFAULT_EMBEDDING_MODEL
    key = settings.embedding_api_key.get_secret_value()
    dimension = settings.embedding_dim or KNOWN_DIMENSIONS.get(model, 0)
    if not dimension:
        raise ConfigurationError(f"set EMBEDDING_DIM: the dimension of {model} is not known here")
    limits = Limits(
        settings.embedding_max_requests_per_minute, settings.embedding_max_tokens_per_minute,
        settings.embedding_max_async,
    )  # fmt: skip
    return OpenAiEmbedder(
        address,
        model,
        dimension,
        key,
        guards.guard("embeddings", _shown(model, address), f"{address} {model} {key}", limits, patience),
        timeout=settings.embedding_timeout,
        retries=_retries(patience),
        batch=settings.embedding_batch_num,
        cut=cutter(settings.embedding_max_tokens, settings.embedding_max_bytes),
    )


def _shown(model: str, address: str) -> str:
    """Model and host, for people: an address may hold a password."""
    return f"{model} at {urlsplit(address).hostname or 'the model endpoint'}"


def _retries(patience: float) -> int:
    return 0 if patience == math.inf else 2


def open_tokenizer() -> Tokenizer:
    """The tokenizer that sizes chunks and budgets: `o200k_base`, offline."""
    from runtime.models.tokens import TiktokenTokenizer

    return TiktokenTokenizer()
