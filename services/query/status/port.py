"""Ports of the status projection: document states, passages, and positions in the log."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import DocumentBounds, Partition
from services.query.passage import Passage
from services.query.status.document_status import DocumentStatus
from services.query.status.scope import Scope


@dataclass(frozen=True)
class Page:
    """One page of a list of documents. `total`: those that are listed, on all pages; `counts`: all
    documents by status, whatever is listed.
    """

    documents: Sequence[DocumentStatus]
    total: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Listing:
    """Which documents are asked for, in what order, and which of them.

    `order` is `updated_at`, `created_at`, `id` or `file_path`; `limit` 0 means all of them.
    """

    statuses: Sequence[str] = ()
    """Any of these; without one, all documents that are not deleted."""
    names: tuple[str, ...] = ()
    """Only documents whose file path has any of these in it, whatever the case of letters."""
    ids: Sequence[str] = ()
    """Only these documents."""
    file_paths: Sequence[str] = ()
    """Only documents whose file path is one of these."""
    order: str = "id"
    descending: bool = False
    skip: int = 0
    limit: int = 0


Change = Callable[[Mapping[str, DocumentStatus]], Sequence[DocumentStatus]]
"""Given the existing documents by id, returns the states to write, with these ids or others that
were asked for.
"""


class Documents(Protocol):
    """The state of every document. Its contract is tested by `tests/contract/test_documents.py`."""

    async def get(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """Return the existing documents among `ids`, each with its revision, which grows with every
        change.
        """
        ...

    async def update(
        self, partition: Partition, ids: Collection[str], change: Change
    ) -> list[DocumentStatus]:
        """Read the existing documents among `ids`, write those that `change` returns, and return
        what was written.

        One read and one write for all of them. Atomic per document: `change` is called again, with
        those documents only, where another writer was faster. Raises `Unavailable` when one stays
        faster.
        """
        ...

    async def page(
        self, partition: Partition, listing: Listing, among: frozenset[str] | None = None
    ) -> Page:
        """Return the documents that the listing asks for, as if there were none but those with the
        ids `among` if given. Totals and counts are counted anew, over an index.
        """
        ...

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """Return the documents with this track id, ordered by id."""
        ...

    async def in_scope(self, partition: Partition, scope: Scope) -> set[str]:
        """Return the ids of the documents that a scope admits, out of indexes; those of a scope
        with ids by reading these.
        """
        ...

    async def newest_change(self, partition: Partition) -> tuple[str, int]:
        """Return when a document was changed or deleted last, and the version of the newest one;
        what costs the same however many there are.
        """
        ...

    async def record_supersessions(
        self, partition: Partition, statuses: Sequence[DocumentStatus]
    ) -> None:
        """Store which of these documents have a validity, and what they supersede, for
        `related_by_validity`.

        Of two calls about a document the one with the newer state wins.
        """
        ...

    async def related_by_validity(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, set[str]]:
        """Return by id, for those of `ids` that have any, the documents whose validity bears on it:
        its own and those that may supersede it. Whether they do, their states say.
        """
        ...

    async def oldest_unsettled(self, partition: Partition) -> int | None:
        """Return when the oldest unsettled document was added, in microseconds since 1970; None
        without any.
        """
        ...

    async def ids_with_status(self, partition: Partition, statuses: Collection[str]) -> set[str]:
        """Return the ids of all documents with any of these statuses."""
        ...

    async def counts(
        self, partition: Partition, among: frozenset[str] | None = None
    ) -> dict[str, int]:
        """Return the number of documents with each status, of those with the ids `among` if given,
        without deleted ones.
        """
        ...


class Positions(Protocol):
    """The time up to which answers include all changes of a workspace's documents.

    A position is a time in microseconds since 1970, so it reveals nothing about other workspaces.
    """

    async def of(self, partition: Partition) -> int:
        """Return a time up to which every added or deleted document is settled; it never decreases.

        A document counts as settled when it is processed, partial, failed or gone.
        """
        ...

    async def wait_for(self, partition: Partition, position: int, seconds: float) -> int:
        """Wait until all documents added by `position` are settled, for at most `seconds`; return
        the position.

        The result is at least `position` if they are settled, and less after a timeout.
        """
        ...


class Passages(Protocol):
    """The text of every chunk."""

    async def put(self, partition: Partition, passages: Sequence[Passage]) -> None:
        """Store the passages except where a newer version is stored. The call is idempotent."""
        ...

    async def get(self, partition: Partition, ids: Collection[str]) -> dict[str, Passage]:
        """Return the existing passages among `ids`."""
        ...

    async def page(self, partition: Partition, after: str, limit: int) -> dict[str, Passage]:
        """Return up to `limit` passages by key, those with keys greater than `after`, in order of
        the keys.
        """
        ...

    async def remove_obsolete(
        self, partition: Partition, bounds: Mapping[str, DocumentBounds], *, alone: bool = False
    ) -> None:
        """Remove the passages that no longer belong to these documents, by their bounds. `alone`:
        nobody else writes the partition.
        """
        ...
