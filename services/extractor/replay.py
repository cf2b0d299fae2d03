"""The extractor's replay handler: it fills the cache of extractions from the log; a lost cache costs nothing."""

from collections.abc import Sequence
from functools import partial

from contracts.events import EntitiesExtracted, Event
from contracts.graph import Generations
from runtime.bus.port import Delivery
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.handler import CUSTOM_KNOWLEDGE
from services.extractor.port import Extraction, Extractions


def replay_handlers(rows: Rows) -> list[ReplayHandler]:
    """Return the handlers that a rebuild of the status runs for the extractor."""
    return [ReplayHandler((EntitiesExtracted,), partial(on_entities_extracted, extractions=ExtractionCache(rows)))]


async def on_entities_extracted(
    batch: Sequence[Delivery[EntitiesExtracted]], _: Generations, *, extractions: Extractions
) -> list[list[Event]]:
    """Put what a language model extracted into the cache; publish nothing."""
    for delivery in batch:
        event = delivery.event
        if event.model == CUSTOM_KNOWLEDGE:
            continue
        await extractions.put(
            delivery.workspace, event.cache_key, Extraction(event.entities, event.relations, event.usage)
        )
    return [[] for _ in batch]
