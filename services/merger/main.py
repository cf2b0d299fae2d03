"""The merger as a process: which handler takes the messages of which durable, and what it is
given.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

from runtime.activity import waiting
from runtime.health import Health
from runtime.models.open import open_chat
from runtime.models.port import Chat
from runtime.service import Bus, Subscription, read_settings, run, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents, open_graph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.adapters.summarizer import ModelSummarizer
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import (
    on_description_summarized,
    on_entities_extracted,
    on_extents,
    on_graph_edited,
)
from services.merger.port import MergeDependencies
from services.merger.settings import MergerSettings
from services.merger.summarize import on_graph_merged


def main() -> None:
    """Run the service."""
    settings = read_settings("merger", MergerSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        rows = open_documents(settings)
        graph = open_graph(settings)
        chat = open_chat(settings, bus.limiters, role="summary")
        dependencies = MergeDependencies(
            RowContributions(rows),
            RowSummaries(rows),
            graph,
            settings.limits,
            AggregateCache(settings.cache_bytes),
        )
        summarizer = _summarizer(settings, chat, rows) if chat else None
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            parts = {"the document store": RowCheckpoints(rows, "graph"), "the graph store": graph}
            filling = ("merger", "merger-extents", "merger-edits", "merger-summarized")
            bus.integrity.watch(
                "graph", parts, filling, held_durables=(*filling, "merger-summaries")
            )
            bus.integrity.schema_store = rows
            yield [
                Subscription("merger", partial(on_entities_extracted, dependencies=dependencies)),
                Subscription("merger-extents", partial(on_extents, dependencies=dependencies)),
                Subscription("merger-edits", partial(on_graph_edited, dependencies=dependencies)),
                Subscription(
                    "merger-summarized",
                    partial(on_description_summarized, dependencies=dependencies),
                ),
                Subscription(
                    "merger-summaries",
                    partial(
                        on_graph_merged,
                        dependencies=dependencies,
                        summarizer=summarizer,
                        debounce=partial(debounce, settings.summary_quiet_seconds),
                    ),
                ),
            ]
        finally:
            for part in (graph, rows, *([chat] if chat else [])):
                await part.close()

    run("merger", settings, build)


def _summarizer(settings: MergerSettings, chat: Chat, rows: Rows) -> ModelSummarizer:
    return ModelSummarizer(
        chat,
        rows,
        language=settings.summary_language,
        context=settings.summary_context_size,
        length=settings.summary_length_recommended,
    )


async def debounce(seconds: float, since: datetime) -> None:
    """Return when so many seconds have passed since then, and no later than in so many seconds."""
    with waiting():
        # By a clock that was set back, or that is behind the bus's, `since` has yet to come.
        await asyncio.sleep(max(0.0, min(seconds, since.timestamp() + seconds - time.time())))


if __name__ == "__main__":
    main()
