"""The extractor's ports: what finds entities and relations in a passage, and the cache of its
results.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from runtime.errors import Unavailable
from services.extractor.domain.extraction import Extraction


class RoundGivenUp(Unavailable):
    """Raised when a second round has failed too often while the model answered others: use the
    first round alone.
    """


class Extractor(Protocol):
    """Finds entities and relations in a passage, in one round or two. Raises what `Chat` raises."""

    model: str
    draft_version: str
    """Identifies everything that affects a result of the first round."""
    prompt_version: str
    """Identifies everything that affects a final result; equals `draft_version` if there is one
    round only.
    """

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """Return the entities and relations of one passage after the first round; there may be
        none.
        """
        ...

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """Return the rows of the first round with those that a second round adds, and the token
        usage of both.

        Raises `RoundGivenUp` when this very round has failed too often.
        """
        ...


class Extractions(Protocol):
    """A cache of extractions, by cache key, per workspace."""

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """Return the cached extractions among `keys`."""
        ...

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[Extraction]]
    ) -> tuple[Extraction, bool]:
        """Return the cached extraction, or else call `make` and cache its result; and whether it
        was cached before.

        If another call of this process is making it, its result is awaited. Raises what `make`
        raises.
        """
        ...

    async def put(self, workspace: str, key: str, result: Extraction) -> None:
        """Cache one extraction. Repeats do nothing."""
        ...
