"""The port of visibility: which documents of a workspace a viewer sees."""

from dataclasses import dataclass
from typing import Protocol

from runtime.errors import NotServing
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True, eq=False)
class VisibleDocuments:
    """The documents that a viewer sees at one place of the log. `hides`: there are others.

    A document that comes later is not among them, so it stays hidden wherever only these are shown.
    """

    ids: frozenset[str]
    hides: bool

    @property
    def restriction(self) -> frozenset[str] | None:
        """Return the ids that reading is restricted to; None where nothing is hidden."""
        return self.ids if self.hides else None

    def shows_no_more_than(self, later: "VisibleDocuments") -> bool:
        """Return whether what was read under these may still be shown where `later` are seen."""
        if self is later:
            return True
        return (self.hides or not later.hides) and self.ids <= later.ids


class Visibility(Protocol):
    """Knows of each workspace which documents a viewer sees. What it says is as current as the log,
    and reads no document: changes come as events.
    """

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """Return what the viewer sees. Raises `Unavailable`, and NewerVersion for an event that
        only a newer release can read.
        """
        ...

    async def history(self, workspace: str, viewer: Viewer, /) -> "VisibleHistory":
        """Return what of the past the viewer sees. Raises what `of` raises."""
        ...


class VisibleHistory(Protocol):
    """What of the past a viewer sees: what it sees now, and could see then. So a text that was
    hidden from it stays so, though the document has been opened with another one since.
    """

    async def at(self, sequence: int, /) -> VisibleDocuments:
        """Return the documents at a sequence of the log. Raises `Unavailable`, and TooLarge where
        access was changed of too many documents since.
        """
        ...

    async def sees(self, id: str, sequence: int, /, version: int | None = None) -> bool:
        """Return whether a document is seen at a sequence of the log; and whether the text of that
        version of it could be seen, of which something may come after its time. Raises
        `Unavailable`.
        """
        ...


class NoVisibility:
    """`Visibility` of a process that answers no viewers: it refuses each."""

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """Raise NotServing."""
        raise NotServing("this process answers only those who see all documents")

    async def history(self, workspace: str, viewer: Viewer, /) -> VisibleHistory:
        """Raise NotServing."""
        raise NotServing("this process answers only those who see all documents")


@dataclass(frozen=True)
class VisibilityAsOf:
    """`Visibility` of readers of the past, at a sequence of the log."""

    visibility: Visibility
    sequence: int

    async def of(self, workspace: str, viewer: Viewer, /) -> VisibleDocuments:
        """See `VisibleHistory.at`."""
        return await (await self.visibility.history(workspace, viewer)).at(self.sequence)

    async def history(self, workspace: str, viewer: Viewer, /) -> VisibleHistory:
        """See `Visibility.history`."""
        return await self.visibility.history(workspace, viewer)
