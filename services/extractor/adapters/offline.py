"""The extractor that works by rules, without a language model."""

import asyncio
from collections.abc import Sequence

from services.extractor.domain.extraction import Extraction
from services.extractor.offline import extraction as offline


class OfflineExtractor:
    """`Extractor` over the rules in `services/extractor/offline`; `model` names them instead of a
    model.
    """

    model = offline.MODEL
    draft_version = prompt_version = offline.PROMPT_VERSION

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """See `Extractor.extract`. Computes for a few milliseconds, in a thread."""
        return await asyncio.to_thread(offline.extract, content, headings)

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """Return the first extraction: rules find nothing new in a second round."""
        return first
