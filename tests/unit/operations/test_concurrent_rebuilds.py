"""Two rebuilds of one projection at once: the one that began first switches nothing, whatever it
has built.
"""

import pytest

from contracts.graph import Generations, Projection
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.errors import ConfigurationError
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings


@pytest.fixture
def pointers() -> MemoryLiveGenerations:
    return MemoryLiveGenerations()


@pytest.fixture
def stores() -> Stores:
    return Stores(MemoryRows(), MemoryGraph(), MemoryVectors("m", 2))


def rebuild(pointers: MemoryLiveGenerations, stores: Stores, *targets: Projection) -> Rebuild:
    return Rebuild(
        MemoryLog(), pointers, stores, LexicalEmbedder(), targets, lambda _: None, MergerSettings()
    )


async def test_the_later_rebuild_wins(pointers: MemoryLiveGenerations, stores: Stores) -> None:
    first = rebuild(pointers, stores, "graph")
    second = rebuild(pointers, stores, "graph")
    await first._begin()
    await second.run("default")
    with pytest.raises(ConfigurationError, match="nothing was switched"):
        await first._switch()
    assert (await pointers.live()).graph == 3


async def test_a_rollback_is_overtaken_too(pointers: MemoryLiveGenerations, stores: Stores) -> None:
    await rebuild(pointers, stores, "graph").run("default")
    back = rebuild(pointers, stores, "graph")
    switch = back._switch

    async def meanwhile() -> None:
        await rebuild(pointers, stores, "graph").run("default")
        await switch()

    back._switch = meanwhile  # type: ignore[method-assign]
    with pytest.raises(ConfigurationError, match="nothing was switched"):
        await back.roll_back()
    assert (await pointers.live()).graph == 3


async def test_its_seconds_are_those_until_it_has_switched(
    pointers: MemoryLiveGenerations, stores: Stores
) -> None:
    slow = rebuild(pointers, stores, "graph")

    async def before_switch(_: Generations) -> None:
        slow.started_at -= 100

    slow.before_switch = before_switch
    assert (await slow.run("default"))["seconds"] >= 100


async def test_rebuilds_of_two_projections_do_not_disturb_each_other(
    pointers: MemoryLiveGenerations, stores: Stores
) -> None:
    graph = rebuild(pointers, stores, "graph")
    await graph._begin()
    await rebuild(pointers, stores, "status").run("default")
    await graph._switch()
    live = await pointers.live()
    assert (live.status, live.graph) == (2, 2)
