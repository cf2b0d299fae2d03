"""The extractor's replay: it fills the cache of extractions from the log; a lost cache costs
nothing.
"""

from collections import defaultdict
from collections.abc import Sequence

from contracts.events import EntitiesExtracted, Event
from contracts.graph import Generations
from runtime.bus.port import Delivery
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.domain.extraction import Extraction
from services.extractor.handler import CUSTOM_KNOWLEDGE


class ExtractionReplay:
    """Puts what a language model extracted into the cache; publishes nothing."""

    events = (EntitiesExtracted,)

    def __init__(self, rows: Rows) -> None:
        self._extractions = ExtractionCache(rows)

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers that a rebuild of the status runs for the extractor."""
        return [ReplayHandler(self.events, self._on_entities_extracted)]

    async def take(
        self, batch: Sequence[Delivery[EntitiesExtracted]], generations: Generations
    ) -> None:
        """See `BulkReplay.take`."""
        extractions: dict[str, dict[str, Extraction]] = defaultdict(dict)
        for delivery in batch:
            event = delivery.event
            if event.model != CUSTOM_KNOWLEDGE:
                extraction = Extraction(
                    event.entities, event.relations, event.usage, warnings=event.warnings
                )
                extractions[delivery.workspace][event.cache_key] = extraction
        for workspace, by_key in extractions.items():
            await self._extractions.put_missing(workspace, by_key)

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`: every batch is written when it is taken."""

    async def _on_entities_extracted(
        self, batch: Sequence[Delivery[EntitiesExtracted]], generations: Generations
    ) -> list[list[Event]]:
        await self.take(batch, generations)
        return [[] for _ in batch]
