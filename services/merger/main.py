"""Wiring of the merger."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from runtime.health import Health
from runtime.service import Bus, Subscription, run, until_it_answers
from runtime.stores.open import open_documents, open_graph
from services.merger.adapters import RowContributions
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from services.merger.settings import MergerSettings


def main() -> None:
    """Run the service."""
    settings = MergerSettings()

    @asynccontextmanager
    async def build(_: Bus, health: Health) -> AsyncGenerator[Sequence[Subscription]]:
        rows, graph = open_documents(settings), open_graph(settings)
        try:
            await until_it_answers("the document store", rows.prepare, health)
            await until_it_answers("the graph store", graph.prepare, health)
            said = RowContributions(rows)
            yield [
                Subscription("merger", partial(on_entities_extracted, said=said, graph=graph)),
                Subscription("merger-extents", partial(on_extents, said=said, graph=graph)),
                Subscription("merger-edits", partial(on_graph_edited, said=said, graph=graph)),
            ]
        finally:
            await graph.close()
            await rows.close()

    run("merger", settings, build)


if __name__ == "__main__":
    main()
