"""The language of the bus: every event has a schema, examples and speakers, and what was once said
is read for ever.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from contracts import events, generate, subjects
from contracts.envelope import parse_type, type_attribute
from contracts.events import EVENTS
from contracts.generate import FOLDER, main, schema_id, write
from contracts.ids import event_id
from contracts.registry import PRODUCERS, SERVICES, consuming_services
from contracts.upcast import STEPS, upcast
from contracts.values import Value
from runtime.bus.codec import decode, encode

Json = dict[str, Any]

EXAMPLES = sorted((FOLDER / "examples").glob("*/*/*"))
VERSIONS = [
    (name, version) for name, event in EVENTS.items() for version in range(1, event.version + 1)
]

VERSIONED = {"type", "dataschema", "data"}
"""Attributes that another version of an event may say otherwise."""

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
ATTRIBUTE_NAME = re.compile(r"[a-z0-9]{1,20}")
URI_REFERENCE = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")


def name_of(path: Path) -> str:
    return path.relative_to(FOLDER / "examples").as_posix()


every_example = pytest.mark.parametrize("path", EXAMPLES, ids=name_of)


def read(path: Path) -> Json:
    return json.loads(path.read_text("utf-8"))


def subject_of(message: Json) -> str:
    """Where an example stands in the log. The bodies name what they are about in three different
    ways.
    """
    event_type, version = parse_type(message["type"])
    body = upcast(event_type, version, EVENTS[event_type].version, message["data"])
    about = EVENTS[event_type].model_validate(body).aggregate_id
    return subjects.subject(message["workspace"], about, event_type)


def validator(name: str, version: int) -> Draft202012Validator:
    schema = read(FOLDER / "schemas" / f"{name}.v{version}.json")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def lost(before: Any, after: Any, path: str = "$") -> list[str]:
    """Where `after` does not say what `before` said. It may say more: a default of a field that is
    newer.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            p for key in before for p in lost(before[key], after.get(key, ...), f"{path}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [p for n, inner in enumerate(before) for p in lost(inner, after[n], f"{path}[{n}]")]
    return [] if before == after and type(before) is type(after) else [path]


# ---------------------------------------------------------------- every event is complete


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_every_version_of_an_event_has_a_schema_that_names_it(name: str, version: int) -> None:
    schema = validator(name, version).schema
    assert schema["$id"] == schema_id(name, version)
    assert schema["title"] == name
    assert schema["description"]
    assert all(attribute["description"] for attribute in schema["properties"].values())
    assert schema["properties"]["type"]["const"] == type_attribute(name, version)


def test_every_version_of_an_event_has_an_example_and_nothing_else_has_one() -> None:
    assert {(path.parts[-3], path.parts[-2]) for path in EXAMPLES} == {
        (name, f"v{v}") for name, v in VERSIONS
    }


def test_every_step_from_one_version_to_the_next_exists_and_no_other() -> None:
    assert set(STEPS) == {
        (name, version) for name, version in VERSIONS if version < EVENTS[name].version
    }


def test_every_event_names_who_says_it_and_who_hears_it() -> None:
    assert set(PRODUCERS) == set(EVENTS)
    for name in EVENTS:
        assert PRODUCERS[name]
        assert consuming_services(name)
        assert set(consuming_services(name)) <= set(SERVICES)


def test_whatever_may_be_null_may_be_absent() -> None:
    """Messages leave out what is None, so a reader must do without it."""
    required_fields = [
        f"{model.__name__}.{name}"
        for model in vars(events).values()
        if isinstance(model, type) and issubclass(model, Value)
        for name, field in model.model_fields.items()
        if field.is_required() and type(None) in get_args(field.annotation)
    ]
    assert required_fields == []


# ---------------------------------------------------------------- examples are read for ever


@every_example
def test_an_example_keeps_its_schema(path: Path) -> None:
    name = path.parts[-3]
    version = int(path.parts[-2].removeprefix("v"))
    faults = [
        f"{fault.json_path}: {fault.message}"
        for fault in validator(name, version).iter_errors(read(path))
    ]
    assert faults == []


@every_example
def test_an_example_is_decoded_on_its_subject_and_says_the_same_again(path: Path) -> None:
    message = read(path)
    envelope = decode(path.read_bytes(), subject_of(message))
    again = encode(envelope)
    event_type, version = parse_type(message["type"])
    newest_version = EVENTS[event_type].version
    fields = {
        name: value
        for name, value in message.items()
        if version == newest_version or name not in VERSIONED
    }
    assert lost(fields, json.loads(again)) == []
    assert decode(again, subject_of(message)) == envelope


@every_example
def test_an_example_has_the_id_that_its_cause_gives_it(path: Path) -> None:
    """The ids in old logs were made like this; another derivation would publish every event a
    second time.
    """
    envelope = decode(path.read_bytes(), subject_of(read(path)))
    if envelope.causationid:
        assert envelope.id == event_id(
            envelope.causationid, envelope.data.type_name(), envelope.data.ordinal
        )
        assert envelope.correlation != envelope.id
    else:
        assert envelope.correlation == envelope.id


@every_example
def test_an_example_is_a_cloudevent(path: Path) -> None:
    assert faults_of(read(path)) == []


def faults_of(message: Json) -> list[str]:
    """What CloudEvents 1.0.2 (sections 2 to 3.1) and its JSON format forbid."""
    attributes = {name: value for name, value in message.items() if name != "data"}
    rules: Mapping[str, Callable[[str], object]] = {
        "specversion": lambda value: value == "1.0",
        "source": URI_REFERENCE.fullmatch,
        "time": RFC_3339.fullmatch,
        "dataschema": ABSOLUTE_URI.fullmatch,
        "datacontenttype": lambda value: value == "application/json",
    }
    faults = [
        f"{name} is missing"
        for name in ("id", "source", "specversion", "type")
        if not attributes.get(name)
    ]
    faults += [f"{name} is no name" for name in attributes if not ATTRIBUTE_NAME.fullmatch(name)]
    for name, value in attributes.items():
        if (
            not isinstance(value, str)
            or not value
            or re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", value)
        ):
            faults.append(f"{name} is no printable string")
        elif name in rules and not rules[name](value):
            faults.append(f"{name} has another form")
    return faults


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"source": ""}, "source is missing"),
        ({"causation_id": "x"}, "causation_id is no name"),
        ({"traceparent": None}, "traceparent is no printable string"),
        ({"time": "2026-03-14 08:12:31"}, "time has another form"),
        ({"dataschema": "DocumentAdded"}, "dataschema has another form"),
    ],
)
def test_the_rules_of_cloudevents_find_what_breaks_them(change: Json, fault: str) -> None:
    message = {
        "specversion": "1.0",
        "id": "1",
        "source": "/a",
        "type": "lightstream.DocumentAdded.v1",
        "data": {},
    }
    assert faults_of(message) == []
    assert fault in faults_of(message | change)


def test_a_stranger_needs_the_required_attributes_only_and_may_add_his_own() -> None:
    message = {
        "specversion": "1.0",
        "id": "1",
        "source": "/stranger",
        "type": "lightstream.DocumentAdded.v1",
        "workspace": "harbour",
        "partitionkey": "7",
        "data": {"document_id": "d", "text": "Low water at noon.", "colour": "grey"},
    }
    assert validator("DocumentAdded", 1).is_valid(message)
    envelope = decode(json.dumps(message).encode(), "kb.v1.harbour.d.DocumentAdded")
    assert envelope.correlation == "1"
    assert "colour" not in json.loads(encode(envelope))["data"]


@pytest.mark.parametrize(
    "change",
    [
        {"specversion": "0.3"},
        {"Colour": "grey"},
        {"type": "lightstream.DocumentAdded.v2"},
        {"workspace": "x-a"},
    ],
)
def test_a_schema_refuses_what_is_no_envelope(change: Json) -> None:
    message = read(FOLDER / "examples/DocumentAdded/v1/inline.json")
    assert validator("DocumentAdded", 1).is_valid(message)
    assert not validator("DocumentAdded", 1).is_valid(message | change)
    assert not validator("DocumentAdded", 1).is_valid(
        {k: v for k, v in message.items() if k != "specversion"}
    )


# ---------------------------------------------------------------- what is checked in is what the code says  # noqa: E501


def test_what_is_checked_in_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def write_all(folder: Path) -> None:
    """Write every file, those of older versions as they are checked in."""
    shutil.copytree(FOLDER / "schemas", folder / "schemas")
    write(folder)


def test_the_check_names_every_file_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_all(tmp_path)
    assert main(["--check"], tmp_path) == 0
    changed_file = tmp_path / "schemas/DocumentAdded.v1.json"
    absent_file = tmp_path / "schemas/GraphEdited.v1.json"
    changed_file.write_text(
        changed_file.read_text("utf-8").replace('"string"', '"integer"', 1), "utf-8"
    )
    absent_file.unlink()
    (tmp_path / "schemas/DocumentLost.v1.json").write_text("{}", "utf-8")
    (tmp_path / "asyncapi.json").write_text("{}", "utf-8")
    assert main(["--check"], tmp_path) == 1
    names = re.findall(r"contracts/(\S+) differs", capsys.readouterr().err)
    assert names == [
        "asyncapi.json",
        "schemas/DocumentAdded.v1.json",
        "schemas/DocumentLost.v1.json",
        "schemas/GraphEdited.v1.json",
    ]


def test_the_schema_of_an_older_version_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all(tmp_path)
    old_schema = (tmp_path / "schemas/DocumentDeleted.v1.json").read_text("utf-8")
    monkeypatch.setattr(EVENTS["DocumentDeleted"], "version", 2)
    assert generate.differing(tmp_path) == ["asyncapi.json", "schemas/DocumentDeleted.v2.json"]
    write(tmp_path)
    assert generate.differing(tmp_path) == []
    assert (tmp_path / "schemas/DocumentDeleted.v1.json").read_text("utf-8") == old_schema


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    text = (FOLDER / "asyncapi.json").read_text("utf-8")
    references = set(re.findall(r'"\$ref": "([^"]+)"', text))
    assert {
        f"./schemas/{name}.v{event.version}.json" for name, event in EVENTS.items()
    } < references
    for reference in references:
        file, _, pointer = reference.partition("#")
        result: Any = read(FOLDER / file) if file else json.loads(text)
        for key in filter(None, pointer.split("/")):
            result = result[key]
        assert isinstance(result, dict)
