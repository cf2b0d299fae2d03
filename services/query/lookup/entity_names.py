"""Names of entities, found by a part of them or as they are given."""

from collections.abc import Sequence
from heapq import nsmallest

from contracts.graph import Partition
from contracts.ids import pair
from contracts.spelling import one_spelling
from runtime.errors import NotFound
from services.query.visibility.graph import BrowsedGraph

SIMILAR_NAMES = 5
"""Names that an error proposes for one that is not there."""


async def names(graph: BrowsedGraph, partition: Partition, containing: str = "") -> list[str]:
    """Return the names of all entities, or of those that may have a text, sorted."""
    entity_names: list[str] = []
    after = ""
    while page := await graph.scan_names(partition, after, containing=containing):
        after = page[-1][0]
        entity_names += [name for name, _ in page]
    return sorted(entity_names)


async def search(graph: BrowsedGraph, partition: Partition, text: str, limit: int) -> list[str]:
    """Return names that contain a text, ignoring case: an equal name first, then those with that
    prefix, then shorter ones.
    """
    query = one_spelling(text).strip().casefold()
    if not query:
        return []
    scored_names = (
        (-score, name)
        for name in await names(graph, partition, query)
        if (score := match_score(query, one_spelling(name).casefold()))
    )
    return [name for _, name in nsmallest(limit, scored_names)]


async def known_name(graph: BrowsedGraph, partition: Partition, name: str) -> str:
    """Return the name as the graph has it: as given, else in the one spelling of names."""
    usual_spelling = one_spelling(name)
    return (
        name
        if usual_spelling == name or await graph.entities(partition, [name])
        else usual_spelling
    )


def match_score(query: str, name: str) -> int:
    """Return how well a name matches, with LightRAG's weights; 0 for no match."""
    index = name.find(query)
    if index < 0:
        return 0
    if name == query:
        return 1000
    if index == 0:
        return 500
    return max(1, 100 - len(name)) + 50 * (f" {query}" in name or f"_{query}" in name)


async def existing_name(graph: BrowsedGraph, partition: Partition, name: str) -> str:
    """Return the name of an entity as the graph has it. Raises NotFound, with names that hold it,
    and `Unavailable`.
    """
    name_in_graph = await known_name(graph, partition, name)
    if await graph.entities(partition, [name_in_graph]):
        return name_in_graph
    similar_names = await search(graph, partition, name, SIMILAR_NAMES)
    hint = (
        f"names that hold it: {', '.join(map(repr, similar_names))}"
        if similar_names
        else "/graph/label/search finds names by a part of them"
    )
    raise NotFound(f"there is no entity {name!r}; names are compared letter by letter, and {hint}")


async def existing_names(
    graph: BrowsedGraph, partition: Partition, given_names: Sequence[str]
) -> tuple[str, ...]:
    """Return the name of an entity, or those at the ends of a relation, as the graph has them.
    Raises NotFound where it is not there, and `Unavailable`.
    """
    names = tuple([await existing_name(graph, partition, name) for name in given_names])
    if len(names) > 1 and not await graph.relations(partition, [pair(*names)]):
        raise NotFound(f"there is no relation between {names[0]!r} and {names[1]!r}")
    return names
