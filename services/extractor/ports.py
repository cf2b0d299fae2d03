"""What the extractor needs of the outside."""

from collections.abc import Sequence
from typing import Protocol

from runtime.models.ports import Extraction


class Extractor(Protocol):
    """Finds what a passage says. Raises what `Chat` raises."""

    model: str
    prompt_version: str

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """The entities and relations of one passage; none is a valid answer."""
        ...


class Extractions(Protocol):
    """Results already paid for, by cache key."""

    async def get(self, workspace: str, keys: Sequence[str]) -> dict[str, Extraction]:
        """Those that are known among `keys`."""
        ...

    async def put(self, workspace: str, key: str, extraction: Extraction) -> None:
        """Remember one. Twice is once."""
        ...
