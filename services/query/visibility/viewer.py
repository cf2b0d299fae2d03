"""Who reads: a viewer sees the documents that its principals are admitted to."""

from collections.abc import Iterable
from dataclasses import dataclass

from contracts.access import EVERYONE


@dataclass(frozen=True)
class Viewer:
    """The principals of a reader, sorted: `user:…` and `group:…`. Without any it sees what everyone
    may see. Where there is no viewer at all, everything is seen.
    """

    principals: tuple[str, ...] = ()

    @classmethod
    def of(cls, principals: Iterable[str]) -> "Viewer":
        """Return the viewer of these principals, each once."""
        return cls(tuple(sorted({*principals} - {EVERYONE})))
