"""The extractor as a process: which handler takes the messages of which durable, and what it is
given.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.bus.document_versions import LogVersions
from runtime.bus.processor import each
from runtime.costs.ledger import RowLedger
from runtime.health import Health
from runtime.models.open import open_chat, open_tokenizer
from runtime.models.port import Chat
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.open import open_documents
from services.extractor.adapters.budgeted_chat import BudgetedChat, BudgetGuard
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ModelExtractor
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import extraction_config


def main() -> None:
    """Run the service."""
    settings = read_settings("extractor", ExtractorSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        rows = open_documents(settings)
        chat = open_chat(settings, bus.limiters, role="extract")
        guard = BudgetGuard(bus.log, bus.pointers, RowLedger(rows), settings.prices)
        extractor = (
            _model_extractor(BudgetedChat(chat, guard), settings) if chat else OfflineExtractor()
        )
        handle = partial(
            on_chunks_created,
            extractor=extractor,
            extractions=ExtractionCache(rows),
            clock=time.monotonic,
            versions=LogVersions(bus.log),
        )
        try:
            await until_it_answers("the document store", rows.prepare, health)
            yield [Subscription("extractor", each(handle), workers=settings.workers)]
        finally:
            if chat:
                await chat.close()
            await rows.close()

    run("extractor", settings, build)


def _model_extractor(chat: Chat, settings: ExtractorSettings) -> ModelExtractor:
    return ModelExtractor(chat, extraction_config(settings), open_tokenizer().count)


if __name__ == "__main__":
    main()
