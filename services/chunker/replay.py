"""The chunker's replay: it fills the cache of descriptions from the log; a lost cache costs
nothing.
"""

from collections import defaultdict
from collections.abc import Sequence

from contracts.events import Event, FigureDescribed
from contracts.graph import Generations
from runtime.bus.port import Delivery
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from services.chunker.adapters.description_cache import DescriptionCache
from services.chunker.port import Description


class DescriptionReplay:
    """Puts what a model said of figures into the cache; publishes nothing."""

    events = (FigureDescribed,)

    def __init__(self, rows: Rows) -> None:
        self._descriptions = DescriptionCache(rows)

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers that a rebuild of the status runs for the chunker."""
        return [ReplayHandler(self.events, self._on_figures_described)]

    async def take(
        self, batch: Sequence[Delivery[FigureDescribed]], generations: Generations
    ) -> None:
        """See `BulkReplay.take`."""
        descriptions: dict[str, dict[str, Description]] = defaultdict(dict)
        for delivery in batch:
            event = delivery.event
            description = Description(event.text, event.usage)
            descriptions[delivery.workspace][event.cache_key] = description
        for workspace, by_key in descriptions.items():
            await self._descriptions.put_missing(workspace, by_key)

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`: every batch is written when it is taken."""

    async def _on_figures_described(
        self, batch: Sequence[Delivery[FigureDescribed]], generations: Generations
    ) -> list[list[Event]]:
        await self.take(batch, generations)
        return [[] for _ in batch]
