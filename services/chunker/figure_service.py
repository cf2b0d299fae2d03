"""Has figures described as a process of its own, which alone needs a model, its key and a way to
it: where FIGURE_DESCRIBER is `apart` for the chunker.
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
from runtime.models.roles import VISION
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.open import open_documents
from services.chunker.adapters.describer import ModelDescriber
from services.chunker.adapters.description_cache import DescriptionCache
from services.chunker.describing import FigureDependencies, on_figures_listed
from services.chunker.settings import ChunkerSettings


def main() -> None:
    """Run the service."""
    settings = read_settings("chunker", ChunkerSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        async with figure_dependencies(settings, bus, health) as dependencies:
            versions = LogVersions(bus.log)
            describe = partial(on_figures_listed, dependencies=dependencies, versions=versions)
            yield [Subscription("chunker-figures", each(describe), workers=2)]

    run("chunker", settings, build)


@asynccontextmanager
async def figure_dependencies(
    settings: ChunkerSettings, bus: Bus, health: Health
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
            bus.blobs, describer, DescriptionCache(rows), open_tokenizer(), time.monotonic
        )
    finally:
        await chat.close()
        await rows.close()


if __name__ == "__main__":
    main()
