"""The extractor's settings."""

from pydantic import Field

from runtime.settings import Settings

LEAST_WORKERS, MOST_WORKERS = 2, 16
"""Events handled at once: without a language model, and with one whose calls have no limit."""


class ExtractorSettings(Settings):
    """LightRAG's names and defaults."""

    summary_language: str = Field(default="English", min_length=1, description="language of descriptions")
    max_gleaning: int = Field(default=1, ge=0, description="0: each passage is asked about once; more than 1 is 1")
    max_extract_input_tokens: int = Field(default=20480, ge=1, description="of a conversation with a second round")
    max_extraction_records: int = Field(default=100, ge=1, description="rows asked for and taken of one answer")
    max_extraction_entities: int = Field(default=40, ge=1, description="entities among them")
    entity_extraction_use_json: bool = Field(default=False, description="ask for a JSON object instead of rows")
    entity_type_prompt_file: str = Field(default="", description="YAML with types of entities and examples")
    extractor_workers: int = Field(default=0, ge=0, description="events handled at once; 0: as many as LLM_MAX_ASYNC")

    @property
    def workers(self) -> int:
        """Return how many events are handled at once: as many as calls to the model are allowed at once."""
        if self.extractor_workers:
            return self.extractor_workers
        return max(LEAST_WORKERS, self.llm_max_async or MOST_WORKERS) if self.has_llm else LEAST_WORKERS
