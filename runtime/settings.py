"""Settings every process shares. They name URLs and models; nothing here knows the embedded stack
from a cluster.

Read from the environment only, where an empty variable is the same as none. Each service adds its
own few in its `settings.py`.
"""

from typing import Self

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from runtime.bus.nats.addresses import API_PREFIX, EXPECTED, parse_bus_address, with_api_prefix
from runtime.costs.prices import Prices, parse_prices
from runtime.errors import ConfigurationError
from runtime.models.bindings import (
    EMBEDDING_BINDINGS,
    GEMINI,
    KEYLESS,
    LLM_BINDINGS,
    OFFLINE_EMBEDDERS,
    OPENAI,
    binding_of,
    own_address,
)
from runtime.models.request_fields import parse_fields
from runtime.provider_settings import ProviderSettings
from runtime.variables import networks, of_schemes

IN_ONE_DATABASE = frozenset({"documents_url", "neo4j_uri", "milvus_uri"})
"""The addresses that STORES_URL takes the place of, each where it is not given itself."""

_POSTGRES = ("postgresql", "postgres")
_SCHEMES = {
    "stores_url": _POSTGRES,
    "documents_url": ("mongodb", "mongodb+srv", "sqlite", *_POSTGRES),
    "neo4j_uri": (
        *(f"{server}{tls}" for server in ("bolt", "neo4j") for tls in ("", "+s", "+ssc")),
        "sqlite",
        *_POSTGRES,
    ),
    "milvus_uri": ("http", "https", "qdrant", "qdrant+https", "sqlite", *_POSTGRES),
}
"""What the address of a store begins with."""

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class Settings(ProviderSettings):
    """Where the parts are and which models to use."""

    nats_url: str = Field(default="nats://127.0.0.1:4222", description="the bus", repr=False)
    nats_api_prefix: str = Field(
        default=API_PREFIX,
        description="what calls of JetStream begin with: another in an account of one's own",
    )
    stores_url: SecretStr = Field(default=SecretStr(""), description="`postgresql://…` of all")
    stores_pool_size: int = Field(default=10, ge=1, description="connections to each PostgreSQL")
    documents_url: SecretStr = Field(
        default=SecretStr("mongodb://127.0.0.1:27017"),
        validation_alias=AliasChoices("DOCUMENTS_URL", "MONGO_URI"),
        description="`mongodb://…`, `postgresql://…` or `sqlite:///absolute/path.db`",
    )
    mongo_database: str = Field(default="lightstream", description="used with mongodb:// only")
    neo4j_uri: str = Field(
        default="bolt://127.0.0.1:7687",
        validation_alias=AliasChoices("NEO4J_URI", "GRAPH_URL"),
        description="Bolt server with the graph, `postgresql://…` or `sqlite:///…`",
        repr=False,
    )
    neo4j_username: str = "neo4j"
    neo4j_password: SecretStr = SecretStr("")
    neo4j_database: str = "neo4j"
    milvus_uri: str = Field(
        default="http://127.0.0.1:19530",
        validation_alias=AliasChoices("MILVUS_URI", "VECTORS_URL"),
        description="Milvus server with the vectors, `qdrant://…`, `postgresql://…` or `sqlite:///…`",
        repr=False,
    )
    milvus_token: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("MILVUS_TOKEN", "VECTORS_TOKEN", "QDRANT_API_KEY"),
        description="`user:password` or API key of the vector store",
    )
    milvus_index_type: str = Field(default="HNSW", description="FLAT on Milvus Lite")

    llm_binding: str = Field(
        default="openai",
        description=f"whose form the language model's requests have: {', '.join(LLM_BINDINGS)}",
    )
    llm_base_url: str = Field(
        default="",
        validation_alias=AliasChoices("LLM_BASE_URL", "LLM_BINDING_HOST"),
        description="the language model's endpoint; empty: the binding's own",
    )
    llm_model: str = "gpt-4o-mini"
    llm_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("LLM_API_KEY", "LLM_BINDING_API_KEY"),
    )
    llm_timeout: float = Field(default=240.0, gt=0, description="seconds")
    llm_extra_body: str = Field(
        default="",
        validation_alias=AliasChoices("LLM_EXTRA_BODY", "OPENAI_LLM_EXTRA_BODY"),
        description="JSON object: further fields of every request, as to turn thinking off",
    )
    llm_temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        validation_alias=AliasChoices(
            "LLM_TEMPERATURE",
            "OPENAI_LLM_TEMPERATURE",
            "OLLAMA_LLM_TEMPERATURE",
            "GEMINI_LLM_TEMPERATURE",
            "BEDROCK_LLM_TEMPERATURE",
        ),
        description="`temperature` of every request; empty: the provider's default",
    )
    llm_max_tokens: int | None = Field(
        default=None,
        ge=1,
        validation_alias=AliasChoices(
            "LLM_MAX_TOKENS",
            "OPENAI_LLM_MAX_TOKENS",
            "OLLAMA_LLM_NUM_PREDICT",
            "GEMINI_LLM_MAX_OUTPUT_TOKENS",
            "BEDROCK_LLM_MAX_TOKENS",
        ),
        description="tokens of one answer, as `max_tokens`; empty: the provider's default",
    )
    llm_max_completion_tokens: int | None = Field(
        default=None,
        ge=1,
        validation_alias=AliasChoices(
            "LLM_MAX_COMPLETION_TOKENS", "OPENAI_LLM_MAX_COMPLETION_TOKENS"
        ),
        description="the same as `max_completion_tokens`, which newer models of OpenAI take",
    )
    llm_reasoning_effort: str = Field(
        default="",
        validation_alias=AliasChoices("LLM_REASONING_EFFORT", "OPENAI_LLM_REASONING_EFFORT"),
        description="`reasoning_effort` of every request, as `low`; empty: none is sent",
    )
    llm_max_async: int = Field(
        default=4,
        ge=0,
        validation_alias=AliasChoices(
            "LLM_MAX_ASYNC", "MAX_ASYNC_LLM", "MAX_ASYNC", "LLM_CONCURRENCY"
        ),
        description="calls at once of all replicas together; 0: no limit",
    )
    llm_max_requests_per_minute: int = Field(
        default=0, ge=0, description="of all replicas together; 0: no limit"
    )
    llm_max_tokens_per_minute: int = Field(
        default=0, ge=0, description="of all replicas together; 0: no limit"
    )

    openai_base_url: str = Field(
        default="", description="LLM_BASE_URL and EMBEDDING_BASE_URL of the binding openai"
    )
    openai_api_key: SecretStr = Field(
        default=SecretStr(""), description="LLM_API_KEY and EMBEDDING_API_KEY of the binding openai"
    )

    embedding_binding: str = Field(
        default="openai",
        description=f"whose form requests for vectors have: {', '.join(EMBEDDING_BINDINGS)}",
    )
    embedding_base_url: str = Field(
        default="",
        validation_alias=AliasChoices("EMBEDDING_BASE_URL", "EMBEDDING_BINDING_HOST"),
        description="the embedding model's endpoint; empty: the binding's own",
    )
    embedding_model: str = Field(
        default="", description="empty: text-embedding-3-small with a key, else offline"
    )
    embedding_dim: int = Field(default=0, ge=0, description="0: what the model is known to give")
    embedding_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("EMBEDDING_API_KEY", "EMBEDDING_BINDING_API_KEY"),
    )
    embedding_timeout: float = Field(default=30.0, gt=0, description="seconds")
    embedding_send_dim: bool | None = Field(
        default=None,
        description="send EMBEDDING_DIM as `dimensions`; empty: to text-embedding-3 models alone",
    )
    embedding_use_base64: bool = Field(
        default=True, description="ask for base64, where the endpoint does not refuse it"
    )
    embedding_asymmetric: bool = Field(
        default=False, description="tell the provider which texts are questions, where it can"
    )
    embedding_document_prefix: str = Field(
        default="", description="what stands before each text of a document, as `passage: `"
    )
    embedding_query_prefix: str = Field(
        default="", description="what stands before each text of a question, as `query: `"
    )
    embedding_document_extra_body: str = Field(
        default="", description="JSON object: further fields of requests for vectors of documents"
    )
    embedding_query_extra_body: str = Field(
        default="", description="JSON object: further fields of requests for vectors of questions"
    )
    embedding_batch_num: int = Field(
        default=32, ge=1, le=2048, description="texts of one call, or fewer long ones"
    )
    embedding_max_tokens: int = Field(
        default=8191,
        ge=0,
        validation_alias=AliasChoices("EMBEDDING_MAX_TOKENS", "EMBEDDING_TOKEN_LIMIT"),
        description="tokens of a text that are embedded; 0: no limit",
    )
    embedding_max_bytes: int = Field(
        default=0, ge=0, description="bytes of a text that are embedded; 0: no limit"
    )
    embedding_max_async: int = Field(
        default=8,
        ge=0,
        validation_alias=AliasChoices("EMBEDDING_MAX_ASYNC", "EMBEDDING_FUNC_MAX_ASYNC"),
        description="calls at once of all replicas together; 0: no limit",
    )
    embedding_max_requests_per_minute: int = Field(
        default=0, ge=0, description="of all replicas together; 0: no limit"
    )
    embedding_max_tokens_per_minute: int = Field(
        default=0, ge=0, description="of all replicas together; 0: no limit"
    )

    host: str = "127.0.0.1"
    port: int = Field(
        default=0, ge=0, le=65535, description="health page, or the API of the query service"
    )
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        le=300,
        description="after SIGTERM, for which a service is not ready and answers all the same",
    )
    forwarded_allow_ips: str = Field(
        default="",
        description=(
            "addresses and networks of proxies whose X-Forwarded-For is believed; `*`: everybody's"
        ),
    )
    http_max_url_bytes: int = Field(
        default=8192, ge=256, le=65536, description="of a request's address; else 414"
    )
    http_max_header_bytes: int = Field(
        default=32768, ge=1024, le=1048576, description="of a request's headers together; else 431"
    )
    http_max_headers: int = Field(
        default=100, ge=10, le=1000, description="headers of a request; else 431"
    )
    http_header_timeout: float = Field(
        default=15.0, gt=0, description="seconds for a request's headers; else 408"
    )
    http_body_timeout: float = Field(
        default=30.0, gt=0, description="seconds for a body; what arrives gives some back; else 408"
    )
    http_min_body_rate: int = Field(
        default=16384, ge=1, description="bytes of a body that give its sender a second back"
    )
    http_write_timeout: float = Field(
        default=30.0,
        gt=0,
        description="seconds an answer waits for a client that reads nothing, then it hangs up",
    )
    model_prices: str = Field(
        default="", description="JSON by model: price of a million tokens of each kind"
    )
    log_level: str = "INFO"
    dead_letter_limit: int = Field(
        default=100,
        ge=0,
        description="dead letters by faults of its own in an hour that pause a consumer; 0: never",
    )

    @field_validator("model_prices")
    @classmethod
    def _prices_can_be_read(cls, text: str) -> str:
        parse_prices(text)
        return text

    @field_validator(
        "llm_extra_body", "embedding_document_extra_body", "embedding_query_extra_body"
    )
    @classmethod
    def _fields_can_be_read(cls, text: str) -> str:
        parse_fields(text)
        return text

    @field_validator("llm_binding")
    @classmethod
    def _binds_a_language_model(cls, name: str) -> str:
        return binding_of(name, LLM_BINDINGS)

    @field_validator("embedding_binding")
    @classmethod
    def _binds_an_embedding_model(cls, name: str) -> str:
        return binding_of(name, EMBEDDING_BINDINGS)

    @field_validator("nats_url")
    @classmethod
    def _names_a_bus(cls, url: str) -> str:
        try:
            servers = parse_bus_address(url).servers
        except ConfigurationError:
            servers = ()
        if not servers or any(not server.startswith(("nats://", "tls://")) for server in servers):
            raise ValueError(EXPECTED.removeprefix("NATS_URL "))
        return url

    @field_validator(*_SCHEMES)
    @classmethod
    def _names_a_store(cls, url: str | SecretStr, field: ValidationInfo) -> str | SecretStr:
        text = url.get_secret_value() if isinstance(url, SecretStr) else url
        of_schemes(text, *_SCHEMES[field.field_name or ""])
        return url

    @field_validator("log_level")
    @classmethod
    def _is_a_level(cls, name: str) -> str:
        if name.upper() not in _LOG_LEVELS:
            raise ValueError(f"must be one of {', '.join(_LOG_LEVELS)}")
        return name.upper()

    _is_url = field_validator("llm_base_url", "embedding_base_url", "openai_base_url")(own_address)
    _are_addresses = field_validator("forwarded_allow_ips")(networks)

    @model_validator(mode="after")
    def _one_database_for_all(self) -> Self:
        if url := self.stores_url.get_secret_value():
            for name in IN_ONE_DATABASE - self.model_fields_set:
                setattr(self, name, SecretStr(url) if name == "documents_url" else url)
        return self

    @model_validator(mode="after")
    def _bus_with_its_prefix(self) -> Self:
        self.nats_url = with_api_prefix(self.nats_url, self.nats_api_prefix)
        return self

    @property
    def prices(self) -> Prices:
        """Return the prices of models."""
        return parse_prices(self.model_prices)

    @property
    def has_llm(self) -> bool:
        """Whether a language model was configured: a key, or an endpoint of one's own."""
        return bool(self.llm_base_url) or is_reachable(self, self.llm_binding, self.llm_api_key)

    @property
    def has_embedding_endpoint(self) -> bool:
        """Whether embeddings come from an endpoint: a key, or an address or model was given."""
        is_given = self.embedding_base_url or "embedding_model" in self.model_fields_set
        return self.embedding_model not in OFFLINE_EMBEDDERS and bool(
            is_given or is_reachable(self, self.embedding_binding, self.embedding_api_key)
        )

    @property
    def contradictions(self) -> list[str]:
        """See `EnvironmentSettings`."""
        fields = self.model_fields_set
        texts = super().contradictions
        if "*" in self.forwarded_allow_ips:
            texts.append(
                "FORWARDED_ALLOW_IPS=* believes everybody who connects: rate limits and "
                "lock-outs do not hold"
            )
        if "llm_model" in fields and not self.has_llm:
            texts.append(
                "LLM_MODEL is set but neither LLM_API_KEY nor LLM_BASE_URL: no language model "
                "is used"
            )
        if "embedding_dim" in fields and not self.has_embedding_endpoint:
            texts.append("EMBEDDING_DIM is set but no embedding endpoint is: it has no effect")
        return texts


def is_reachable(settings: Settings, binding: str, key: SecretStr) -> bool:
    """Return whether a model of a binding can be asked without an address of its own."""
    of_openai = settings.openai_api_key.get_secret_value() or settings.openai_base_url
    return needs_no_key(settings, binding) or bool(
        key.get_secret_value() or (of_openai if binding == OPENAI else "")
    )


def needs_no_key(settings: Settings, binding: str) -> bool:
    """Return whether a binding works without a key, and without an address of its own."""
    return binding in KEYLESS or (binding == GEMINI and settings.google_genai_use_vertexai)
