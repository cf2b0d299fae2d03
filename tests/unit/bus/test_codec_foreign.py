"""Events as other libraries write them: both modes of the binding for NATS, and all that
CloudEvents leaves open.
"""

import base64
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from runtime.errors import Poison, Undecodable

SUBJECT = "kb.v1.w.d.DocumentAdded"
BODY = {"document_id": "d", "text": "Grüße"}
TYPE = "lightstream.DocumentAdded.v1"
SMALLEST = {"specversion": "1.0", "id": "1", "source": "/shelf", "type": TYPE, "workspace": "w"}
BINARY = {f"ce-{name}": value for name, value in SMALLEST.items()}


def structured(**attributes: Any) -> bytes:
    """An event with these attributes beside the smallest set; `data` unless another one is
    given.
    """
    return orjson.dumps({**SMALLEST, "data": BODY, **attributes})


def text(data: bytes, headers: dict[str, str] | None = None) -> str | None:
    event = decode(data, SUBJECT, headers or {}).data
    assert isinstance(event, DocumentAdded)
    return event.text


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {
            "subject": None,
            "time": None,
            "datacontenttype": None,
            "dataschema": None,
            "traceparent": None,
        },
        {"myextension": 7, "another": True, "third": "x", "nothing": None, "bytes": "AAEC"},
        {"subject": "somebody's own subject", "dataschema": "https://example.com/schema"},
        {"datacontenttype": "application/json; charset=utf-8"},
        {"datacontenttype": "Application/JSON"},
        {"datacontenttype": "application/vnd.example.added+json"},
        {"datacontenttype": "text/json"},
        {"time": "2018-04-05T17:31:00Z"},
        {"time": "2018-04-05T17:31:00.123456789+02:00"},
    ],
    ids=str,
)
def test_what_cloudevents_leaves_open_is_left_open(attributes: dict[str, Any]) -> None:
    assert text(structured(**attributes)) == "Grüße"


def test_the_order_of_members_and_space_between_them_say_nothing() -> None:
    backwards = dict(reversed(orjson.loads(structured(time="2018-04-05T17:31:00Z")).items()))
    assert next(iter(backwards)) == "time" or next(iter(backwards)) == "data"
    assert text(orjson.dumps(backwards, option=orjson.OPT_INDENT_2)) == "Grüße"


def test_data_may_be_bytes_in_base64() -> None:
    raw = {**SMALLEST, "data_base64": base64.b64encode(orjson.dumps(BODY)).decode()}
    assert text(orjson.dumps(raw)) == "Grüße"


@pytest.mark.parametrize("content", ["not base64!", 7, "bm90IEpTT04=", "é", [], ""])
def test_bytes_that_are_no_json_are_undecodable(content: object) -> None:
    with pytest.raises(Undecodable):
        text(orjson.dumps({**SMALLEST, "data_base64": content}))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "application/json"},
        {"Content-Type": "application/json; charset=utf-8"},
        {"ce-datacontenttype": "application/json"},
        {"ce-datacontenttype": "application/json", "content-type": "text/plain"},
        {
            "ce-subject": "d",
            "ce-time": "2018-04-05T17:31:00Z",
            "ce-myextension": "7",
            "Nats-Msg-Id": "1",
        },
        {"ce-note": "%E2%82%AC%20and%20%22quotes%22"},
        {"ce-note": r'"quoted \" text"'},
    ],
    ids=str,
)
def test_binary_mode_has_the_attributes_in_headers_and_the_data_as_they_are(
    headers: dict[str, str],
) -> None:
    assert text(orjson.dumps(BODY), BINARY | headers) == "Grüße"


def test_names_of_headers_have_no_case_and_values_are_percent_decoded_once() -> None:
    headers = {name.title(): f" {value} " for name, value in BINARY.items()} | {
        "CE-SOURCE": "/shelf%20%C3%A9%2541",
        "ce-id": '"a b"',
        "ce-time": "2018-04-05T17%3A31%3A00Z",
    }
    del headers["Ce-Source"], headers["Ce-Id"]
    envelope = decode(orjson.dumps(BODY), SUBJECT, headers)
    assert (envelope.source, envelope.id) == ("/shelf é%41", "a b")
    assert envelope.time == datetime(2018, 4, 5, 17, 31, tzinfo=UTC)


def test_structured_mode_stays_structured_whatever_stands_in_the_headers() -> None:
    headers = {
        "Content-Type": "application/cloudevents+json; charset=utf-8",
        **BINARY,
        "ce-workspace": "other",
    }
    assert decode(structured(), SUBJECT, headers).workspace == "w"
    assert decode(structured(), SUBJECT, {"ce-id": "2", "content-type": "text/plain"}).id == "1"


@pytest.mark.parametrize(
    "headers",
    [
        BINARY | {"ce-specversion": "0.3"},
        BINARY | {"content-type": "application/xml"},
        BINARY | {"ce-datacontenttype": "text/plain"},
        BINARY | {"ce-note": "%C0%A0"},
        BINARY | {"ce-note": "é"},
        BINARY | {"ce-workspace": "other"},
        BINARY | {"ce-time": "yesterday"},
        {name: value for name, value in BINARY.items() if name != "ce-workspace"},
        {name: value for name, value in BINARY.items() if name != "ce-type"},
    ],
    ids=str,
)
def test_headers_that_are_no_attributes_of_ours_are_undecodable(headers: dict[str, str]) -> None:
    with pytest.raises(Undecodable):
        text(orjson.dumps(BODY), headers)


def test_a_subject_of_another_workspace_is_refused_in_binary_mode_too() -> None:
    with pytest.raises(Undecodable, match="differs from the subject"):
        decode(orjson.dumps(BODY), "kb.v1.v.d.DocumentAdded", BINARY)


@settings(max_examples=200)
@given(st.binary(), st.dictionaries(st.sampled_from([*BINARY, "content-type", "ce-x"]), st.text()))
def test_no_bytes_and_headers_raise_anything_but_what_the_edge_expects(
    data: bytes, headers: dict[str, str]
) -> None:
    with pytest.raises(Poison):
        decode(data, SUBJECT, headers)
