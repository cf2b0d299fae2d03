"""Wiring of the extractor."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.bus.edge import each
from runtime.health import Health
from runtime.models.open import open_chat
from runtime.service import Bus, Subscription, run, until_it_answers
from runtime.stores.documents.caches import ExtractionCache
from runtime.stores.open import open_documents
from services.extractor.adapters import ModelExtractor, OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.extractor.settings import ExtractorSettings


def main() -> None:
    """Run the service."""
    settings = ExtractorSettings()

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        rows = open_documents(settings)
        chat = open_chat(settings, bus.guards)
        await until_it_answers("the document store", rows.prepare, health)
        extractor = ModelExtractor(chat, settings.summary_language) if chat else OfflineExtractor()
        handle = partial(
            on_chunks_created, extractor=extractor, extractions=ExtractionCache(rows), clock=time.monotonic
        )
        try:
            yield [Subscription("extractor", each(handle), workers=settings.extractor_workers)]
        finally:
            if chat:
                await chat.close()
            await rows.close()

    run("extractor", settings, build)


if __name__ == "__main__":
    main()
