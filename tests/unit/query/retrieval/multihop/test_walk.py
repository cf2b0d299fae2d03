"""The mode `walk` over stores in memory: several hops, names linked however they are written, and
nobody else's.
"""

from typing import Any

import pytest

from contracts.graph import Entity, Generations, Partition, Relation
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.question import Keywords, Mode, Question
from services.query.retrieval.multihop.neighbourhood import MAX_RELATIONS
from services.query.retrieval.multihop.walk import walk
from services.query.retrieval.retrieve import retrieve
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())
NOTHING = Keywords()

CORPUS = {
    "Blue Harbour": (
        "Blue Harbour is a film without sound. It was produced by Lowell Pictures.",
        "Lowell Pictures",
    ),
    "Lowell Pictures": (
        "Lowell Pictures is a studio. It was founded by Otto Brandt.",
        "Otto Brandt",
    ),
    "Otto Brandt": (
        "Otto Brandt was a tailor, also called the Tide Man. He was born in Port Elm.",
        "Port Elm",
    ),
    "Port Elm": ("Port Elm is a town. Its mayor is Ada Marsh.", "Ada Marsh"),
    "Green Harbour": (
        "Green Harbour is a film about a founder who was born in a studio.",
        "Harbour",
    ),
    "Founders Day": (
        "Founders Day: in many towns the founder of a studio was born twice, they say.",
        "Studio",
    ),
    "Film studios": (
        "A film studio has a founder, a town, and somebody who was born to produce a film.",
        "Studio",
    ),
    "Iris Bell": (
        "Iris Bell founded a studio for films. She was born in Old Mill, a town by a harbour.",
        "Old Mill",
    ),
}
QUESTION = "In which town was the founder of the studio born that produced {name}?"


async def harness() -> QueryHarness:
    workspace = QueryHarness()
    for number, (name, (text, other)) in enumerate(CORPUS.items()):
        says = (
            [entity(name, "thing", text), entity(other, "thing", text)],
            [relation(name, other, text, "tied")],
        )
        await workspace.index(
            name.lower().replace(" ", "-"), text, says=(says,), version=1 + 1000 * number
        )
    alias = (
        [entity("Tide Man", "person")],
        [relation("Otto Brandt", "Tide Man", "", "also called")],
    )
    await workspace.index("names", "Otto Brandt is the Tide Man.", says=(alias,), version=90_000)
    return workspace


async def top(
    workspace: QueryHarness, query: str, mode: Any = "walk", most: int = 4, **changes: Any
) -> list[str]:
    result = await retrieve(
        Question(query, mode, chunk_top_k=most), PARTITIONS, workspace.deps(**changes)
    )
    return [passage.file_path.removesuffix(".txt") for _, passage in result.passages]


async def test_the_passages_of_all_hops_are_found_where_likeness_alone_finds_the_words_of_the_question() -> (  # noqa: E501
    None
):
    workspace = await harness()
    needed = {"blue-harbour", "lowell-pictures", "otto-brandt"}
    question = QUESTION.format(name="Blue Harbour")
    assert needed <= set(await top(workspace, question))
    assert not needed <= set(await top(workspace, question, "naive"))


@pytest.mark.parametrize("name", ["blue harbour", "Blue Harbuor", "BLUE HARBOUR"])
async def test_case_and_slips_do_not_matter(name: str) -> None:
    result = await top(await harness(), QUESTION.format(name=name))
    assert {"blue-harbour", "lowell-pictures", "otto-brandt"} <= set(result)


async def test_an_alias_leads_to_what_is_known_under_the_other_name() -> None:
    assert {"otto-brandt", "port-elm"} <= set(
        await top(await harness(), "Who is mayor where the Tide Man was born?")
    )


async def test_of_an_entity_that_many_passages_name_those_most_like_the_question_are_read_too() -> (
    None
):
    workspace = QueryHarness()
    river, ties = (
        entity("Gray River", "river"),
        [relation("Blue Harbour", "Gray River", "", "lies on")],
    )
    said = [
        (
            "harbour",
            "Blue Harbour lies on the Gray River.",
            [entity("Blue Harbour", "town"), river],
            ties,
        )
    ]
    said += [
        (f"walk-{n}", f"Summer walk {n} led along the Gray River, past an old mill.", [river], [])
        for n in range(10)
    ]
    said += [
        (
            "years",
            "In Moss Hills province the Gray River rises.",
            [entity("Moss Hills", "region"), river],
            [],
        )
    ]
    for number, (name, text, entities, relations) in enumerate(said):
        await workspace.index(name, text, says=((entities, relations),), version=1 + 1000 * number)
    question = Question(
        "In which province rises the river that Blue Harbour lies on?", "walk", chunk_top_k=5
    )
    result = await retrieve(question, PARTITIONS, workspace.deps())
    assert ["Blue Harbour", "Gray River"] in [path["entities"] for path in result.info["paths"]]
    assert {"harbour.txt", "years.txt"} <= {passage.file_path for _, passage in result.passages}


async def test_the_linked_entities_own_passages_come_first() -> None:
    assert (await top(await harness(), "Which mayor has the town of Port Elm?"))[0] == "port-elm"


async def test_it_explains_which_names_were_linked_and_which_way_was_gone() -> None:
    workspace = await harness()
    result = await retrieve(
        Question(QUESTION.format(name="Blue Harbour"), "walk"), PARTITIONS, workspace.deps()
    )
    assert result.info["mode"] == "walk"
    assert result.info["linked"] == [
        {"said": "Blue Harbour", "entities": ["Blue Harbour"], "by": "name"}
    ]
    steps = [path["entities"] for path in result.info["paths"]]
    assert steps.count(["Blue Harbour", "Lowell Pictures", "Otto Brandt", "Port Elm"]) == 1
    assert {"Blue Harbour", "Lowell Pictures", "Otto Brandt"} <= {
        entity.name for entity in result.entities
    }
    assert ("Lowell Pictures", "Otto Brandt") in {relation.key for relation in result.relations}


async def test_where_nothing_links_likeness_leads_the_way() -> None:
    workspace = await harness()
    result = await retrieve(
        Question("where do tailors come from", "walk", chunk_top_k=5), PARTITIONS, workspace.deps()
    )
    assert result.info["linked"] == [] and "otto-brandt.txt" in [
        p.file_path for _, p in result.passages
    ]
    empty = await retrieve(
        Question("where do tailors come from", "walk"), PARTITIONS, QueryHarness().deps()
    )
    assert not empty


async def test_nothing_of_another_workspace_links() -> None:
    workspace = await harness()
    text = "Grey Harbour is a film. It was produced by Sly Pictures."
    said = (
        [entity("Grey Harbour"), entity("Sly Pictures")],
        [relation("Grey Harbour", "Sly Pictures")],
    )
    await workspace.index("grey", text, says=(said,), version=200_000, workspace="other")
    deps = workspace.deps()
    for name in ("Grey Harbour", "Sly Pictures"):
        result = await walk(Question(f"Who produced {name}?", "walk"), NOTHING, PARTITIONS, deps)
        assert all(link["entities"] != [name] for link in result.info["linked"])
    theirs = Partitions.of("other", Generations())
    result = await walk(Question("Who founded Blue Harbour?", "walk"), NOTHING, theirs, deps)
    assert result.info["linked"] in (
        [],
        [{"said": "Blue Harbour", "entities": ["Grey Harbour"], "by": "spelling"}],
    )
    assert not any("blue-harbour" in chunk for chunk in result.chunk_ids)


class NoKeywords:
    """No keyword model may be asked."""

    async def of(self, question: str) -> Keywords:
        raise AssertionError("asked for keywords")


async def test_no_model_is_asked_for_keywords() -> None:
    workspace = await harness()
    assert await top(
        workspace, QUESTION.format(name="Blue Harbour"), keyword_extractor=NoKeywords()
    )


async def test_auto_takes_walk_where_the_question_names_an_entity_and_mix_else_and_says_why() -> (
    None
):
    workspace = await harness()
    for query, mode in (
        (QUESTION.format(name="Blue Harbour"), "walk"),
        ("Do Otto Brandt and Ada Marsh know each other?", "walk"),
        ("Who founded Lowell Pictures?", "walk"),
        ("What do films have in common?", "mix"),
    ):
        result = await retrieve(Question(query, "auto"), PARTITIONS, workspace.deps())
        assert result.info["mode"] == mode, query
        assert ("names no entity" in result.info["mode_reason"]) == (mode == "mix")


async def test_auto_puts_together_what_walk_and_mix_find_where_no_name_leads() -> None:
    workspace = await harness()
    query = "where do tailors come from"
    modes: tuple[Mode, ...] = ("walk", "mix", "auto")
    results = [
        await retrieve(Question(query, mode, chunk_top_k=20), PARTITIONS, workspace.deps())
        for mode in modes
    ]
    _, mixed, both = results
    ids = [[passage.id for _, passage in result.passages] for result in results]
    assert set(ids[2]) <= {*ids[0], *ids[1]} and ids[2][0] in (ids[0][0], ids[1][0])
    assert set(ids[0][:5]) | set(ids[1][:5]) <= set(ids[2])
    assert (both.entities, both.relations, both.keywords) == (
        mixed.entities,
        mixed.relations,
        mixed.keywords,
    )


async def test_a_hub_costs_a_bounded_read_and_is_told_of() -> None:
    workspace = await harness()
    spokes = [f"Spoke {n:05d}" for n in range(10_000)]
    await workspace.graph.put(
        Partition("w", 1),
        [Entity("Hub", 1), *(Entity(name, 1) for name in spokes)],
        [Relation(*sorted(("Hub", name)), 1, weight=1.0) for name in spokes],
    )
    deps = CountingLibrary(workspace.deps())
    result = await walk(
        Question("Who turns the Hub of the town?", "walk"), NOTHING, PARTITIONS, deps.deps
    )
    assert result.info["relations_not_read"]["Hub"] == 10_000 - MAX_RELATIONS
    assert deps.ties <= 16 * MAX_RELATIONS and deps.passages <= 400


class CountingLibrary:
    """Counts what is read."""

    def __init__(self, deps: QueryDependencies) -> None:
        self.ties = self.passages = 0
        graph = deps.graph
        passages = deps.passages
        around = graph.neighbourhood
        get = passages.get

        async def neighbourhood(*arguments: Any, **named: Any) -> Any:
            result = await around(*arguments, **named)
            self.ties += len(result.relation_summaries)
            return result

        async def passages_get(*arguments: Any) -> Any:
            result = await get(*arguments)
            self.passages += len(result)
            return result

        graph.neighbourhood, passages.get = neighbourhood, passages_get  # type: ignore[method-assign]
        self.deps = deps
