"""The HTTP API as generated clients see it: its OpenAPI document equals the checked-in listing but
for descriptions.

`python -m tests.unit.gateway.test_openapi_unchanged` writes the listing anew after a change that is
meant.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from services.gateway.app import create_app

LISTING = Path(__file__).with_name("openapi.txt")
"""One line per operation and per component schema; the digest covers what the line does not spell
out.
"""


def without_descriptions(value: Any) -> Any:
    """Return the value without descriptions and summaries. A property of such a name is an
    object, and stays.
    """
    if isinstance(value, list):
        return [without_descriptions(inner) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: without_descriptions(inner)
        for key, inner in cast("dict[str, Any]", value).items()
        if not (key in {"description", "summary"} and isinstance(inner, str))
    }


def digest(value: Any) -> str:
    """Return a short digest of a part of the document."""
    return hashlib.sha256(
        json.dumps(without_descriptions(value), sort_keys=True).encode()
    ).hexdigest()[:16]


def shape(schema: dict[str, Any]) -> str:
    """Return the name of a schema, or the names of its properties with `!` behind the required
    ones.
    """
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "items" in schema:
        return f"[{shape(schema['items'])}]"
    required_names = schema.get("required", [])
    fields = ",".join(
        f"{name}{'!' if name in required_names else ''}" for name in schema.get("properties", {})
    )
    return f"{{{fields}}}" if fields else str(schema.get("type", "any"))


def operation(method: str, path: str, route: dict[str, Any]) -> str:
    """Return the line of one route and method."""
    parameters = [
        f"{parameter['in']}:{parameter['name']}{'!' if parameter['required'] else ''}"
        for parameter in route.get("parameters", [])
    ]
    bodies = [
        f"{kind} {shape(body['schema'])}"
        for kind, body in route.get("requestBody", {}).get("content", {}).items()
    ]
    answers = [
        f"{status}={'|'.join(shape(body.get('schema', {})) for body in answer.get('content', {}).values())}"  # noqa: E501
        for status, answer in route["responses"].items()
    ]
    parts = [*parameters, *(f"body:{body}" for body in bodies), "->", *answers]
    return f"{method.upper()} {path} {route['operationId']} {' '.join(parts)} {digest(route)}"


def listing(document: dict[str, Any]) -> list[str]:
    """Return the lines of a document, the last one of everything beside routes and schemas."""
    routes = [
        operation(method, path, route)
        for path, ways in document["paths"].items()
        for method, route in ways.items()
    ]
    schemas = [
        f"{name} {shape(schema)} {digest(schema)}"
        for name, schema in document["components"]["schemas"].items()
    ]
    remainder: dict[str, Any] = {
        **document,
        "paths": {},
        "components": {**document["components"], "schemas": {}},
    }
    return [*sorted(routes), *sorted(schemas), f"rest {digest(remainder)}"]


def test_the_openapi_document_has_not_changed_but_for_descriptions() -> None:
    assert listing(create_app().openapi()) == LISTING.read_text().splitlines()


if __name__ == "__main__":
    LISTING.write_text("\n".join(listing(create_app().openapi())) + "\n")
