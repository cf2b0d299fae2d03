"""The extractor's knobs."""

from pydantic import Field

from runtime.settings import Settings


class ExtractorSettings(Settings):
    """LightRAG's names and defaults."""

    summary_language: str = Field(default="English", description="language of descriptions")
    extractor_workers: int = Field(default=2, ge=1, description="events handled at once; LLM_CONCURRENCY limits calls")
