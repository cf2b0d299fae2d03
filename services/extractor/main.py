"""The extractor as a process: which handler takes the messages of which durable, and what it is
given.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from contracts.events import BranchSettings, Event
from contracts.graph import Generations
from contracts.topology import BATCHES_BUCKET
from runtime.bus.document_versions import LogVersions
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.port import Delivery
from runtime.bus.processor import each
from runtime.costs.budgeted_chat import BudgetGuard
from runtime.costs.ledger import RowLedger
from runtime.health import Health
from runtime.models.batches.records import BatchRecords
from runtime.models.batches.rules import WantedCalls
from runtime.models.open import open_chat, open_tokenizer
from runtime.models.port import Chat
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.open import open_documents
from services.extractor.adapters.batch_queues import BatchQueues
from services.extractor.adapters.branch_extractors import BranchExtractors
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ModelExtractor
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.handler import on_chunks_created
from services.extractor.port import Extractor
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import (
    batch_rules,
    branch_config,
    extraction_config,
    with_branch_model,
)


def main() -> None:
    """Run the service."""
    settings = read_settings("extractor", ExtractorSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        rows = open_documents(settings)
        chat = open_chat(settings, bus.limiters, role="extract")
        guard = BudgetGuard(bus.log, bus.pointers, RowLedger(rows), settings.prices)
        extractions = ExtractionCache(rows)
        versions = LogVersions(bus.log)
        values = await NatsSharedValues.bind(bus.jetstream, BATCHES_BUCKET)
        wanted_calls = WantedCalls(extractions.existing, versions)
        queues = BatchQueues(batch_rules(settings), wanted_calls, BatchRecords(values), guard)
        extractor = (
            _model_extractor(queues.chat_over(chat), extraction_config(settings))
            if chat
            else OfflineExtractor()
        )

        def open_branch(branch: BranchSettings) -> tuple[Extractor, Chat | None]:
            chat = open_chat(with_branch_model(settings, branch), bus.limiters, role="extract")
            if chat is None:
                return extractor, None
            config = branch_config(settings, branch)
            return _model_extractor(queues.chat_over(chat), config), chat

        extractors = BranchExtractors(bus.log, extractor, open_branch)

        async def handle(delivery: Delivery[Any], generations: Generations) -> list[Event]:
            return await on_chunks_created(
                delivery,
                generations,
                extractor=await extractors.of(delivery.workspace),
                extractions=extractions,
                clock=time.monotonic,
                versions=versions,
            )

        try:
            await until_it_answers("the document store", rows.prepare, health)
            async with queues.running():
                yield [Subscription("extractor", each(handle), workers=settings.workers)]
        finally:
            await extractors.close()
            if chat:
                await chat.close()
            await rows.close()

    run("extractor", settings, build)


def _model_extractor(chat: Chat, config: ExtractionConfig) -> ModelExtractor:
    return ModelExtractor(chat, config, open_tokenizer().count)


if __name__ == "__main__":
    main()
