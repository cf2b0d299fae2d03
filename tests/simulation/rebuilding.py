"""A rebuild of all projections beside the live services, killed once or twice on its way."""

import asyncio
from typing import Any

from contracts.graph import PROJECTIONS
from operations.digest import Stores
from operations.rebuild import Rebuild
from services.merger.settings import MergerSettings
from tests.simulation.pipeline import LIMITS, Pipeline


def _settings() -> MergerSettings:
    """Return settings that no environment changes."""
    return MergerSettings.model_construct(
        force_llm_summary_on_merge=LIMITS.fragments, summary_max_tokens=LIMITS.tokens
    )


async def rebuild(pipeline: Pipeline, begin: float) -> None:
    """Rebuild and switch, from that second on. What is killed starts over, as an operator starts it
    again.
    """
    chance = pipeline.chance
    await asyncio.sleep(begin)
    stores: Any = Stores(
        *map(pipeline.port, (pipeline.stores.rows, pipeline.stores.graph, pipeline.stores.vectors))
    )
    patience = [chance.rng.random() * 20 for _ in range(chance.rng.randint(0, 2))]
    while True:
        try:
            async with asyncio.timeout(patience.pop() if patience else None):
                await Rebuild(
                    pipeline.port(pipeline.log),
                    pipeline.pointers,
                    stores,
                    pipeline.embedder,
                    PROJECTIONS,
                    lambda _: None,
                    _settings(),
                ).run("w")
            return
        except TimeoutError:
            continue
