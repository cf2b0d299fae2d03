"""What people say of the graph: it stands over documents, outlives them, and can be taken back."""

from typing import Any

import pytest
from pydantic import ValidationError

from contracts.events import ChunksCreated, DocumentDeleted, EntitiesExtracted, GraphEdited
from contracts.graph import Generations
from contracts.graph_edits import EditedValues
from services.merger.handler import (
    MAX_KEYS_PER_EVENT,
    on_entities_extracted,
    on_extents,
    on_graph_edited,
)
from tests.support.events import chunked, delivered, document, entity, extracted, relation
from tests.support.merging import Merger

HANDLERS: dict[type, Any] = {
    EntitiesExtracted: on_entities_extracted,
    ChunksCreated: on_extents,
    DocumentDeleted: on_extents,
    GraphEdited: on_graph_edited,
}


class Harness:
    """A merger that gets one event after the other, with growing places in the log."""

    def __init__(self) -> None:
        self.merger = Merger()
        self.place = 0

    async def take(self, event: Any) -> list[Any]:
        self.place += 10
        handler = HANDLERS[type(event)]
        (events,) = await handler(
            [delivered(event, self.place)], Generations(), dependencies=self.merger.dependencies
        )
        return events

    async def says(self, id: str, entities: list[Any], relations: list[Any] | None = None) -> None:
        of = document(id, self.place + 10, file_path=f"{id}.txt")
        await self.take(chunked(of, "text"))
        await self.take(extracted(of, 0, entities, relations or []))

    async def edit(
        self, operation: Any, *names: str, target: str | None = None, **values: Any
    ) -> list[Any]:
        return await self.take(
            GraphEdited(
                operation=operation, names=names, target=target, values=EditedValues(**values)
            )
        )

    async def names(self) -> set[str]:
        return set(await self.merger.entities())

    async def ties(self) -> set[tuple[str, str]]:
        return set(await self.merger.relations())


@pytest.fixture
async def harness() -> Harness:
    """A desk whose graph has Ada, Bert and Celia, and two ties."""
    harness = Harness()
    await harness.says(
        "d",
        [entity("Ada", "person"), entity("Bert"), entity("Celia")],
        [relation("Ada", "Bert", "they sail", "sea"), relation("Bert", "Celia", "they trade")],
    )
    return harness


async def test_what_is_edited_stands_and_the_rest_stays(harness: Harness) -> None:
    await harness.edit("edit_entity", "Ada", description="a captain")
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.type, ada.description, ada.support) == ("person", "a captain", 1)
    await harness.says("later", [entity("Ada", "ship", "a ship")])
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.description, ada.support) == ("a captain", 2)


async def test_an_edit_is_undone_field_by_field_by_a_later_one(harness: Harness) -> None:
    await harness.edit("edit_entity", "Ada", type="captain", description="one")
    await harness.edit("edit_entity", "Ada", description="two")
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.type, ada.description) == ("captain", "two")


async def test_an_edited_entity_outlives_its_documents(harness: Harness) -> None:
    await harness.edit("edit_entity", "Ada", description="a captain")
    await harness.take(DocumentDeleted(document_id="d"))
    assert await harness.names() == {"Ada"}
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.description, ada.type, ada.source_ids, ada.support) == (
        "a captain",
        "UNKNOWN",
        (),
        0,
    )


async def test_a_created_entity_and_relation_need_no_document() -> None:
    harness = Harness()
    await harness.edit("create_entity", "Atlantis", type="place", description="an island")
    await harness.edit(
        "create_relation",
        "Atlantis",
        "Plato",
        description="he wrote of it",
        keywords=("myth",),
        weight=2.5,
    )
    assert await harness.names() == {"Atlantis", "Plato"}
    tie = (await harness.merger.relations())["Atlantis", "Plato"]
    assert (tie.description, tie.keywords, tie.weight) == ("he wrote of it", ("myth",), 2.5)


async def test_a_deleted_entity_takes_its_relations_along_and_later_documents_speak_anew(
    harness: Harness,
) -> None:
    await harness.edit("create_relation", "Ada", "Edith")
    await harness.edit("delete_entity", "Ada")
    assert await harness.names() == {"Bert", "Celia", "Edith"}
    assert await harness.ties() == {("Bert", "Celia")}
    await harness.says("later", [entity("Ada", "person", "somebody new")])
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.description, ada.support) == ("somebody new", 1)


async def test_a_deleted_relation_is_gone_and_its_ends_stay(harness: Harness) -> None:
    await harness.edit("delete_relation", "Bert", "Ada")
    assert await harness.ties() == {("Bert", "Celia")}
    assert await harness.names() == {"Ada", "Bert", "Celia"}


async def test_a_renamed_entity_keeps_its_relations_and_holds_for_later_documents(
    harness: Harness,
) -> None:
    await harness.edit("edit_entity", "Ada", description="a captain")
    await harness.edit("rename_entity", "Ada", target="Captain Marlow")
    await harness.says("later", [entity("Ada", "person")], [relation("Ada", "Celia")])
    assert await harness.names() == {"Captain Marlow", "Bert", "Celia"}
    assert await harness.ties() == {
        ("Bert", "Captain Marlow"),
        ("Bert", "Celia"),
        ("Captain Marlow", "Celia"),
    }
    marlow = (await harness.merger.entities())["Captain Marlow"]
    assert (marlow.description, marlow.support) == ("a captain", 2)


async def test_a_rename_is_taken_back_by_a_rename(harness: Harness) -> None:
    before = await harness.merger.picture()
    await harness.edit("rename_entity", "Ada", target="Captain Marlow")
    await harness.edit("rename_entity", "Captain Marlow", target="Ada")
    assert await harness.merger.picture() == before


async def test_merged_entities_become_one_and_ties_between_them_vanish(harness: Harness) -> None:
    await harness.edit("merge_entities", "Ada", "Bert", target="Ada")
    assert await harness.names() == {"Ada", "Celia"}
    assert await harness.ties() == {("Ada", "Celia")}
    ada = (await harness.merger.entities())["Ada"]
    assert (ada.support, ada.source_ids) == (1, ("d-chunk-000",))
    assert "Ada is there" in ada.description
    assert "Bert is there" in ada.description


async def test_one_workspace_s_edits_are_not_another_s(harness: Harness) -> None:
    await on_graph_edited(
        [delivered(GraphEdited(operation="delete_entity", names=("Ada",)), 99, workspace="other")],
        Generations(),
        dependencies=harness.merger.dependencies,
    )
    assert "Ada" in await harness.names()


async def test_what_changed_is_announced_under_the_old_and_the_new_name(harness: Harness) -> None:
    (event,) = await harness.edit("rename_entity", "Ada", target="Captain Marlow")
    assert {e.name for e in event.entities} >= {"Ada", "Captain Marlow"}
    assert {(r.source, r.target) for r in event.relations} == {
        ("Ada", "Bert"),
        ("Bert", "Captain Marlow"),
    }
    assert (event.document, event.chunks) == (None, ())


async def test_a_deletion_is_announced_in_parts_that_fit_into_events() -> None:
    harness = Harness()
    count = MAX_KEYS_PER_EVENT + 1
    await harness.says("d", [entity(f"{'N' * 100} {n}") for n in range(count)])
    events = await harness.take(DocumentDeleted(document_id="d"))
    assert [(event.part, event.parts, len(event.entities)) for event in events] == [
        (0, 2, MAX_KEYS_PER_EVENT),
        (1, 2, 1),
    ]
    assert all(event.document.deleted and event.document.id == "d" for event in events)
    assert max(len(event.model_dump_json()) for event in events) < 256 * 1024
    assert await harness.names() == set()


async def test_deleting_what_was_never_there_is_announced_too() -> None:
    events = await Harness().take(DocumentDeleted(document_id="nobody"))
    assert [(event.entities, event.relations, event.parts) for event in events] == [((), (), 1)]


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "rename_entity", "names": ("A",)},
        {"operation": "edit_entity", "names": ("A",), "target": "B"},
        {"operation": "create_relation", "names": ("A",)},
        {"operation": "create_relation", "names": ("A", "A")},
        {"operation": "delete_entity", "names": ("A", "B")},
        {"operation": "edit_relation", "names": ("A", "B"), "values": {"weight": -1}},
        {"operation": "explode", "names": ("A",)},
    ],
    ids=str,
)
def test_an_edit_that_makes_no_sense_is_refused_at_the_door(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GraphEdited(**fields)
