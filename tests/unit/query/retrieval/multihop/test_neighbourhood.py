"""A walk reads a bounded neighbourhood in three reads, whatever the workspace has."""

from collections import Counter
from typing import Any

from contracts.graph import Generations, Hit
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.multihop import neighbourhood
from services.query.retrieval.multihop.names_read import ReadNames
from services.query.retrieval.multihop.neighbourhood import (
    MAX_OF_ENTITY,
    Seeds,
    read_neighbourhood,
)
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.retrieve import retrieve
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())
TOWNS = 30
HARBOUR = "Blue Harbour lies on the Gray River."


async def river() -> QueryHarness:
    """A hub that thirty towns name, and a harbour that leads to it."""
    workspace = QueryHarness()
    hub = entity("Gray River", "river")
    ties = [relation("Blue Harbour", "Gray River", "", "lies on")]
    await workspace.index("harbour", HARBOUR, says=(([entity("Blue Harbour", "town"), hub], ties),))
    for number in range(TOWNS):
        name = f"Town{number} Ford"
        await workspace.index(
            f"town-{number}",
            f"{name} is a town on the Gray River.",
            says=(([entity(name, "town"), hub], []),),
            version=1000 * (number + 1),
        )
    return workspace


async def near(
    workspace: QueryHarness, name: str, *hits: str, documents: frozenset[str] | None = None
) -> PassageIndex:
    deps = workspace.deps()
    around = await deps.graph_reader.neighbourhood(PARTITIONS.graph, [name], limit=40)
    if documents is not None:
        around = restrict_neighbourhood(around, documents, {})
    names = ReadNames(await deps.entity_names.of(PARTITIONS), PARTITIONS.graph, deps)
    seeds = Seeds(f"What is {name}?", around, [Hit(id, (id,), 0.5) for id in hits])
    return await read_neighbourhood(seeds, names, PARTITIONS, deps, documents)


async def test_it_has_the_passages_of_the_names_and_some_of_what_these_name() -> None:
    index = await near(await river(), "Blue Harbour")
    assert "harbour-chunk-000" in index.ids
    assert 1 < len(index) <= 1 + MAX_OF_ENTITY


async def test_it_has_the_passages_most_like_the_question() -> None:
    index = await near(await river(), "Blue Harbour", "town-29-chunk-000", "gone-chunk-000")
    assert {"harbour-chunk-000", "town-29-chunk-000"} <= set(index.ids)
    assert "gone-chunk-000" not in index.ids


async def test_a_hub_counts_by_all_that_name_it_though_few_are_read() -> None:
    index = await near(await river(), "Blue Harbour")
    hub = index.entities["Gray River"]
    assert index.supports[hub] == TOWNS + 1 > len(index)


async def test_other_documents_than_those_asked_for_are_not_read() -> None:
    workspace = await river()
    only = frozenset({"harbour", "town-3"})
    index = await near(workspace, "Blue Harbour", documents=only)
    assert set(index.document_numbers) <= only


async def test_a_first_question_takes_three_reads_of_passages_and_names(monkeypatch: Any) -> None:
    workspace = await river()
    deps = workspace.deps()
    counts: Counter[str] = Counter()
    words = workspace.passages.words
    graph = workspace.graph
    read = graph.neighbourhood
    nodes = graph.nodes

    async def counting_words(*arguments: Any) -> Any:
        counts["words"] += 1
        return await words(*arguments)

    async def counting_linked(*arguments: Any, limit: int) -> Any:
        counts["linked"] += 1
        return await read(*arguments, limit=limit)

    async def counting_names(*arguments: Any) -> Any:
        counts["names"] += 1
        return await nodes(*arguments)

    monkeypatch.setattr(workspace.passages, "words", counting_words)
    monkeypatch.setattr(graph, "neighbourhood", counting_linked)
    monkeypatch.setattr(graph, "nodes", counting_names)
    await retrieve(Question("Where does Blue Harbour lie?", "walk"), PARTITIONS, deps)
    assert counts == {"linked": 1, "words": 2, "names": 1}


async def test_a_new_document_is_walked_by_the_next_question() -> None:
    workspace = await river()
    deps = workspace.deps()
    question = Question("What did Ada Marsh build at the river of Blue Harbour?", "walk")
    await retrieve(question, PARTITIONS, deps)
    await workspace.index(
        "marsh",
        "Ada Marsh built a mill at Blue Harbour.",
        says=(([entity("Ada Marsh", "person"), entity("Blue Harbour", "town")], []),),
        version=100_000,
    )
    result = await retrieve(question, PARTITIONS, deps)
    assert "marsh.txt" in {passage.file_path for _, passage in result.passages}


async def test_passages_of_many_words_are_fewer(monkeypatch: Any) -> None:
    monkeypatch.setattr(neighbourhood, "MAX_FIRST_WORDS", 30)
    monkeypatch.setattr(neighbourhood, "MAX_WORDS", 45)
    workspace = await river()
    hits = [f"town-{number}-chunk-000" for number in range(10)]
    index = await near(workspace, "Blue Harbour", *hits)
    assert index.ids[0] == "harbour-chunk-000"
    assert 3 < len(index) < 10
    assert sum(index.lengths) <= 45


async def test_passages_of_related_entities_fill_the_places_of_similar_ones() -> None:
    index = await near(await river(), "Blue Harbour")
    assert "town-0-chunk-000" in index.ids


async def test_passages_of_a_rare_entity_are_read_before_those_of_a_frequent_one(
    monkeypatch: Any,
) -> None:
    workspace = await river()
    mill = entity("Elm Mill", "mill")
    river_and_mill = [entity("Gray River", "river"), mill]
    await workspace.index(
        "bank", "On the Gray River stands Elm Mill.", says=((river_and_mill, []),), version=200_000
    )
    await workspace.index("mill", "Elm Mill burnt.", says=(([mill], []),), version=300_000)
    monkeypatch.setattr(neighbourhood, "MAX_READ", 3)
    monkeypatch.setattr(neighbourhood, "MAX_HITS", 0)
    deps = workspace.deps()
    await deps.entity_names.of(PARTITIONS)
    index = await near(workspace, "Absent", "bank-chunk-000")
    assert index.ids == []
    monkeypatch.setattr(neighbourhood, "MAX_HITS", 1)
    index = await near(workspace, "Absent", "bank-chunk-000")
    assert index.ids[:2] == ["bank-chunk-000", "mill-chunk-000"]
