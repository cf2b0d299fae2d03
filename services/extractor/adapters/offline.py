"""The extractor that works offline, by rules, and says so by its name."""

import asyncio
from collections.abc import Sequence

from services.extractor.domain.extraction import Extraction
from services.extractor.offline import extraction as offline


class OfflineExtractor:
    """Finds names and ties by rules, without a model."""

    model = offline.MODEL
    draft_version = prompt_version = offline.PROMPT_VERSION

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """A few milliseconds of computing in a thread."""
        return await asyncio.to_thread(offline.extract, content, headings)

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """Rules find nothing new when they are asked again."""
        return first
