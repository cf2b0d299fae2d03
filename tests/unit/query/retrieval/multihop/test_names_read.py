"""A walk whose workspace has no names in memory: while they are read for the first time, and where
they are too many. It is searched for the names that its passages say.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from contracts.events import GraphEdited
from contracts.graph import Generations
from services.merger.handler import on_graph_edited
from services.query.adapters.aliases import RowAliases
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.multihop.names_read import NOT_ALL
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.retrieve import retrieve
from tests.support.events import delivered, entity
from tests.support.merging import merge_dependencies
from tests.support.querying import QueryHarness
from tests.support.waiting import PATIENCE

PARTITIONS = Partitions.of("w", Generations())
CORPUS = (
    ("Blue Harbour", "Blue Harbour is a film. It was produced by Lowell Pictures.", "film"),
    ("Lowell Pictures", "Lowell Pictures is a studio. Its founder is Otto Brandt.", "studio"),
    ("Otto Brandt", "Otto Brandt was a tailor. He was born in Port Elm.", "person"),
    ("Port Elm", "Port Elm is a town of tailors.", "town"),
)
QUESTION = "Where was the founder of the studio born that produced {name}?"
CHAIN = {"blue-harbour.txt", "lowell-pictures.txt", "otto-brandt.txt"}


class NoNames:
    """`EntityNames` of a workspace that has too many."""

    async def of(self, partitions: Partitions) -> NameIndex:
        return NameIndex()


async def harness() -> QueryHarness:
    workspace = QueryHarness()
    for number, (name, text, _) in enumerate(CORPUS):
        others = [entity(other, kind) for other, _, kind in CORPUS if other in text]
        await workspace.index(
            name.lower().replace(" ", "-"),
            text,
            says=((others, []),),
            version=1 + 1000 * number,
        )
    return workspace


async def files(workspace: QueryHarness, question: str, names: Any) -> set[str]:
    deps = workspace.deps(entity_names=names)
    result = await retrieve(Question(question, "walk", chunk_top_k=4), PARTITIONS, deps)
    return {passage.file_path for _, passage in result.passages[:3]}


@pytest.mark.parametrize("name", ["Blue Harbour", "blue harbour", "Blue Habrour"])
async def test_a_chain_is_followed_by_the_names_that_passages_say(name: str) -> None:
    workspace = await harness()
    assert await files(workspace, QUESTION.format(name=name), NoNames()) == CHAIN


@pytest.mark.parametrize("query", [QUESTION.format(name="Blue Harbour"), "what is a tailor"])
async def test_auto_says_that_not_all_names_were_looked_for(query: str) -> None:
    workspace = await harness()
    with_all = (await retrieve(Question(query), PARTITIONS, workspace.deps())).info
    without = workspace.deps(entity_names=NoNames())
    with_few = (await retrieve(Question(query), PARTITIONS, without)).info
    assert NOT_ALL in with_few["mode_reason"]
    assert NOT_ALL not in with_all["mode_reason"]


async def test_the_first_question_does_not_wait_until_all_names_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = await harness()
    may_read = asyncio.Event()
    scan: Callable[..., Awaitable[Any]] = workspace.graph.scan_names

    async def waiting_scan(*arguments: Any) -> Any:
        await may_read.wait()
        return await scan(*arguments)

    monkeypatch.setattr(workspace.graph, "scan_names", waiting_scan)
    names = NameIndexes(workspace.graph, workspace.documents, RowAliases(workspace.rows))
    question = QUESTION.format(name="Blue Harbour")
    assert await files(workspace, question, names) == CHAIN
    assert len(await names.of(PARTITIONS)) == 0
    may_read.set()
    while not len(await names.of(PARTITIONS)):
        pass
    assert await files(workspace, question, names) == CHAIN


@pytest.mark.parametrize("all_in_memory", [True, False])
async def test_an_entity_is_linked_by_a_name_that_an_edit_gave_it(all_in_memory: bool) -> None:
    workspace = await harness()
    await workspace.index(
        "the-gull",
        "The Gray Gull is what critics call it.",
        says=(([entity("Gray Gull", "film")], []),),
        version=9000,
    )
    names = workspace.names if all_in_memory else NoNames()
    question = QUESTION.format(name="Gray Gull")
    assert await files(workspace, question, names) != CHAIN
    edit = GraphEdited(operation="accept_alias", names=("Gray Gull",), target="Blue Harbour")
    await on_graph_edited(
        [delivered(edit, 20_000)],
        Generations(),
        dependencies=merge_dependencies(workspace.rows, workspace.graph),
    )
    workspace.names = NameIndexes(
        workspace.graph, workspace.documents, RowAliases(workspace.rows), max_wait=PATIENCE
    )
    names = workspace.names if all_in_memory else NoNames()
    result = await retrieve(
        Question(question, "walk", chunk_top_k=4),
        PARTITIONS,
        workspace.deps(entity_names=names),
    )
    assert [link["entities"] for link in result.info["linked"]] == [["Blue Harbour"]]
    assert {passage.file_path for _, passage in result.passages} >= CHAIN
