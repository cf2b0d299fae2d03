"""Why a document is not in force at a moment."""

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
