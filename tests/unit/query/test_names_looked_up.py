"""Searches of names decode those that may have the text, not all of the workspace."""

import pytest

from contracts.graph import Entity, Partition
from runtime.stores.graph.memory import MemoryGraph
from services.query.lookup import entity_names
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import search_names

HERE = Partition("w", 1)
OTHERS = 400


class CountingGraph(MemoryGraph):
    """A graph that counts the names that it gives."""

    name_count = 0

    async def scan_names(
        self, partition: Partition, after: str = "", limit: int = 5000, *, containing: str = ""
    ) -> list[tuple[str, str]]:
        names = await super().scan_names(partition, after, limit, containing=containing)
        self.name_count += len(names)
        return names


@pytest.fixture
async def graph() -> CountingGraph:
    graph = CountingGraph()
    names = ["Port Elm", "ELM", "Elmira", "caf\u00e9 Elm", "Wood", *map(str, range(OTHERS))]
    await graph.put(HERE, [Entity(name, 1, type="place") for name in names], [])
    return graph


async def test_a_search_by_a_part_of_a_name(graph: CountingGraph) -> None:
    names = await entity_names.search(graph, HERE, "elm", 10)
    assert names == ["ELM", "Elmira", "Port Elm", "caf\u00e9 Elm"]
    assert graph.name_count == 4
    assert len(await entity_names.names(graph, HERE)) == OTHERS + 5


async def test_a_search_by_keywords(graph: CountingGraph) -> None:
    matches = await search_names(graph, HERE, [Keyword.of("elm"), Keyword.of("wood")], 10)
    assert [name for name, _ in matches.names] == ["ELM", "Wood", "Port Elm", "caf\u00e9 Elm"]
    assert (matches.total, matches.is_truncated) == (4, False)
    assert graph.name_count == 6  # One of other characters is given each time.
