"""What the extractor needs of the outside."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from runtime.errors import Unavailable
from services.extractor.domain.extraction import Extraction


class RoundGivenUp(Unavailable):
    """A second round failed again and again while the model answered others: the first one has to do."""


class Extractor(Protocol):
    """Finds what a passage says, in one round or two. Raises what `Chat` raises."""

    model: str
    draft_version: str
    """Names all that changes a result after the first round."""
    prompt_version: str
    """Names all that changes a result in the end; the same as `draft_version` where there is one round only."""

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """The first round: the entities and relations of one passage; none is a valid answer."""
        ...

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """The second round: the first one's rows and what it missed, with what both cost.

        Raises `RoundGivenUp` when this very round has failed too often.
        """
        ...


class Extractions(Protocol):
    """Results already paid for, by cache key."""

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """Those that are known among `keys`."""
        ...

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[Extraction]]
    ) -> tuple[Extraction, bool]:
        """The one that is known, or the one that is made and remembered now; and whether it was known.

        One that another call of this process is having made is waited for. Raises what `make` raises.
        """
        ...

    async def put(self, workspace: str, key: str, extraction: Extraction) -> None:
        """Remember one. Twice is once."""
        ...
