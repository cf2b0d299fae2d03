"""A change that breaks a released event is found, named with the services to deploy first, and not
written.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from contracts import generate
from contracts.compatibility import breaking_changes
from contracts.events import EVENTS
from contracts.generate import FOLDER, broken, main, schema, write

BEFORE: dict[str, Any] = {
    "description": "an event",
    "properties": {"id": {"type": "string", "maxLength": 64}, "kind": {"enum": ["a", "b"]}},
    "required": ["id"],
    "$defs": {"Part": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}


def changed(**properties: Any) -> dict[str, Any]:
    return {**BEFORE, "properties": {**BEFORE["properties"], **properties}}


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        {**BEFORE, "description": "reworded"},
        changed(more={"type": "string"}),
        changed(description={"type": "string"}),
        changed(id={"type": "string", "maxLength": 64, "description": "said now"}),
        {**BEFORE, "$defs": {**BEFORE["$defs"], "Other": {"type": "string"}}},
        {
            **BEFORE,
            "$defs": {
                "Part": {"type": "object", "properties": {"n": {"type": "integer"}, "m": {}}}
            },
        },
    ],
)
def test_fields_that_may_be_absent_and_texts_break_nothing(after: dict[str, Any]) -> None:
    assert breaking_changes(BEFORE, after) == []


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        ({**BEFORE, "properties": {"id": BEFORE["properties"]["id"]}}, "properties.kind is gone"),
        (
            changed(id={"type": "integer", "maxLength": 64}),
            "properties.id.type was 'string' and is 'integer'",
        ),
        (
            changed(id={"type": "string", "maxLength": 32}),
            "properties.id.maxLength was 64 and is 32",
        ),
        (
            changed(id={"type": "string", "maxLength": 64, "pattern": "x"}),
            "properties.id.pattern is new",
        ),
        (
            changed(kind={"enum": ["a", "b", "c"]}),
            "properties.kind.enum was ['a', 'b'] and is ['a', 'b', 'c']",
        ),
        ({**BEFORE, "required": ["id", "kind"]}, "schema needs kind now"),
        ({**BEFORE, "required": []}, "schema may lack id now"),
        ({**BEFORE, "$defs": {}}, "$defs.Part is gone"),
    ],
)
def test_everything_else_is_named_with_its_place(after: dict[str, Any], sentence: str) -> None:
    assert breaking_changes(BEFORE, after) == [sentence]


def test_a_field_that_is_gone_is_not_written_and_the_services_to_deploy_first_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    assert main([], tmp_path) == 0
    file = tmp_path / "schemas/EntitiesExtracted.v1.json"
    before = file.read_text("utf-8")
    changed_schema = schema("EntitiesExtracted", EVENTS["EntitiesExtracted"])
    del changed_schema["$defs"]["EntitiesExtracted"]["properties"]["relations"]
    monkeypatch.setattr(
        generate,
        "schema",
        lambda name, event: changed_schema if name == "EntitiesExtracted" else schema(name, event),
    )
    assert main([], tmp_path) == main(["--check"], tmp_path) == 1
    assert file.read_text("utf-8") == before
    message = capsys.readouterr().err
    assert (
        "EntitiesExtracted v1 would break ($defs.EntitiesExtracted.properties.relations is gone)"
        in message
    )
    assert (
        "make it version 2, with a step from 1 in contracts/upcast.py; deploy merger, query first"
        in message
    )
    assert "then what publishes it: extractor" in message


def test_the_code_breaks_no_released_event() -> None:
    assert broken(FOLDER) == []
    assert all(json.loads((FOLDER / path).read_text("utf-8")) for path in generate.documents())
