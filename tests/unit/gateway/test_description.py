"""The description of the API: an example of every request and answer, which fits, and the errors of
every route.
"""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from services.gateway.app import create_app
from services.gateway.reference.examples import EXAMPLES

DOCUMENT = create_app().openapi()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
ROUTES = [
    (f"{method.upper()} {path}", operation)
    for path, ways in DOCUMENT["paths"].items()
    for method, operation in ways.items()
]
ALWAYS = {"400", "401", "403", "413", "422", "429", "500", "503"}


def success(operation: dict[str, Any]) -> dict[str, Any]:
    """The answer of a route that does what it is asked, or takes the order."""
    return operation["responses"].get("200") or operation["responses"]["202"]


def whole(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference means."""
    return SCHEMAS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def example(content: dict[str, Any]) -> Any:
    """The example of a body: its own, its model's, or that of each field which must be given; None
    without one.
    """
    schema = whole(content.get("schema", {}))
    if "example" in content:
        return content["example"]
    if "examples" in schema:
        return schema["examples"][0]
    fields = {name: whole(schema["properties"][name]) for name in schema.get("required", [])}
    if not fields or any("examples" not in field for field in fields.values()):
        return None
    return {name: field["examples"][0] for name, field in fields.items()}


@pytest.mark.parametrize(("route", "operation"), ROUTES, ids=[route for route, _ in ROUTES])
def test_every_route_has_examples_that_fit_and_tells_its_errors(
    route: str, operation: dict[str, Any]
) -> None:
    assert set(operation["responses"]) >= ALWAYS
    bodies = [
        *operation.get("requestBody", {}).get("content", {}).items(),
        *success(operation)["content"].items(),
    ]
    assert bodies
    for kind, content in bodies:
        if kind == "multipart/form-data":
            continue  # a file
        sample = example(content)
        assert sample is not None, f"{route}: {kind} has no example"
        if kind == "application/json":
            schema = {**content["schema"], "components": DOCUMENT["components"]}
            Draft202012Validator(schema).validate(sample)
    for parameter in operation.get("parameters", []):
        schema = parameter["schema"]
        has = {"examples", "example", "default"} & {*schema, *parameter} or not parameter[
            "required"
        ]
        assert has, f"{route}: {parameter['name']} has no example"


def test_every_route_has_a_summary_in_words() -> None:
    summaries = {route: operation["summary"] for route, operation in ROUTES}
    short = {route: text for route, text in summaries.items() if len(text.split()) < 2}
    assert short == {}
    assert {route: text for route, text in summaries.items() if "`" in text} == {}


def test_no_example_is_of_a_route_that_is_not_there() -> None:
    assert [route for route in EXAMPLES if route not in dict(ROUTES)] == []


def test_the_description_is_made_once() -> None:
    app = create_app()
    assert app.openapi() is app.openapi()


def links() -> list[tuple[str, str, dict[str, Any]]]:
    """Route, name and link of every link."""
    return [
        (route, name, link)
        for route, operation in ROUTES
        for name, link in success(operation).get("links", {}).items()
    ]


def pointed(answer: Any, expression: Any) -> list[Any]:
    """What the expressions of a link find in an answer."""
    if isinstance(expression, str) and expression.startswith("$response.body#/"):
        for step in expression.removeprefix("$response.body#/").split("/"):
            answer = answer[int(step)] if isinstance(answer, list) else answer[step]
        return [answer]
    inside = (
        expression.values()
        if isinstance(expression, dict)
        else expression
        if isinstance(expression, list)
        else ()
    )
    return [result for part in inside for result in pointed(answer, part)]


@pytest.mark.parametrize(
    ("route", "name", "link"), links(), ids=[f"{route} {name}" for route, name, _ in links()]
)
def test_every_link_leads_from_the_example_answer_to_a_route(
    route: str, name: str, link: dict[str, Any]
) -> None:
    assert link["operationId"] in {operation["operationId"] for _, operation in ROUTES}
    result = pointed(EXAMPLES[route], [link.get("parameters", {}), link.get("requestBody", {})])
    assert result
    assert all(isinstance(value, str) and value for value in result)


def test_from_adding_to_deleting_and_from_a_name_to_its_end_there_are_links() -> None:
    ways = {(route, link["operationId"]) for route, _, link in links()}
    assert ways >= {
        ("POST /documents/text", "track_status"),
        ("POST /documents/upload", "track_status"),
        ("GET /documents/track_status/{track_id}", "delete_document"),
        ("GET /graph/label/list", "edit_entity"),
        ("POST /graph/entity/create", "delete_entity"),
        ("POST /graph/relation/create", "edit_relation"),
        ("POST /graph/relation/edit", "delete_relation"),
    }
