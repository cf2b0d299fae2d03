"""The extractor's settings."""

from pydantic import Field

from contracts.ids import origin_of
from runtime.models.roles import RoleSettings, language_model

OFFLINE_WORKERS = 2
MOST_CALLS = 64
MOST_WAITING = 64
"""Events handled at once without a model; calls at once where they have no limit; events that wait
for a call's end.
"""


class ExtractorSettings(RoleSettings):
    """LightRAG's names and defaults."""

    max_gleaning: int = Field(
        default=1, ge=0, description="0: each passage is asked about once; more than 1 is 1"
    )
    max_extract_input_tokens: int = Field(
        default=20480, ge=1, description="of a conversation with a second round"
    )
    max_extraction_records: int = Field(
        default=100, ge=1, description="rows asked for and taken of one answer"
    )
    max_extraction_entities: int = Field(default=40, ge=1, description="entities among them")
    entity_extraction_use_json: bool = Field(
        default=False, description="ask for a JSON object instead of rows"
    )
    entity_type_prompt_file: str = Field(
        default="", description="YAML with types of entities and examples"
    )
    extractor_workers: int = Field(
        default=0, ge=0, description="events handled at once; 0: by LLM_MAX_ASYNC"
    )

    extract_llm_batch: bool = Field(
        default=False,
        description="extract in batches of the provider: within a day, at half the price",
    )
    extract_llm_batch_workspaces: str = Field(
        default="", description="workspaces of which that holds, between commas; empty: all"
    )
    extract_llm_batch_gather: float = Field(
        default=60.0, ge=0, description="seconds for which passages are gathered for a batch"
    )
    extract_llm_batch_poll: float = Field(
        default=60.0, gt=0, description="seconds between two looks at a batch"
    )

    def batches(self, workspace: str) -> bool:
        """Return whether passages of this workspace are extracted in batches; those of a branch are
        where those of its origin are.
        """
        names = [name.strip() for name in self.extract_llm_batch_workspaces.split(",")]
        chosen_names = [name for name in names if name]
        is_chosen = not chosen_names or {workspace, origin_of(workspace)} & {*chosen_names}
        return self.extract_llm_batch and bool(is_chosen)

    @property
    def workers(self) -> int:
        """Return how many events are handled at once: enough that another chunk waits wherever a
        call ends.

        An event is at most 256 KB, so those that wait take at most 16 MB.
        """
        if self.extractor_workers:
            return self.extractor_workers
        model = language_model(self, "extract")
        calls = (model.limits.calls if model else 0) or MOST_CALLS
        return calls + min(calls, MOST_WAITING) if model else OFFLINE_WORKERS
