"""Rebuilds as the API shows them."""

from typing import Any

from pydantic import BaseModel, Field

from contracts.graph import Projection
from runtime.projections.rebuild_lease import RunningRebuild


class RebuildUnderWay(BaseModel):
    """A rebuild that holds the lease."""

    projections: list[Projection]
    host: str
    pid: int
    started: str
    progress: dict[str, Any] = Field(description="what it reported last: events, position, end, entities, vectors …")

    @classmethod
    def of(cls, work: RunningRebuild) -> "RebuildUnderWay":
        """Return it without what only processes need."""
        return cls.model_validate(work, from_attributes=True)
