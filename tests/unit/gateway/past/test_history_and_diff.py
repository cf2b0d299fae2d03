"""What made an entity what it is, and what differs between two places of the log."""

from typing import Any

import pytest

from contracts.events import DocumentDeleted, GraphEdited
from contracts.graph_edits import EditedValues
from knowledge.descriptions import SummaryLimits
from services.gateway.past.diff import Diff, diff
from services.gateway.past.history import EntityHistory, entity_history
from services.query.past.events import WorkspaceEvents
from services.query.past.state import state_at
from tests.support.events import added, chunked, delivered, document, entity, extracted, relation

LIMITS = SummaryLimits()


class Past:
    """A log of one workspace that grows by tens."""

    def __init__(self) -> None:
        self.events, self.place = WorkspaceEvents("w"), 0

    def take(self, event: Any) -> int:
        self.place += 10
        self.events.note(delivered(event, self.place))
        return self.place

    def says(self, id: str, *entities: Any, relations: Any = (), text: str = "text") -> int:
        version = self.take(added(id, text))
        of = document(id, version, file_path=f"{id}.txt")
        self.take(chunked(of, text))
        return self.take(extracted(of, 0, entities, relations))

    def edit(
        self,
        operation: Any,
        *names: str,
        target: str | None = None,
        undoes: int | None = None,
        **v: Any,
    ) -> int:
        values = EditedValues(**v)
        return self.take(
            GraphEdited(
                operation=operation,
                names=names,
                target=target,
                values=values,
                undoes=undoes,
                editor="ida",
            )
        )

    def history(self, name: str, at: int = 10**6) -> EntityHistory:
        return entity_history(self.events, state_at(self.events, at, LIMITS), name)

    def effects(self, name: str) -> list[tuple[int, str, str]]:
        return [
            (event.sequence, event.operation or event.type, event.effect)
            for event in self.history(name).events
        ]

    def diff(self, before: int, after: int, document: str | None = None, limit: int = 100) -> Diff:
        states = (state_at(self.events, place, LIMITS) for place in (before, after))
        return diff(*states, document=document, limit=limit)


@pytest.fixture
def past() -> Past:
    past = Past()
    past.says(
        "one",
        entity("Ada", "person", "leads"),
        entity("Elm"),
        relations=[relation("Ada", "Elm", "lives in")],
    )
    return past


def test_each_statement_names_its_chunk_and_its_relations(past: Past) -> None:
    past.says("two", entity("Ada", "person", "sails"))
    result = past.history("Ada")
    assert (result.exists, result.names) == (True, ["Ada"])
    first, second = result.events
    assert (first.chunk_id, first.document_id, first.file_path) == (
        "one-chunk-000",
        "one",
        "one.txt",
    )
    assert [
        (relation.source, relation.target, relation.description) for relation in first.relations
    ] == [("Ada", "Elm", "lives in")]
    assert (second.description, second.relations, second.effect) == ("sails", (), "counts")


def test_a_newer_text_replaces_and_a_deletion_deletes(past: Past) -> None:
    later = past.says("one", entity("Ada", "person", "retired"), text="new")
    assert past.effects("Ada") == [
        (30, "EntitiesExtracted", "replaced"),
        (later, "EntitiesExtracted", "counts"),
    ]
    deletion = past.take(DocumentDeleted(document_id="one"))
    assert past.effects("Ada") == [
        (30, "EntitiesExtracted", "replaced"),
        (later, "EntitiesExtracted", "deleted"),
        (deletion, "DocumentDeleted", "counts"),
    ]
    assert not past.history("Ada").exists and past.history("Ada", at=later).exists
    assert past.history("Ada").events[-1].file_path == "one.txt"


def test_an_edit_hides_until_it_is_undone(past: Past) -> None:
    deletion = past.edit("delete_entity", "Ada")
    assert past.effects("Ada") == [
        (30, "EntitiesExtracted", "hidden"),
        (deletion, "delete_entity", "counts"),
    ]
    undone = past.edit("undo_edit", "Ada", undoes=deletion)
    assert past.effects("Ada") == [
        (30, "EntitiesExtracted", "counts"),
        (deletion, "delete_entity", "undone"),
        (undone, "undo_edit", "counts"),
    ]
    assert past.history("Ada").events[1].undone_by == undone


def test_an_entity_is_told_with_what_was_merged_into_it_and_by_its_new_name(past: Past) -> None:
    past.says("two", entity("A. Marlow", "person", "signs"))
    merge = past.edit("merge_entities", "A. Marlow", target="Ada")
    renaming = past.edit("rename_entity", "Ada", target="Ada Marlow")
    result = past.history("Ada Marlow")
    assert result.names == ["A. Marlow", "Ada"]
    assert [event.sequence for event in result.events] == [30, 60, merge, renaming]
    assert {event.effect for event in result.events} == {"counts"}
    assert [event.effect for event in past.history("Ada").events if event.chunk_id] == [
        "renamed",
        "renamed",
    ]
    past.edit("undo_alias", "A. Marlow", target="Ada")
    assert past.effects("A. Marlow")[1][2] == "undone" and past.history("A. Marlow").exists


def test_an_alias_that_is_taken_back_no_longer_counts(past: Past) -> None:
    past.says("two", entity("A. M.", "person", "signs"))
    acceptance = past.edit("accept_alias", "A. M.", target="Ada")
    past.edit("reject_alias", "A. M.", target="Ada")
    assert (acceptance, "accept_alias", "undone") in past.effects("A. M.")


def test_what_appeared_changed_and_went_is_told_apart(past: Past) -> None:
    before = past.place
    past.says("two", entity("Ada", "person", "sails"), entity("Bay"))
    middle = past.place
    past.take(DocumentDeleted(document_id="one"))
    result = past.diff(before, middle)
    assert [(difference.key, difference.change) for difference in result.documents] == [
        (("two",), "appeared")
    ]
    assert [(difference.key, difference.change) for difference in result.entities] == [
        (("Ada",), "changed"),
        (("Bay",), "appeared"),
    ]
    ada = result.entities[0].fields
    assert (
        ada["support"] == (1, 2)
        and "type" not in ada
        and ada["description"][1] == "leads<SEP>sails"
    )
    assert result.relations == [] and result.counts["entities"] == {
        "appeared": 1,
        "changed": 1,
        "gone": 0,
    }
    later = past.diff(middle, past.place)
    assert [(difference.key, difference.change) for difference in later.documents] == [
        (("one",), "gone")
    ]
    assert [(difference.key, difference.change) for difference in later.relations] == [
        (("Ada", "Elm"), "gone")
    ]
    assert later.relations[0].fields["weight"] == (1.0, None)
    assert past.diff(middle, middle).counts["entities"] == {"appeared": 0, "changed": 0, "gone": 0}


def test_a_new_text_of_a_document_is_a_change_of_it(past: Past) -> None:
    before = past.place
    past.says("one", entity("Ada", "person", "leads"), text="new")
    result = past.diff(before, past.place)
    assert [
        (difference.key, difference.change, sorted(difference.fields))
        for difference in result.documents
    ] == [(("one",), "changed", ["content_sha256", "sequence"])]
    assert [difference.key for difference in result.entities] == [("Elm",)]


@pytest.mark.parametrize("document_name", ["two", "two.txt"])
def test_of_one_document_only_what_it_speaks_of_is_told(past: Past, document_name: str) -> None:
    past.says("two", entity("Bay"))
    past.edit("edit_entity", "Elm", description="a port")
    result = past.diff(0, past.place, document=document_name)
    assert [difference.key for difference in result.documents] == [("two",)] and [
        difference.key for difference in result.entities
    ] == [("Bay",)]


def test_what_is_cut_off_is_counted(past: Past) -> None:
    result = past.diff(0, past.place, limit=1)
    assert (
        result.is_truncated
        and len(result.entities) == 1
        and result.counts["entities"]["appeared"] == 2
    )
