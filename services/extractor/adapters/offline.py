"""The extractor that works by rules, without a language model."""

import asyncio
from collections.abc import Sequence

from offline.extraction.extract import MODEL, PROMPT_VERSION, extract
from services.extractor.domain.extraction import Extraction


class OfflineExtractor:
    """`Extractor` over the rules in `offline/extraction`; `model` names them instead of a model."""

    model = MODEL
    draft_version = prompt_version = PROMPT_VERSION

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """See `Extractor.extract`. Computes for a few milliseconds, in a thread."""
        graph = await asyncio.to_thread(extract, content, headings)
        return Extraction(graph.entities, graph.relations)

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """Return the first extraction: rules find nothing new in a second round."""
        return first
