"""What is answered to a request that adds documents, in LightRAG's shape."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from runtime.bus.publisher import Added


class Placed(BaseModel):
    """Where a document of a request stands in the log."""

    id: str
    sequence: int = Field(
        description="its state has at least this `added_sequence` as soon as it is about this text; microseconds "
        "since 1970"
    )
    track_id: str = Field(
        description="of the request that brought the text there: another one if it stood there already"
    )
    is_new: bool = Field(default=True, description="false: the text stood there already, and nothing was added")
    status: str | None = Field(default=None, description="the state of a document that stood there already")


class InsertResponse(BaseModel):
    """The log has the documents durably; ask for their state with the track id."""

    status: Literal["success", "duplicated"] = Field(
        default="success", description="duplicated: every text stood there already, and nothing was added"
    )
    message: str
    track_id: str = Field(description="track_status has the documents of this id, also where nothing was added")
    documents: list[Placed] = Field(default=[], description="in the order of the request")
    warnings: list[str] = Field(default=[], description="what may be wrong with the text, as an encoding in doubt")

    def with_warnings(self, warnings: Sequence[str]) -> "InsertResponse":
        """The same answer, with these warnings."""
        said = "".join(f" Warning: {one}." for one in warnings)
        return self.model_copy(update={"message": self.message + said, "warnings": list(warnings)})

    @classmethod
    def of(cls, added: Sequence[Added], track_id: str, states: Mapping[str, str]) -> "InsertResponse":
        """What is answered to the request of that track id. `states`: of documents by id, as far as they are known."""
        placed = [_placed(one, track_id, states) for one in added]
        there = [one for one in placed if not one.is_new]
        if len(there) < len(placed):
            said = f"{len(placed) - len(there)} accepted; processing goes on."
            known = f" {len(there)} stood there already: see `documents`." if there else ""
            return cls(message=said + known, track_id=track_id, documents=placed)
        retry = " POST /documents/reprocess_failed tries it again." if there[0].status in ("failed", "partial") else ""
        what = f"as {there[0].id} (status: {there[0].status})" if len(there) == 1 else "in full: see `documents`"
        message = f"Identical content is there already {what}; nothing was added.{retry}"
        return cls(status="duplicated", message=message, track_id=there[0].track_id, documents=placed)


def _placed(added: Added, track_id: str, states: Mapping[str, str]) -> Placed:
    # A request that is sent again under its key is told the same as the first time.
    if added.is_new or added.track_id == track_id:
        return Placed(id=added.document_id, sequence=added.at, track_id=added.track_id)
    return Placed(
        id=added.document_id,
        sequence=added.at,
        # What came over the bus need not have a track; a document's own id is one as well.
        track_id=added.track_id or added.document_id,
        is_new=False,
        status=states.get(added.document_id, "pending"),
    )
