"""What the status projection needs of the outside: document states, passages, and positions in the log."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import DocumentBounds, Partition
from services.query.passage import Passage
from services.query.status.document_status import DocumentStatus
from services.query.status.scope import Scope


@dataclass(frozen=True)
class Page:
    """One page of a list of documents."""

    documents: Sequence[DocumentStatus]
    total: int


class Documents(Protocol):
    """The state of every document. Its contract is tested by `tests/contract/test_documents.py`."""

    async def get(self, partition: Partition, ids: Collection[str]) -> dict[str, tuple[DocumentStatus, int]]:
        """Those that exist among `ids`, each with the revision to give to `swap`."""
        ...

    async def swap(self, partition: Partition, status: DocumentStatus, revision: int | None) -> bool:
        """Write the state if the stored one still has that revision (None: if there is none)."""
        ...

    async def page(
        self, partition: Partition, *, statuses: Sequence[str], order: str, descending: bool, skip: int, limit: int
    ) -> Page:
        """Documents with any of these statuses (none given: all but those that are deleted).

        `order` is `updated_at`, `created_at`, `id` or `file_path`.
        """
        ...

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """The documents that were added under one track id, by id."""
        ...

    async def in_scope(self, partition: Partition, scope: Scope) -> set[str]:
        """Ids of the documents that a scope admits. It reads them all, unless the scope names some."""
        ...

    async def oldest_unsettled(self, partition: Partition) -> int | None:
        """When the oldest document on which work goes on was added, in microseconds since 1970."""
        ...

    async def counts(self, partition: Partition) -> dict[str, int]:
        """How many documents there are of each status; deleted ones are not there."""
        ...


class Positions(Protocol):
    """Up to when everything that was said of the documents of a workspace is in every answer.

    A position is a time in microseconds since 1970, so it tells nothing of what other workspaces do.
    """

    async def of(self, partition: Partition) -> int:
        """A time up to which every document that was added or deleted is settled; it never goes back.

        A document counts as settled when it is processed, partial, failed or gone.
        """
        ...

    async def wait_for(self, partition: Partition, position: int, seconds: float) -> int:
        """The same, once every document that was added by `position` is settled, or when the time is over.

        It is `position` or more in the first case, and less in the second.
        """
        ...


class Passages(Protocol):
    """The text of every chunk."""

    async def put(self, partition: Partition, passages: Sequence[Passage]) -> None:
        """Keep them; a newer version that already stands wins. Twice is once."""
        ...

    async def get(self, partition: Partition, ids: Collection[str]) -> dict[str, Passage]:
        """Those that exist among `ids`."""
        ...

    async def remove_obsolete(self, partition: Partition, document_id: str, extent: DocumentBounds) -> None:
        """Remove what no longer belongs to the document."""
        ...
