"""Writes what others read of the contracts: a JSON Schema per event, and the AsyncAPI document of
the bus.

`python -m contracts.generate` writes, `--check` names every file that differs and exits with 1.
Schemas of older versions are frozen: they are neither made again nor removed. Neither of the two
passes a change that breaks a version that is there: they say what to do instead, and which services
to deploy first.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from contracts import asyncapi
from contracts.compatibility import advice, breaking_changes
from contracts.envelope import Envelope, type_attribute
from contracts.events import EVENTS, Event

FOLDER = Path(__file__).parent

ATTRIBUTES = {
    "specversion": "the version of CloudEvents",
    "id": "unique for its source; the bus takes an id once within 24 hours",
    "source": "who says it: a URI reference",
    "type": "which event, in which version",
    "datacontenttype": "what `data` is",
    "dataschema": "the `$id` of this schema",
    "workspace": "the tenant",
    "causationid": "the event that caused this one",
    "correlationid": "the event that began it all; absent in that one itself",
    "traceparent": "W3C Trace Context",
    "actor": (
        "in whose name it was published, as `key:ci`; absent in what a service makes of another "
        "event"
    ),
    "data": "the fact itself",
}
"""Attribute of the envelope → what it says, for those who read a schema and not our code."""


RELEASED_NAMES = {
    "CustomKnowledge": "Knowledge",
    "CustomChunk": "KnownChunk",
    "CustomEntity": "KnownEntity",
    "CustomRelation": "KnownRelation",
    "CustomExtraction": "Given",
}
"""Model → the name that its definition has in released schemas: publishers generate classes from
it.
"""


class _Schema(GenerateJsonSchema):
    """JSON Schema as a publisher wants to read it: what is absent is left out, and no title repeats
    a name.
    """

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        inner = schema["schema"]
        may_be_absent = schema.get("default", ...) is None and inner["type"] == "nullable"
        return (
            self.generate_inner(inner["schema"])
            if may_be_absent
            else super().default_schema(schema)
        )

    def normalize_name(self, name: str) -> str:
        return super().normalize_name(RELEASED_NAMES.get(name, name))

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_id(name: str, version: int) -> str:
    """The `$id` of a schema, which the attribute `dataschema` carries."""
    return f"urn:lightstream:schema:{name}.v{version}"


def schema(name: str, event: type[Event]) -> dict[str, Any]:
    """JSON Schema 2020-12 of an event in its envelope."""
    envelope = cast("type[BaseModel]", Envelope.__class_getitem__(event))
    document = envelope.model_json_schema(schema_generator=_Schema)
    properties = document["properties"]
    for attribute, description in ATTRIBUTES.items():
        properties[attribute] = {"description": description, **properties[attribute]}
    properties["type"] = {
        "const": type_attribute(name, event.version),
        "description": ATTRIBUTES["type"],
    }
    # CloudEvents demands it: our reader may be lenient, publishers are not told so.
    properties["specversion"].pop("default")
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": schema_id(name, event.version),
        "title": name,
        "description": (event.__doc__ or "").strip(),
        "type": "object",
        "propertyNames": {"pattern": "^[a-z0-9]+$"},
        "properties": properties,
        "required": ["specversion", *document["required"]],
        "$defs": document["$defs"],
    }


def documents() -> dict[str, str]:
    """Path under `contracts/` → text, of every file this program writes."""
    contents = {
        f"schemas/{name}.v{event.version}.json": schema(name, event)
        for name, event in EVENTS.items()
    }
    contents["asyncapi.json"] = asyncapi.document()
    return {
        path: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for path, content in contents.items()
    }


def released() -> set[str]:
    """The schemas that must be there: of every event every version, 1 to the newest."""
    return {
        f"schemas/{name}.v{v}.json"
        for name, event in EVENTS.items()
        for v in range(1, event.version + 1)
    }


def differing(folder: Path) -> list[str]:
    """The files that are missing, out of date, or that no event of ours accounts for."""
    files = {path.relative_to(folder).as_posix() for path in (folder / "schemas").glob("*")}
    wrong_files = files ^ released()
    for path, text in documents().items():
        file = folder / path
        if not file.is_file() or file.read_text("utf-8") != text:
            wrong_files.add(path)
    return sorted(wrong_files)


def broken(folder: Path) -> list[str]:
    """What the code would break of the schemas in the folder, a line for each event, with the way
    out.
    """
    lines: list[str] = []
    for name, event in EVENTS.items():
        file = folder / f"schemas/{name}.v{event.version}.json"
        if file.is_file() and (
            changes := breaking_changes(json.loads(file.read_text("utf-8")), schema(name, event))
        ):
            lines.append(advice(name, event.version, changes))
    return lines


def write(folder: Path) -> None:
    """Write every file; the ones of older versions stay."""
    for path, text in documents().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """The program. Returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m contracts.generate", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; name every file that differs, exit with 1",
    )
    check = parser.parse_args(arguments).check
    breaks = broken(folder)
    for line in breaks:
        sys.stderr.write(f"{line}\n")
    if not check:
        if not breaks:
            write(folder)
        return 1 if breaks else 0
    wrong_files = differing(folder)
    for path in wrong_files:
        sys.stderr.write(f"contracts/{path} differs; run `python -m contracts.generate`\n")
    return 1 if wrong_files else 0


if __name__ == "__main__":
    raise SystemExit(main())
