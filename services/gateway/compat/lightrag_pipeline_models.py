"""Requests and answers of the routes about work in progress, in LightRAG's shapes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.gateway.documents.models import EncodableText
from services.gateway.strict_model import StrictModel


class PipelineStatus(BaseModel):
    """The work in progress, in the fields of LightRAG's pipeline."""

    busy: bool
    job_name: str
    job_start: str | None = None
    docs: int = Field(description="documents on which work goes on")
    batchs: int
    cur_batch: int
    request_pending: bool = False
    cancellation_requested: bool = False
    destructive_busy: bool = False
    scanning: bool = False
    scanning_exclusive: bool = False
    pending_enqueues: int = 0
    latest_message: str
    history_messages: list[str]
    update_status: dict[str, list[bool]] = {}
    recovery_required: bool = False
    recovery_kind: str | None = None
    recovery_message: str | None = None


class Cancelled(BaseModel):
    """The outcome of stopping the work in progress."""

    status: Literal["cancellation_requested", "not_busy"]
    message: str
    doc_ids: list[str] = Field(
        default=[], description="documents on which work is stopped, the first 1,000 of them"
    )


class ResetRequest(StrictModel):
    """`confirm` must be true, as in LightRAG."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"confirm": True}]})

    confirm: bool = False


class Reset(BaseModel):
    """The outcome of a reset: nothing ever needs one."""

    status: Literal["no_recovery_required"] = "no_recovery_required"
    message: str
    cancelled_manual_retries: int = 0


class SourceConflicts(BaseModel):
    """Names that several documents have: always none."""

    conflicts: list[dict[str, Any]] = []
    next_cursor: str | None = None


class RepairRequest(StrictModel):
    """A request to let one document have a name that several have."""

    canonical_source_key: EncodableText = Field(min_length=1, max_length=4096, examples=["port.md"])
    primary_doc_id: EncodableText = Field(
        min_length=1, max_length=512, examples=["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"]
    )
    expected_candidate_count: int | None = None
    expected_candidate_fingerprint: EncodableText | None = None
    dry_run: bool = True
