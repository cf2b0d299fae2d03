"""The envelope: its type attribute, what it refuses, and what `seal` writes."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.envelope import Header, Lineage, parse_type, type_attribute, wrap
from contracts.events import EVENTS, DocumentDeleted, GraphEdited

NOW = datetime(2026, 3, 14, 8, 12, 31, tzinfo=UTC)


def header(**fields: object) -> Header:
    return Header.model_validate(
        {"id": "1", "source": "/s", "type": "t", "workspace": "harbour", **fields}
    )


@given(st.sampled_from(sorted(EVENTS)), st.integers(1, 9999))
def test_a_type_attribute_can_be_read_back(name: str, version: int) -> None:
    assert parse_type(type_attribute(name, version)) == (name, version)


@pytest.mark.parametrize(
    "type_name",
    [
        "",
        "DocumentAdded",
        "lightstream.DocumentAdded",
        "lightstream.DocumentAdded.v0",
        "lightstream.DocumentAdded.v01",
        "lightstream.DocumentAdded.v12345",
        "lightstream.DocumentAdded.1",
        "lightstream.documentAdded.v1",
        "lightstream.Document-Added.v1",
        "lightstream.DocumentAdded.v1\n",
        "lightstream.DocumentAdded.v１",
        "Lightstream.DocumentAdded.v1",
        " lightstream.DocumentAdded.v1",
        "lightstream." + "A" * 5000 + ".v1",
    ],
)
def test_any_other_type_is_refused_with_the_form_it_should_have(type_name: str) -> None:
    with pytest.raises(
        ValueError, match=r"not of the form lightstream\.<EventType>\.v<version>"
    ) as caught:
        parse_type(type_name)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("workspace", ["default", "Harbour.Archive-2", "a", "9", "A" * 64])
def test_a_tenant_may_be_called_what_people_call_it(workspace: str) -> None:
    assert header(workspace=workspace).workspace == workspace


@pytest.mark.parametrize(
    "workspace",
    ["", " ", "x-abc", ".hidden", "-a", "a b", "a/b", "a*", "a\n", "æ", "a" * 65, None, 7],
)
def test_a_tenant_whose_name_could_be_mistaken_is_refused(workspace: object) -> None:
    with pytest.raises(ValidationError, match="workspace"):
        header(workspace=workspace)


@given(st.text())
@example("default\n")
def test_a_name_with_a_line_break_is_never_a_tenant(name: str) -> None:
    with suppress(ValidationError):
        assert "\n" not in header(workspace=name).workspace


def test_a_time_needs_its_zone() -> None:
    assert header(time="2026-03-14T09:12:31+01:00").time == NOW
    with pytest.raises(ValidationError, match="time"):
        header(time="2026-03-14T09:12:31")


def test_a_sealed_event_says_what_it_is_about_and_where_its_schema_is() -> None:
    envelope = wrap(
        DocumentDeleted(document_id="doc-1"), id="1", source="/s", workspace="harbour", time=NOW
    )
    assert envelope.subject == "doc-1"
    assert envelope.type == "lightstream.DocumentDeleted.v1"
    assert envelope.dataschema == "urn:lightstream:schema:DocumentDeleted.v1"
    assert envelope.correlation == "1"
    assert (envelope.causationid, envelope.traceparent) == (None, None)


def test_what_an_event_began_is_named_by_all_that_follow() -> None:
    event = GraphEdited(operation="delete_entity", names=("Tide Mill",))
    envelope = wrap(
        event, id="3", source="/s", workspace="harbour", time=NOW, lineage=Lineage("2", "1")
    )
    assert (envelope.causationid, envelope.correlation, envelope.subject) == ("2", "1", "_graph")


@pytest.mark.parametrize(
    ("given_actor", "read"),
    [
        ("key:ci", "key:ci"),
        ("", None),
        ("two\nlines", "two\ufffdlines"),
        ("a" * 300, "a" * 256),
        (7, None),
        ({"id": 1}, None),
        ("\ud800x", "x"),
    ],
)
def test_an_actor_that_nobody_can_show_makes_no_event_unreadable(
    given_actor: object, read: str | None
) -> None:
    assert header(actor=given_actor).actor == read
