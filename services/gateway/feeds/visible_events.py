"""The events of a workspace that somebody may see from whom some documents are hidden."""

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.bus.event_summary import EventSummary
from services.query.visibility.port import Visibility
from services.query.visibility.viewer import Viewer

ABOUT_ONE_DOCUMENT = (
    "DocumentAdded",
    "DocumentCancelled",
    "ChunksCreated",
    "FiguresListed",
    "FigureDescribed",
    "EntitiesExtracted",
    "VectorsIndexed",
    "StageFailed",
    "RetryRequested",
)
"""Types of events that say nothing of other documents, nor of who may see theirs."""


@dataclass(frozen=True)
class VisibleEvents:
    """Which events a viewer sees: those about one document that it sees now, and could see when
    they happened, and about a text of it that it could see: what is done with an older text may
    come late.
    """

    visibility: Visibility
    workspace: str
    viewer: Viewer

    async def among(self, summaries: Sequence[EventSummary]) -> list[EventSummary]:
        """Return those of the events that are seen."""
        history = await self.visibility.history(self.workspace, self.viewer)
        return [
            summary
            for summary in summaries
            if summary.type in ABOUT_ONE_DOCUMENT
            and await history.sees(summary.document, summary.sequence, summary.version)
        ]

    async def sees(self, document: str) -> bool:
        """Return whether the viewer sees a document now."""
        return document in (await self.visibility.of(self.workspace, self.viewer)).ids


def visible_types(types: Sequence[str]) -> tuple[str, ...]:
    """Return the types to read for viewers: those that are asked for, else all that they see."""
    return tuple(types) or ABOUT_ONE_DOCUMENT
