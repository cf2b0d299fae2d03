"""The answer to a request that adds documents, in LightRAG's shape."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from publishing.documents import Added


class Placed(BaseModel):
    """The position in the log of one document of a request."""

    id: str
    sequence: int = Field(
        description="its state has at least this `added_sequence` as soon as it is about this text; microseconds "  # noqa: E501
        "since 1970"
    )
    track_id: str = Field(
        description=(
            "of the request that brought the text there: another one if it stood there already"
        )
    )
    is_new: bool = Field(
        default=True, description="false: the text stood there already, and nothing was added"
    )
    status: str | None = Field(
        default=None, description="the state of a document that stood there already"
    )


class InsertResponse(BaseModel):
    """The log has the documents durably; ask for their state with the track id."""

    status: Literal["success", "duplicated"] = Field(
        default="success",
        description="duplicated: every text stood there already, and nothing was added",
    )
    message: str
    track_id: str = Field(
        description="track_status has the documents of this id, also where nothing was added"
    )
    documents: list[Placed] = Field(default=[], description="in the order of the request")
    warnings: list[str] = Field(
        default=[], description="what may be missing or wrong, as pictures that were left out"
    )

    def with_warnings(self, warnings: Sequence[str]) -> "InsertResponse":
        """Return the same answer with these warnings."""
        text = "".join(f" Warning: {warning}." for warning in warnings)
        return self.model_copy(update={"message": self.message + text, "warnings": list(warnings)})

    @classmethod
    def of(
        cls, added_documents: Sequence[Added], track_id: str, states: Mapping[str, str]
    ) -> "InsertResponse":
        """Return the answer to the request of this track id. `states`: the status of existing
        documents, by id.
        """
        placements = [
            _placed(added_document, track_id, states) for added_document in added_documents
        ]
        existing = [placement for placement in placements if not placement.is_new]
        if len(existing) < len(placements):
            accepted_text = f"{len(placements) - len(existing)} accepted; processing goes on."
            unchanged_text = (
                f" {len(existing)} stood there already: see `documents`." if existing else ""
            )
            return cls(
                message=accepted_text + unchanged_text, track_id=track_id, documents=placements
            )
        first = existing[0]
        retry = (
            " POST /documents/reprocess_failed tries it again."
            if first.status in ("failed", "partial")
            else ""
        )
        state_note = (
            f"as {first.id} (status: {first.status})"
            if len(existing) == 1
            else "in full: see `documents`"
        )
        message = f"Identical content is there already {state_note}; nothing was added.{retry}"
        return cls(
            status="duplicated", message=message, track_id=first.track_id, documents=placements
        )


def _placed(added_document: Added, track_id: str, states: Mapping[str, str]) -> Placed:
    # A request that is repeated with the same Idempotency-Key gets the same answer as the first
    # time.
    if added_document.is_new or added_document.track_id == track_id:
        return Placed(
            id=added_document.document_id,
            sequence=added_document.at,
            track_id=added_document.track_id,
        )
    return Placed(
        id=added_document.document_id,
        sequence=added_document.at,
        # A document that was published to the bus may have no track id; its own id serves as one.
        track_id=added_document.track_id or added_document.document_id,
        is_new=False,
        status=states.get(added_document.document_id, "pending"),
    )
