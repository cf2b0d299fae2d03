"""The port through which routes read documents and passages as they were."""

from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Partition
from services.query.status.port import Passages
from services.query.visibility.documents import ReadDocuments


@dataclass(frozen=True)
class StoredDocuments:
    """Documents and passages of one workspace, and the partition in which they are read."""

    documents: ReadDocuments
    passages: Passages
    partition: Partition


class PastDocuments(Protocol):
    """Documents and passages of any place of the log."""

    async def at(self, workspace: str, sequence: int) -> StoredDocuments:
        """Return those of a workspace as the log had them at a sequence. Raises TooLarge,
        Unavailable.
        """
        ...
