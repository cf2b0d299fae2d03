"""Settings of the query service, from the environment."""

from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator

from knowledge.descriptions import SummaryLimits
from runtime.errors import ConfigurationError
from runtime.models.roles import SummarySettings
from runtime.variables import http_address
from services.query.answering.port import EffortLimits
from services.query.question import DEFAULT_MODE, ChunkPickMethod, SearchMode
from services.query.receipt_forms import ReceiptForms, parse_receipt_forms


class QuerySettings(SummarySettings):
    """LightRAG's names and defaults."""

    default_mode: SearchMode = Field(
        default=DEFAULT_MODE, description="mode of a question that names none"
    )
    top_k: int = Field(default=40, ge=1, le=1000)
    chunk_top_k: int = Field(default=20, ge=1, le=1000)
    max_entity_tokens: int = Field(default=6000, ge=1)
    max_relation_tokens: int = Field(default=8000, ge=1)
    max_total_tokens: int = Field(default=30000, ge=1)
    cosine_threshold: float = Field(default=0.2, ge=-1, le=1)
    kg_chunk_pick_method: ChunkPickMethod = "VECTOR"
    rerank_binding: Literal[
        "", "null", "cohere", "jina", "aliyun", "voyage", "nvidia", "tei", "huggingface"
    ] = ""
    rerank_model: str = ""
    rerank_binding_host: str = Field(
        default="",
        validation_alias=AliasChoices("RERANK_BINDING_HOST", "RERANK_BASE_URL"),
        description="whole address",
    )
    rerank_binding_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("RERANK_BINDING_API_KEY", "RERANK_API_KEY"),
    )
    rerank_timeout: float = Field(default=30.0, gt=0, description="seconds")
    rerank_max_async: int = Field(
        default=4,
        ge=0,
        validation_alias=AliasChoices("RERANK_MAX_ASYNC", "MAX_ASYNC_RERANK"),
        description="0: no limit",
    )
    rerank_max_tokens_per_doc: int = Field(default=4096, ge=0, description="0: no limit")
    rerank_by_default: bool = True
    min_rerank_score: float = Field(
        default=0.0, description="from 0 to 1; logits count by their sigmoid; 0: none"
    )
    related_chunk_number: int = Field(default=5, ge=0)
    log_archive: bool = Field(
        default=False, description="copy every event into the document store, for `repair`"
    )
    graph_cache_mb: int = Field(
        default=128,
        ge=0,
        description="MB of graph and vectors that questions keep in memory; 0: none",
    )
    receipts: str = Field(
        default="off",
        description=(
            "`off`, `hashes` or `full`: whether every answer is an event of the log, and with its "
            "texts; `off, legal=full` for single workspaces"
        ),
    )
    enable_llm_cache: bool = Field(
        default=True, description="keep keywords and answers of the language model"
    )
    effort_medium_rounds: int = Field(
        default=1, ge=0, le=10, description="of a question with effort medium"
    )
    effort_high_rounds: int = Field(
        default=6, ge=0, le=20, description="of a question with effort high"
    )
    effort_round_searches: int = Field(
        default=3, ge=1, le=10, description="further searches, or calls of tools, of one round"
    )
    effort_max_tokens: int = Field(
        default=60_000,
        ge=0,
        description="tokens that a model reads and writes in all rounds of a question",
    )
    effort_max_seconds: float = Field(
        default=60.0, gt=0, description="for all rounds with tools of a question"
    )
    user_prompt_prefix: str = Field(
        default="", description="begins the user_prompt of every request"
    )
    user_prompt_prefix_file: str = Field(
        default="", description="a file that holds it, and goes before the setting"
    )

    _has_address = field_validator("rerank_binding_host")(http_address)

    @field_validator("receipts")
    @classmethod
    def _is_a_form(cls, text: str) -> str:
        parse_receipt_forms(text)
        return text

    @cached_property
    def receipt_forms(self) -> ReceiptForms:
        """In which form the answers of each workspace are recorded."""
        return parse_receipt_forms(self.receipts)

    @cached_property
    def prompt_prefix(self) -> str:
        """What begins every user_prompt, as it stands. Raises ConfigurationError for a file that
        cannot be read.
        """
        if not self.user_prompt_prefix_file:
            return self.user_prompt_prefix
        try:
            return Path(self.user_prompt_prefix_file).read_text("utf-8")
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigurationError(f"USER_PROMPT_PREFIX_FILE cannot be read: {why}") from None

    @property
    def summary_limits(self) -> SummaryLimits:
        """When the merger summarises descriptions rather than joining them."""
        return SummaryLimits(self.force_llm_summary_on_merge, self.summary_max_tokens)

    @property
    def effort_limits(self) -> EffortLimits:
        """What a question with more than low effort may spend."""
        return EffortLimits(
            self.effort_medium_rounds,
            self.effort_high_rounds,
            self.effort_round_searches,
            self.effort_max_tokens,
            self.effort_max_seconds,
        )

    @property
    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        messages = super().contradictions
        if self.max_entity_tokens + self.max_relation_tokens >= self.max_total_tokens:
            messages.append(
                "MAX_ENTITY_TOKENS and MAX_RELATION_TOKENS together leave nothing of "
                "MAX_TOTAL_TOKENS for passages"
            )
        return messages
