"""Subjects: whatever a document or a tenant is called, its events stand in one well-formed subject
of their own.
"""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.events import EVENTS
from contracts.subjects import (
    ALL,
    APART,
    QUESTIONS,
    addressed,
    blob,
    of_document,
    of_type,
    split,
    subject,
    token,
)

any_name = st.text(st.characters(codec=None))

HOSTILE = [
    "",
    " ",
    "*",
    ">",
    "a.b",
    "a b",
    "a\tb",
    "a\r\nPUB evil 0",
    "plain\n",
    "\x00",
    "x-",
    "x-" + "0" * 32,
    "X-plain",
    "Upper",
    "ærlig",
    "日本語",
    "\ud800",
    "$JS.API",
    "a" * 65,
    "a" * 5000,
    "../../etc",
]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:24])
def test_a_name_that_is_no_token_is_encoded(name: str) -> None:
    assert re.fullmatch(r"x-[0-9a-f]{32}", token(name))


@pytest.mark.parametrize(
    "name",
    ["a", "doc-a5e54d1fd7bb69a228ef0dcd2431367e", "_graph", "9", "-", "a" * 64, "xx-", "x_-"],
)
def test_a_plain_name_stands_for_itself(name: str) -> None:
    assert token(name) == name


def test_hostile_names_do_not_meet() -> None:
    assert len({token(name) for name in HOSTILE}) == len(HOSTILE)


@given(any_name)
@example("plain\n")
def test_a_token_is_always_safe_in_a_subject(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9_-]{1,64}", token(name))


@given(st.text(), st.text())
@example("a", "a\n")
@example("x-" + "0" * 32, "anything")
def test_two_names_share_a_token_only_if_they_are_one(name: str, other_name: str) -> None:
    assert (token(name) == token(other_name)) == (name == other_name)


@given(st.text())
def test_no_document_can_be_called_what_another_is_encoded_as(name: str) -> None:
    name_token = token(name)
    assert (
        token(name_token) == name_token
        if name_token == name
        else token(name_token) not in (name_token, name)
    )


@given(any_name, any_name, st.sampled_from(sorted(EVENTS)))
def test_a_subject_can_be_taken_apart_again(workspace: str, about: str, event_type: str) -> None:
    event_subject = subject(workspace, about, event_type)
    apart = (QUESTIONS, token(workspace), event_type)
    assert split(event_subject) == (
        apart if event_type in APART else (token(workspace), token(about), event_type)
    )
    assert addressed(event_subject) == (
        token(workspace),
        None if event_type in APART else token(about),
        event_type,
    )
    assert len(event_subject) < 256


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kb",
        "kb.v1.w.d",
        "kb.v1.w.d.E.x",
        "kb.v2.w.d.E",
        "KB.v1.w.d.E",
        "$JS.API.STREAM.NAMES.x",
        "a.b.c.d.e",
    ],
)
def test_any_other_subject_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not kb\.v1"):
        split(text)


def test_a_refusal_quotes_no_more_than_a_line() -> None:
    with pytest.raises(ValueError, match="is not") as caught:
        split("y" * 5000)
    assert len(str(caught.value)) < 250


def test_wildcards_stand_where_they_should() -> None:
    assert ALL == "kb.v1.*.*.*"
    assert of_type("DocumentAdded") == "kb.v1.*.*.DocumentAdded"
    assert of_document("harbour", "doc-1") == "kb.v1.harbour.doc-1.*"
    assert of_document("*", ">") == f"kb.v1.{token('*')}.{token('>')}.*"
    assert blob("ab12", 0) == "blob.ab12.0"
