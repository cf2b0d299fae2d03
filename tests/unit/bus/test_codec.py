"""Events to bytes and back, old versions lifted, every fault named."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import subjects
from contracts.events import EVENTS, DocumentAdded, Event, GraphEdited
from runtime.bus.codec import decode, encode
from runtime.errors import NewerVersion, Poison, Undecodable
from tests.support.events import (
    added,
    chunked,
    document,
    extracted,
    failed,
    indexed,
    merged,
    sealed,
)

SAMPLES: list[Event] = [
    added("d", "text", metadata={"n": 1, "f": 0.5, "s": "", "b": True}),
    chunked(document(), "one", "two"),
    extracted(document()),
    merged(document(), 0),
    indexed(document(), "chunks", 0),
    failed("chunker", "DocumentAdded", document(), 0),
]

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


class FutureDocumentAdded(DocumentAdded):
    """DocumentAdded as a future version may have it."""

    version = 3
    language: str

    @classmethod
    def type_name(cls) -> str:
        return "DocumentAdded"


def where(event: Event, workspace: str = "w") -> str:
    return subjects.subject(workspace, event.aggregate_id, event.type_name())


@pytest.mark.parametrize("event", SAMPLES, ids=[event.type_name() for event in SAMPLES])
def test_an_event_comes_back_as_it_went(event: Event) -> None:
    envelope = sealed(
        event, causation="c", correlation="r", traceparent=f"00-{'a' * 32}-{'b' * 16}-01"
    )
    back = decode(encode(envelope), where(event))
    assert type(back.data) is type(event)
    assert back.model_dump() == envelope.model_dump()


@pytest.mark.parametrize("event", SAMPLES, ids=[event.type_name() for event in SAMPLES])
def test_a_decoded_event_can_be_written_again_byte_by_byte(event: Event) -> None:
    data = encode(sealed(event))
    assert encode(decode(data, where(event))) == data


@settings(max_examples=60)
@given(TEXT.filter(bool), TEXT, st.text(alphabet="abcXYZ019._-", min_size=1, max_size=20))
def test_any_name_and_text_come_back(name: str, text: str, workspace: str) -> None:
    workspace = "w" + workspace
    event = added(name[:500], text, file_path="f")
    back = decode(encode(sealed(event, workspace=workspace)), where(event, workspace))
    assert back.data == event
    assert back.workspace == workspace


def test_a_value_that_says_nothing_is_kept_where_saying_nothing_means_something() -> None:
    event = added("d", "text", metadata={"editor": None})
    assert decode(encode(sealed(event)), where(event)).data == event
    edit = GraphEdited(operation="edit_entity", names=("A",), values={"description": None})
    assert decode(encode(sealed(edit)), where(edit)).data == edit


def test_attributes_and_fields_of_a_newer_writer_are_ignored() -> None:
    raw = orjson.loads(encode(sealed(added()))) | {"tracestate": "x", "partitionkey": "y"}
    raw["data"]["novelty"] = {"a": 1}
    assert decode(orjson.dumps(raw), where(added())).data == added()


def test_what_any_cloudevents_library_writes_is_enough() -> None:
    raw = {
        "specversion": "1.0",
        "id": "1",
        "source": "/shelf",
        "type": "lightstream.DocumentAdded.v1",
        "workspace": "w",
        "data": {"document_id": "d", "text": "text"},
    }
    envelope = decode(orjson.dumps(raw), "kb.v1.w.d.DocumentAdded")
    assert (envelope.time, envelope.correlation, envelope.data.aggregate_id) == (None, "1", "d")


def old(version: int, body: dict[str, Any]) -> bytes:
    raw = orjson.loads(encode(sealed(added()))) | {
        "type": f"lightstream.DocumentAdded.v{version}",
        "data": body,
    }
    return orjson.dumps(raw)


STEPS = {
    ("DocumentAdded", 1): lambda body: {**body, "language": "und"},
    ("DocumentAdded", 2): lambda body: {**body, "language": body["language"].upper()},
}
FUTURE: dict[str, Any] = {
    "events": {**EVENTS, "DocumentAdded": FutureDocumentAdded},
    "steps": STEPS,
}
BODY = {"document_id": "d", "text": "text"}


@pytest.mark.parametrize(
    ("version", "extra"), [(1, {}), (2, {"language": "und"}), (3, {"language": "UND"})]
)
def test_every_old_version_is_lifted_to_the_newest(version: int, extra: dict[str, str]) -> None:
    event = decode(old(version, {**BODY, **extra}), "kb.v1.w.d.DocumentAdded", **FUTURE).data
    assert isinstance(event, FutureDocumentAdded)
    assert event.language == "UND"


def test_a_version_that_is_newer_than_the_code_may_be_known_later() -> None:
    with pytest.raises(NewerVersion, match="v4 is newer"):
        decode(old(4, {}), "kb.v1.w.d.DocumentAdded", **FUTURE)


def test_a_missing_step_is_named() -> None:
    with pytest.raises(Undecodable, match="no step lifts it to v3"):
        decode(old(1, BODY), "kb.v1.w.d.DocumentAdded", events=FUTURE["events"], steps={})


@pytest.mark.parametrize(
    "subject", ["kb.v1.w.d", "kb.v2.w.d.DocumentAdded", "other", "", "kb.v1.w.d.DocumentAdded.x"]
)
def test_a_subject_of_another_form_is_undecodable(subject: str) -> None:
    with pytest.raises(Undecodable):
        decode(encode(sealed(added())), subject)


@settings(max_examples=300)
@given(
    st.binary()
    | st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    ).map(lambda value: orjson.dumps(value, default=str) if _utf8(value) else b"")
)
def test_no_bytes_raise_anything_but_what_the_edge_expects(data: bytes) -> None:
    with pytest.raises(Poison):
        decode(data, "kb.v1.w.d.DocumentAdded")


def _utf8(value: object) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True
