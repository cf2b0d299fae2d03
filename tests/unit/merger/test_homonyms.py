"""One name that means different things in different documents: split where people say so, and put
together again.
"""

from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from contracts.events import DocumentDeleted, GraphEdited
from contracts.graph import Generations
from knowledge.edit import Edit
from knowledge.edits import Edits, apply_edits
from knowledge.homonyms import Documents, Source
from services.merger.handler import on_graph_edited
from tests.support.events import delivered, entity, relation
from tests.support.shares import share
from tests.unit.merger.test_edits import Harness

PLANET = "Mercury (planet)"
GOD = "Mercury (god)"


@pytest.fixture
async def harness() -> Harness:
    """A graph in which one name stands for a planet in one document, for a metal in another."""
    harness = Harness()
    await harness.says(
        "sky",
        [entity("Mercury", "planet", "It is next to the sun"), entity("Sun", "star")],
        [relation("Mercury", "Sun", "it orbits it")],
    )
    await harness.says(
        "lab",
        [entity("Mercury", "metal", "It is liquid"), entity("Thermometer")],
        [relation("Mercury", "Thermometer", "it fills it")],
    )
    return harness


async def split(harness: Harness, name: str, target: str, *documents: str) -> Any:
    return await harness.take(
        GraphEdited(
            operation="split_entity", names=(name,), target=target, documents=tuple(documents)
        )
    )


async def undo(harness: Harness, sequence: int, name: str, target: str) -> None:
    await harness.take(
        GraphEdited(operation="undo_edit", names=(name,), target=target, undoes=sequence)
    )


async def test_in_the_documents_named_the_name_means_another_entity_with_relations_of_its_own(
    harness: Harness,
) -> None:
    (event,) = await split(harness, "Mercury", PLANET, "sky")
    entities = await harness.merger.entities()
    assert (entities["Mercury"].type, entities["Mercury"].description) == ("metal", "It is liquid")
    assert (entities[PLANET].type, entities[PLANET].description) == (
        "planet",
        "It is next to the sun",
    )
    assert entities[PLANET].file_paths == ("sky.txt",)
    assert await harness.ties() == {("Mercury", "Thermometer"), (PLANET, "Sun")}
    assert {entity.name for entity in event.entities} >= {"Mercury", PLANET}


async def test_it_holds_for_later_versions_of_these_documents_and_for_no_others(
    harness: Harness,
) -> None:
    await split(harness, "Mercury", PLANET, "sky")
    await harness.says("sky", [entity("Mercury", "planet", "It has no moon")])
    await harness.says("new", [entity("Mercury", "metal", "It is heavy")])
    entities = await harness.merger.entities()
    assert (entities[PLANET].description, entities[PLANET].support) == ("It has no moon", 1)
    assert (entities["Mercury"].type, entities["Mercury"].support) == ("metal", 2)
    await harness.take(DocumentDeleted(document_id="sky"))
    assert await harness.names() == {"Mercury", "Thermometer"}


async def test_undone_the_graph_is_exactly_the_one_of_before(harness: Harness) -> None:
    before = await harness.merger.picture()
    await split(harness, "Mercury", PLANET, "sky")
    sequence = harness.place
    assert await harness.merger.picture() != before
    await undo(harness, sequence, "Mercury", PLANET)
    assert await harness.merger.picture() == before


async def test_what_is_said_of_one_of_them_is_not_said_of_the_other(harness: Harness) -> None:
    await split(harness, "Mercury", PLANET, "sky")
    await harness.edit("edit_entity", PLANET, description="the smallest one")
    await harness.edit("delete_entity", "Mercury")
    assert await harness.names() == {PLANET, "Sun", "Thermometer"}
    await harness.edit("delete_entity", PLANET)
    await harness.says("lab", [entity("Mercury", "metal", "It is liquid again")])
    assert await harness.names() == {"Sun", "Mercury"}


async def test_a_renamed_entity_and_one_that_was_split_off_are_split_by_the_names_they_have_now(
    harness: Harness,
) -> None:
    await harness.edit("rename_entity", "Mercury", target="Quicksilver")
    await split(harness, "Quicksilver", PLANET, "sky")
    assert await harness.ties() == {("Quicksilver", "Thermometer"), (PLANET, "Sun")}
    await split(harness, PLANET, GOD, "sky", "lab")
    assert await harness.ties() == {("Quicksilver", "Thermometer"), (GOD, "Sun")}
    await harness.edit("merge_entities", GOD, target="Quicksilver")
    assert await harness.ties() == {("Quicksilver", "Thermometer"), ("Quicksilver", "Sun")}


async def test_a_name_may_be_split_onto_an_entity_that_is_there(harness: Harness) -> None:
    await harness.says("sky2", [entity(PLANET, "planet", "It is small")])
    await split(harness, "Mercury", PLANET, "sky")
    entities = await harness.merger.entities()
    assert entities[PLANET].support == 2
    assert set(entities[PLANET].file_paths) == {"sky.txt", "sky2.txt"}


async def test_a_relation_between_the_two_names_in_one_document_is_none(harness: Harness) -> None:
    await harness.says(
        "both", [entity("Mercury"), entity(PLANET)], [relation("Mercury", PLANET, "the same")]
    )
    assert ("Mercury", PLANET) in await harness.ties()
    await split(harness, "Mercury", PLANET, "both")
    assert await harness.ties() == {("Mercury", "Sun"), ("Mercury", "Thermometer")}


@pytest.mark.parametrize("seed", share(range(25), daily=5))
async def test_splits_taken_back_leave_no_trace_in_any_order(seed: int) -> None:
    dice = Random(seed)
    names = ["Ada", "Bert", "Celia"]
    documents = ["a", "b", "c"]
    renames = list[GraphEdited]()
    splits = list[GraphEdited]()
    for number in range(6):
        name, other_name = dice.sample(names, 2)
        renames.append(
            GraphEdited(
                operation="rename_entity",
                names=(name,),
                target=f"{other_name} {number % 2 or ''}".strip(),
            )
        )
        own_documents = tuple(dice.sample(documents, dice.randint(1, 2)))
        splits.append(
            GraphEdited(
                operation="split_entity",
                names=(name,),
                target=f"Other {name}",
                documents=own_documents,
            )
        )
    edits = [delivered(edit, 1000 + n) for n, edit in enumerate([*renames, *splits])]
    undone = [
        delivered(
            GraphEdited(
                operation="undo_edit",
                names=delivery.event.names,
                target=delivery.event.target,
                undoes=delivery.sequence,
            ),
            2000 + n,
        )
        for n, delivery in enumerate(edits[len(renames) :])
    ]
    ties = {document: [relation(*dice.sample(names, 2))] for document in documents}
    without = Harness()
    within = Harness()
    for harness in (without, within):
        for document in documents:
            await harness.says(document, [entity(name) for name in names], ties[document])
    log = [*edits, *undone]
    arrivals = dice.sample(log, len(log))
    for start in range(0, len(log), 4):
        await on_graph_edited(
            arrivals[start : start + 4], Generations(), dependencies=within.merger.dependencies
        )
    await on_graph_edited(
        edits[: len(renames)], Generations(), dependencies=without.merger.dependencies
    )
    assert await within.merger.picture() == await without.merger.picture()


def test_sources_say_which_documents_count_up_to_where() -> None:
    edits = apply_edits(
        [
            Edit(5, "split_entity", ("M",), "P", documents=("a", "b")),
            Edit(7, "delete_entity", ("P",)),
            Edit(8, "split_entity", ("P",), "Q", documents=("b",)),
            Edit(9, "merge_entities", ("Q",), "M"),
        ]
    )
    documents = frozenset({"a", "b"})
    assert set(edits.sources(("M",))) == {
        Source(("M",), documents=Documents(documents)),
        Source(("M",), documents=Documents(frozenset({"b"}), is_excluding=False)),
        Source(("P",), documents=Documents(frozenset({"b"}), is_excluding=False)),
        Source(("Q",)),
    }
    assert edits.sources(("P",)) == (
        Source(("P",), 7, Documents(frozenset({"b"}))),
        Source(("M",), 7, Documents(frozenset({"a"}), is_excluding=False)),
    )
    assert edits.other_names() == [("M", "P"), ("P", "M"), ("Q", "M")]


def test_without_a_split_a_source_is_the_key_itself() -> None:
    assert Edits().sources(("A", "B")) == (Source(("A", "B")),)
    assert "any" in Source(("A",)).documents


@pytest.mark.parametrize(
    "fields",
    [
        {"names": ("A",), "target": "B"},
        {"names": ("A",), "target": "A", "documents": ("d",)},
        {"names": ("A", "C"), "target": "B", "documents": ("d",)},
        {"names": ("A",), "documents": ("d",)},
        {"operation": "rename_entity", "names": ("A",), "target": "B", "documents": ("d",)},
    ],
)
def test_a_split_needs_one_name_another_one_and_documents(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GraphEdited.model_validate({"operation": "split_entity", **fields})
