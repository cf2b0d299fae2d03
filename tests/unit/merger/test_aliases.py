"""A name means an entity because somebody decided so; taken back, the graph is as if nobody ever
had.
"""

from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from contracts.events import GraphEdited
from contracts.graph import Generations
from knowledge.edit import Edit, standing_edits
from knowledge.edits import apply_edits
from services.merger.handler import on_graph_edited
from tests.support.events import delivered, entity, relation
from tests.support.shares import share
from tests.unit.merger.test_edits import Harness


@pytest.fixture
async def harness() -> Harness:
    """A graph in which documents use a long and a short name for one organisation."""
    harness = Harness()
    await harness.says(
        "long",
        [entity("World Health Organization", "organization"), entity("Geneva", "location")],
        [relation("World Health Organization", "Geneva", "it sits there")],
    )
    await harness.says(
        "short",
        [entity("WHO", "organization"), entity("Dr. Adams", "person")],
        [relation("WHO", "Dr. Adams", "she leads it")],
    )
    return harness


async def test_an_accepted_alias_makes_one_entity_of_two_for_later_documents_too(
    harness: Harness,
) -> None:
    await harness.edit("accept_alias", "WHO", target="World Health Organization")
    await harness.says(
        "later", [entity("WHO", "organization"), entity("Polio")], [relation("WHO", "Polio")]
    )
    assert await harness.names() == {"World Health Organization", "Geneva", "Dr. Adams", "Polio"}
    assert (await harness.merger.entities())["World Health Organization"].support == 3
    assert await harness.ties() == {
        ("Geneva", "World Health Organization"),
        ("Dr. Adams", "World Health Organization"),
        ("Polio", "World Health Organization"),
    }


@pytest.mark.parametrize("back", ["undo_alias", "reject_alias"])
@pytest.mark.parametrize("decision", ["accept_alias", "merge_entities"])
async def test_taken_back_the_graph_is_exactly_the_one_of_before(
    harness: Harness, decision: str, back: str
) -> None:
    before = await harness.merger.picture()
    await harness.edit(decision, "WHO", target="World Health Organization")
    assert await harness.merger.picture() != before
    (event,) = await harness.edit(back, "WHO", target="World Health Organization")
    assert await harness.merger.picture() == before
    assert {entity.name for entity in event.entities} >= {"WHO", "World Health Organization"}
    assert {(relation.source, relation.target) for relation in event.relations} >= {
        ("Dr. Adams", "WHO"),
        ("Dr. Adams", "World Health Organization"),
    }


async def test_what_was_edited_meanwhile_goes_to_whom_it_was_said_of(harness: Harness) -> None:
    await harness.edit("edit_entity", "WHO", type="agency")
    await harness.edit("accept_alias", "WHO", target="World Health Organization")
    await harness.edit(
        "edit_entity", "World Health Organization", description="an agency of health"
    )
    await harness.edit("rename_entity", "World Health Organization", target="WHO (UN)")
    assert (await harness.merger.entities())["WHO (UN)"].type == "agency"
    await harness.edit("undo_alias", "WHO", target="World Health Organization")
    entities = await harness.merger.entities()
    assert (entities["WHO"].type, entities["WHO"].support) == ("agency", 1)
    assert (entities["WHO (UN)"].type, entities["WHO (UN)"].description) == (
        "organization",
        "an agency of health",
    )
    assert "World Health Organization" not in entities


async def test_what_was_deleted_under_the_alias_is_hidden_only_where_it_was_said(
    harness: Harness,
) -> None:
    await harness.edit("accept_alias", "WHO", target="World Health Organization")
    await harness.edit("delete_entity", "World Health Organization")
    assert await harness.names() == {"Geneva", "Dr. Adams"}
    await harness.edit("undo_alias", "WHO", target="World Health Organization")
    assert await harness.names() == {"Geneva", "Dr. Adams", "WHO"}
    assert await harness.ties() == {("Dr. Adams", "WHO")}


async def test_a_proposal_and_the_rejection_of_one_change_nothing(harness: Harness) -> None:
    before = await harness.merger.picture()
    await harness.edit("propose_alias", "WHO", target="World Health Organization")
    await harness.edit("reject_alias", "WHO", target="World Health Organization")
    assert await harness.merger.picture() == before


async def test_an_alias_can_be_accepted_again(harness: Harness) -> None:
    for operation in ("accept_alias", "undo_alias", "accept_alias"):
        await harness.edit(operation, "WHO", target="World Health Organization")
    assert await harness.names() == {"World Health Organization", "Geneva", "Dr. Adams"}


@pytest.mark.parametrize("seed", share(range(25), daily=5))
async def test_decisions_taken_back_leave_no_trace_in_any_order(seed: int) -> None:
    """All alias decisions are taken back at the end: the graph is that of a log without them."""
    dice = Random(seed)
    names = ["Ada", "Bert", "Celia", "Dorian"]
    without = Harness()
    edits = list[GraphEdited]()
    for _ in range(8):
        name, other_name = dice.sample(names, 2)
        operation: Any = dice.choice(
            ["accept_alias", "accept_alias", "rename_entity", "edit_entity", "delete_entity"]
        )
        target = (
            other_name
            if operation == "accept_alias"
            else f"Sir {name}"
            if operation == "rename_entity"
            else None
        )
        edits.append(
            GraphEdited(
                operation=operation, names=(name,), target=target, values={"description": operation}
            )
        )
    decisions = [edit for edit in edits if edit.operation == "accept_alias"]
    undone = [
        GraphEdited(operation="undo_alias", names=edit.names, target=edit.target)
        for edit in decisions
    ]
    within = Harness()
    for harness in (without, within):
        await harness.says(
            "a", [entity(name) for name in names], [relation(*names[:2]), relation(*names[2:])]
        )
        await harness.says(
            "b", [entity(name) for name in names[1:]], [relation(names[1], names[3])]
        )
    log = [delivered(edit, 1000 + n) for n, edit in enumerate([*edits, *undone])]
    arrivals = dice.sample(log, len(log))
    for start in range(0, len(log), 3):
        await on_graph_edited(
            arrivals[start : start + 3], Generations(), dependencies=within.merger.dependencies
        )
    other_edits = [
        delivery
        for delivery in log
        if delivery.event.operation not in ("accept_alias", "undo_alias")
    ]
    await on_graph_edited(other_edits, Generations(), dependencies=without.merger.dependencies)
    assert await within.merger.picture() == await without.merger.picture()


def test_of_a_merge_of_several_one_name_is_taken_back() -> None:
    edits = [Edit(1, "merge_entities", ("A", "B"), "C"), Edit(2, "undo_alias", ("A",), "C")]
    assert standing_edits(edits) == [Edit(1, "merge_entities", ("B",), "C")]
    assert apply_edits(edits[::-1]).current_names == {"B": "C"}


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "accept_alias", "names": ("A",)},
        {"operation": "undo_alias", "names": ("A",), "target": "A"},
        {"operation": "reject_alias", "names": (), "target": "B"},
    ],
    ids=str,
)
def test_a_decision_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GraphEdited(**fields)
