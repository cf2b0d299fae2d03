"""Settings of the query service, from the environment."""

from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr

from knowledge.descriptions import SummaryLimits
from runtime.errors import ConfigurationError
from runtime.models.roles import SummarySettings
from services.query.answering.port import EffortLimits
from services.query.question import ChunkPickMethod


class QuerySettings(SummarySettings):
    """LightRAG's names and defaults."""

    port: int = Field(default=9621, ge=0, le=65535, description="the API")
    workers: int = Field(
        default=1, ge=1, le=64, description="processes that answer, behind one port"
    )
    top_k: int = Field(default=40, ge=1, le=1000)
    chunk_top_k: int = Field(default=20, ge=1, le=1000)
    max_entity_tokens: int = Field(default=6000, ge=1)
    max_relation_tokens: int = Field(default=8000, ge=1)
    max_total_tokens: int = Field(default=30000, ge=1)
    cosine_threshold: float = Field(default=0.2, ge=-1, le=1)
    kg_chunk_pick_method: ChunkPickMethod = "VECTOR"
    rerank_binding: Literal["", "null", "cohere", "jina", "aliyun", "tei"] = ""
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
    min_position_timeout: float = Field(
        default=10.0, ge=0, description="seconds a question waits for its min_position"
    )
    log_archive: bool = Field(
        default=False, description="copy every event into the document store, for `repair`"
    )
    max_upload_size: int = Field(
        default=104857600, ge=1, description="bytes of a file; no more than 50 MiB are read"
    )
    graph_cache_mb: int = Field(
        default=128,
        ge=0,
        description="MB of graph and vectors that questions keep in memory; 0: none",
    )
    max_graph_nodes: int = Field(default=1000, ge=1, description="nodes that /graphs gives at most")
    max_event_streams: int = Field(
        default=100,
        ge=1,
        description="that /events/stream has open in one process; a quarter of them for one client",
    )
    webhook_allowed_networks: str = Field(
        default="",
        description=(
            "networks such as 10.0.0.0/8, with commas, that webhooks may lead to though private"
        ),
    )
    input_dir: str = Field(
        default="", description="has a folder for each workspace, which /documents/scan reads"
    )
    edit_timeout: float = Field(
        default=10.0, ge=0, description="seconds an edit waits for its effect in the graph"
    )
    webui_title: str = Field(default="Lightstream", description="what pages call this deployment")
    webui_description: str = Field(default="", description="what pages say about it")
    ollama_emulating_model_name: str = Field(
        default="lightrag", pattern=r"^[\w.-]+$", description="the model that clients of Ollama see"
    )
    ollama_emulating_model_tag: str = Field(
        default="latest", pattern=r"^[\w.-]+$", description="its tag"
    )
    enable_llm_cache: bool = Field(
        default=True, description="keep keywords and answers of the language model"
    )
    effort_medium_rounds: int = Field(
        default=1, ge=0, le=10, description="of a question with effort medium"
    )
    effort_high_rounds: int = Field(
        default=3, ge=0, le=10, description="of a question with effort high"
    )
    effort_round_searches: int = Field(
        default=3, ge=1, le=10, description="further searches of one round"
    )
    effort_max_tokens: int = Field(
        default=60_000,
        ge=0,
        description="tokens that a model reads and writes in all rounds of a question",
    )
    user_prompt_prefix: str = Field(
        default="", description="begins the user_prompt of every request"
    )
    user_prompt_prefix_file: str = Field(
        default="", description="a file that holds it, and goes before the setting"
    )
    workspace: str = Field(default="default", description="workspace of requests that name none")

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
            raise ConfigurationError(f"USER_PROMPT_PREFIX_FILE cannot be read: {error}") from None

    @property
    def summary_limits(self) -> SummaryLimits:
        """When the merger summarises descriptions rather than joining them."""
        return SummaryLimits(self.force_llm_summary_on_merge, self.summary_max_tokens)

    @cached_property
    def webhook_networks(self) -> list[IPv4Network | IPv6Network]:
        """Private networks that webhooks may lead to. Raises ConfigurationError for what is no
        network.
        """
        try:
            return [
                ip_network(part.strip())
                for part in self.webhook_allowed_networks.split(",")
                if part.strip()
            ]
        except ValueError as error:
            raise ConfigurationError(f"WEBHOOK_ALLOWED_NETWORKS: {error}") from None

    @property
    def effort_limits(self) -> EffortLimits:
        """What a question with more than low effort may spend."""
        return EffortLimits(
            self.effort_medium_rounds,
            self.effort_high_rounds,
            self.effort_round_searches,
            self.effort_max_tokens,
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
