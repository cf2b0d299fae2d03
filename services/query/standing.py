"""Why a document is not in force at a moment, and which of two that are outweighs the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Successor:
    """A document that supersedes another one, and since when."""

    document_id: str
    file_path: str
    since: datetime


@dataclass(frozen=True)
class Standing:
    """Why a document among the sources is not in force at the moment that is asked about."""

    document_id: str
    file_path: str
    successors: Sequence[Successor] = ()
    """The documents in force that supersede it, the newest first."""
    valid_from: datetime | None = None
    """When it comes into force, if that is later."""
    valid_until: datetime | None = None
    """When it ceased to be in force, if that is earlier."""


@dataclass(frozen=True)
class Statement:
    """A sentence of a document in force, and the authority that the document has."""

    document_id: str
    file_path: str
    passage_id: str
    text: str
    authority: int


@dataclass(frozen=True)
class Precedence:
    """Two statements of sources in force that seem to contradict each other. That of the document
    of greater authority takes precedence.
    """

    weightier: Statement
    lighter: Statement

    @property
    def passages(self) -> frozenset[str]:
        """Return the ids of both passages."""
        return frozenset((self.weightier.passage_id, self.lighter.passage_id))

    @property
    def documents(self) -> frozenset[str]:
        """Return the ids of both documents."""
        return frozenset((self.weightier.document_id, self.lighter.document_id))
