"""The query service's knobs."""

from pydantic import Field

from runtime.settings import Settings
from services.query.domain.question import Pick


class QuerySettings(Settings):
    """LightRAG's names and defaults."""

    port: int = Field(default=9621, ge=0, le=65535, description="the API")
    top_k: int = Field(default=40, ge=1, le=1000)
    chunk_top_k: int = Field(default=20, ge=1, le=1000)
    max_entity_tokens: int = Field(default=6000, ge=1)
    max_relation_tokens: int = Field(default=8000, ge=1)
    max_total_tokens: int = Field(default=30000, ge=1)
    cosine_threshold: float = Field(default=0.2, ge=-1, le=1)
    kg_chunk_pick_method: Pick = "VECTOR"
    min_rerank_score: float = 0.0
    related_chunk_number: int = Field(default=5, ge=0)
    min_position_timeout: float = Field(default=10.0, ge=0, description="seconds a question waits for its min_position")
    summary_language: str = Field(default="English", description="language of keywords")
    workspace: str = Field(default="default", description="workspace of requests that name none")

    @property
    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        found = super().contradictions
        if self.max_entity_tokens + self.max_relation_tokens >= self.max_total_tokens:
            found.append(
                "MAX_ENTITY_TOKENS and MAX_RELATION_TOKENS together leave nothing of MAX_TOTAL_TOKENS for passages"
            )
        return found
