"""The merger's settings."""

from pydantic import Field

from knowledge.descriptions import SummaryLimits
from runtime.models.roles import SummarySettings


class MergerSettings(SummarySettings):
    """LightRAG's names and defaults. Without a language model nothing is summarised."""

    summary_context_size: int = Field(default=12_000, ge=100, description="tokens one call reads")
    summary_length_recommended: int = Field(
        default=600, ge=20, description="tokens a summary is to have at most"
    )
    summary_quiet_seconds: float = Field(
        default=5.0, ge=0, description="a thing is summarised once it rests so long"
    )
    merge_cache_mb: int = Field(
        default=256,
        ge=0,
        description="MB of what is known of things that many chunks name; 0: nothing is cached",
    )

    @property
    def limits(self) -> SummaryLimits:
        """Return when descriptions are summarised rather than joined."""
        return SummaryLimits(self.force_llm_summary_on_merge, self.summary_max_tokens)

    @property
    def cache_bytes(self) -> int:
        """Return the bytes that an `AggregateCache` may take."""
        return self.merge_cache_mb * 2**20

    @property
    def contradictions(self) -> list[str]:
        """See `Settings.contradictions`."""
        messages = super().contradictions
        if self.summary_length_recommended >= self.summary_context_size:
            messages.append(
                "SUMMARY_LENGTH_RECOMMENDED is not smaller than SUMMARY_CONTEXT_SIZE: nothing "
                "gets shorter"
            )
        return messages
