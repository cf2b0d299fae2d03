"""Models from settings: an OpenAI-compatible endpoint where one is configured, else what works offline."""

from runtime.errors import ConfigurationError
from runtime.models.ports import Chat, Embedder, Tokenizer
from runtime.settings import Settings

# Imported where they are needed: openai takes seconds to load, onnxruntime 70 MB, and most processes need neither.
# ruff: noqa: PLC0415

KNOWN_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"


def open_chat(settings: Settings) -> Chat | None:
    """The language model, or None when none is configured: the offline parts take over, and say so."""
    if not settings.has_llm:
        return None
    from runtime.models.openai import OpenAiChat

    return OpenAiChat(
        settings.llm_base_url,
        settings.llm_model,
        settings.llm_api_key.get_secret_value(),
        concurrency=settings.llm_concurrency,
        timeout=settings.llm_timeout,
    )


def open_embedder(settings: Settings) -> Embedder:
    """The embedder. Raises ConfigurationError when an endpoint's dimension is neither known nor given."""
    if settings.has_embedding_endpoint:
        from runtime.models.openai import OpenAiEmbedder

        model = settings.embedding_model or DEFAULT_EMBEDDING_MODEL
        dimension = settings.embedding_dim or KNOWN_DIMENSIONS.get(model, 0)
        if not dimension:
            raise ConfigurationError(f"set EMBEDDING_DIM: the dimension of {model} is not known here")
        return OpenAiEmbedder(
            settings.embedding_base_url,
            model,
            dimension,
            settings.embedding_api_key.get_secret_value(),
            timeout=settings.embedding_timeout,
        )
    if settings.embedding_model == "lexical":
        from runtime.models.lexical import LexicalEmbedder

        return LexicalEmbedder()
    from runtime.models.minilm import MiniLmEmbedder

    return MiniLmEmbedder()


def open_tokenizer() -> Tokenizer:
    """The tokenizer that sizes chunks and budgets: `o200k_base`, offline."""
    from runtime.models.tokens import TiktokenTokenizer

    return TiktokenTokenizer()
