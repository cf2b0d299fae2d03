"""The port through which routes read documents and passages as they were."""

from typing import Protocol

from services.query.lookup.documents import StoredDocuments


class PastDocuments(Protocol):
    """Documents and passages of any place of the log."""

    async def at(self, workspace: str, sequence: int) -> StoredDocuments:
        """Return those of a workspace as the log had them at a sequence. Raises TooLarge,
        Unavailable.
        """
        ...
