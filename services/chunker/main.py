"""The chunker as a process: which handler takes the messages of which durable, and what it is
given.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.bus.document_versions import LogVersions
from runtime.bus.processor import each
from runtime.costs.budgeted_chat import BudgetedChat, BudgetGuard
from runtime.costs.ledger import RowLedger
from runtime.health import Health
from runtime.models.open import open_chat, open_tokenizer
from runtime.models.port import Tokenizer
from runtime.models.roles import VISION
from runtime.models.sentence_vectors import sentence_vector
from runtime.plugins.chunking import InstalledChunkers
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.open import open_documents
from services.chunker.adapters.describer import ModelDescriber
from services.chunker.adapters.description_cache import DescriptionCache
from services.chunker.describing import FigureDependencies, on_figures_listed
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.chunker.settings import ChunkerSettings


def main() -> None:
    """Run the service."""
    settings = read_settings("chunker", ChunkerSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        tokens = open_tokenizer()
        versions = LogVersions(bus.log)
        async with _describing(settings, bus, health, tokens) as figures:
            cut = partial(
                on_document_added,
                blobs=bus.blobs,
                cutters=Cutters(tokens, InstalledChunkers(), sentence_vector),
                chunking=settings.chunking,
                limits=DocumentLimits(
                    settings.max_text_bytes,
                    settings.max_chunks_per_document,
                    settings.figure_limits if figures else None,
                ),
                versions=versions,
            )
            describe = partial(on_figures_listed, dependencies=figures, versions=versions)
            yield [
                Subscription("chunker", each(cut), workers=2),
                Subscription("chunker-figures", each(describe), workers=2),
            ]

    run("chunker", settings, build)


@asynccontextmanager
async def _describing(
    settings: ChunkerSettings, bus: Bus, health: Health, tokens: Tokenizer
) -> AsyncGenerator[FigureDependencies | None]:
    """What figures are described with; None where no model does, and then nothing is opened."""
    chat = open_chat(settings, bus.limiters, role=VISION)
    if chat is None:
        yield None
        return
    rows = open_documents(settings)
    guard = BudgetGuard(bus.log, bus.pointers, RowLedger(rows), settings.prices)
    describer = ModelDescriber(BudgetedChat(chat, guard), settings.summary_language)
    try:
        await until_it_answers("the document store", rows.prepare, health)
        yield FigureDependencies(
            bus.blobs, describer, DescriptionCache(rows), tokens, time.monotonic
        )
    finally:
        await chat.close()
        await rows.close()


if __name__ == "__main__":
    main()
