"""The chunker as a process: which handler takes the messages of which durable, and what it is
given.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from runtime.bus.document_versions import LogVersions
from runtime.bus.processor import each
from runtime.health import Health
from runtime.models.open import open_tokenizer
from runtime.models.sentence_vectors import sentence_vector
from runtime.plugins.chunking import InstalledChunkers
from runtime.service import Bus, Subscription, read_settings, run
from services.chunker.describing import on_figures_listed
from services.chunker.figure_service import figure_dependencies
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.chunker.settings import ChunkerSettings


def main() -> None:
    """Run the service."""
    settings = read_settings("chunker", ChunkerSettings)

    @asynccontextmanager
    async def build(bus: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        versions = LogVersions(bus.log)
        cut = partial(
            on_document_added,
            blobs=bus.blobs,
            cutters=Cutters(open_tokenizer(), InstalledChunkers(), sentence_vector),
            chunking=settings.chunking_defaults,
            limits=DocumentLimits(
                settings.max_text_bytes,
                settings.max_chunks_per_document,
                settings.figure_limits if settings.describes_figures else None,
            ),
            versions=versions,
        )
        subscriptions = [Subscription("chunker", each(cut), workers=2)]
        async with AsyncExitStack() as stack:
            if settings.figure_describer == "embedded":
                dependencies = await stack.enter_async_context(
                    figure_dependencies(settings, bus, health)
                )
                describe = partial(on_figures_listed, dependencies=dependencies, versions=versions)
                subscriptions.append(Subscription("chunker-figures", each(describe), workers=2))
            yield subscriptions

    run("chunker", settings, build)


if __name__ == "__main__":
    main()
