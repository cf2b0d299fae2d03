"""A client that has nothing but HTTP: on a running stack it uploads, watches, looks at the graph,
edits and deletes.
"""

from collections.abc import Generator
from typing import Any

import httpx
import pytest

from tests.support import office_files as office
from tests.support.stack import Stack, until

PORT = b"""# Port Elm

Ada Marlow leads the Harbour Office of Port Elm. The Harbour Office keeps the lighthouse.
Ada Marlow was born in Saltmarsh.
"""
MILL = b"# The mill\n\nBruno Keel runs the Tide Mill. The Tide Mill stands in Saltmarsh.\n"


@pytest.fixture
def api(stack: Stack, request: pytest.FixtureRequest) -> Generator[httpx.Client]:
    """A client of a workspace of the test's own."""
    with stack.client(request.node.name[5:40].replace("_", "-").strip("-")) as api:
        yield api


def uploaded(api: httpx.Client, name: str, data: bytes, **headers: str) -> str:
    answer = api.post("/documents/upload", files={"file": (name, data)}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["track_id"]


def processed(api: httpx.Client, track: str) -> Any:
    """The document of a track, once it is processed."""

    def look() -> Any:
        result = api.get(f"/documents/track_status/{track}").json()["documents"]
        return result[0] if result and result[0]["status"] == "processed" else None

    return until(look, lambda: api.get(f"/documents/track_status/{track}").text)


def graph(api: httpx.Client, label: str = "*") -> dict[str, Any]:
    return api.get("/graphs", params={"label": label}).json()


def names(api: httpx.Client) -> list[str]:
    return api.get("/graph/label/list").json()


def test_from_an_upload_to_an_edit_to_nothing_left(api: httpx.Client) -> None:
    document = processed(api, uploaded(api, "port.md", PORT))
    assert (document["file_path"], document["metadata"]["media_type"]) == (
        "port.md",
        "text/markdown",
    )
    processed(api, uploaded(api, "mill.md", MILL))
    assert {"Ada Marlow", "Harbour Office", "Tide Mill"} <= set(names(api))
    assert api.get("/graph/label/search", params={"q": "ada"}).json() == ["Ada Marlow"]

    body = {"entity_name": "Ada Marlow", "updated_data": {"description": "Captain of the harbour"}}
    edited = api.post("/graph/entity/edit", json=body)
    assert (edited.status_code, edited.json()["status"]) == (200, "success"), edited.text
    part = graph(api, "Ada Marlow")
    assert part["nodes"][0]["properties"]["description"] == "Captain of the harbour"
    assert part["edges"]
    body = {
        "entity_name": "Tide Mill",
        "updated_data": {"entity_name": "Old Mill"},
        "allow_rename": True,
    }
    assert api.post("/graph/entity/edit", json=body).json()["operation_summary"]["renamed"] is True
    assert "Old Mill" in names(api) and "Tide Mill" not in names(api)

    deleted = api.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": [document["id"]]}
    )
    assert deleted.json()["status"] == "deletion_started"
    until(lambda: "Harbour Office" not in names(api))
    until(lambda: api.get("/documents/status_counts").json()["status_counts"]["all"] == 1)
    # What a person said outlives the document it was said of; what the document said is gone.
    left = {node["id"]: node["properties"] for node in graph(api)["nodes"]}
    assert left["Ada Marlow"]["source_id"] == "manual_creation"
    assert (
        api.request(
            "DELETE", "/graph/entity/delete", json={"entity_name": "Ada Marlow"}
        ).status_code
        == 200
    )
    assert "Ada Marlow" not in names(api)

    assert api.request("DELETE", "/documents").status_code == 400
    confirmation = {"confirm": api.headers["X-Workspace"]}
    cleared = api.request("DELETE", "/documents", params=confirmation)
    assert cleared.json()["status"] == "success"
    until(lambda: api.get("/documents/status_counts").json()["status_counts"]["all"] == 0)
    until(lambda: names(api) == [])
    assert api.get("/documents/pipeline_status").json()["busy"] is False


def test_every_edit_of_the_graph_shows_when_the_answer_comes(api: httpx.Client) -> None:
    def shown(path: str, body: Any, method: str = "POST") -> Any:
        answer = api.request(method, f"/graph/{path}", json=body)
        assert (answer.status_code, answer.json()["status"]) == (200, "success"), answer.text
        return answer.json()

    for name in ("Quay", "Pier", "Dock"):
        shown(
            "entity/create",
            {
                "entity_name": name,
                "entity_data": {"description": f"The {name}", "entity_type": "place"},
            },
        )
    assert names(api) == ["Dock", "Pier", "Quay"]
    ends = {"source_entity": "Quay", "target_entity": "Dock"}
    shown(
        "relation/create",
        {**ends, "relation_data": {"description": "beside", "keywords": "place", "weight": 2.0}},
    )
    shown(
        "relation/edit", {"source_id": "Quay", "target_id": "Dock", "updated_data": {"weight": 3.5}}
    )
    (edge,) = graph(api, "Quay")["edges"]
    assert (edge["properties"]["weight"], edge["properties"]["description"]) == (3.5, "beside")
    shown(
        "entities/merge",
        {"entities_to_change": ["Quay", "Pier"], "entity_to_change_into": "Harbour"},
    )
    assert [node["id"] for node in graph(api, "Harbour")["nodes"]] == ["Harbour", "Dock"]
    shown("relation/delete", {"source_entity": "Dock", "target_entity": "Harbour"}, "DELETE")
    shown("entity/delete", {"entity_name": "Dock"}, "DELETE")
    assert names(api) == ["Harbour"]


def test_a_key_makes_one_document_of_many_requests(api: httpx.Client) -> None:
    key = {"Idempotency-Key": "order-66"}
    body = {"texts": ["Ada Marlow lives.", "x" * 300_000], "file_sources": ["a.md", "b.md"]}
    first, second = [api.post("/documents/texts", json=body, headers=key) for _ in range(2)]
    assert (first.status_code, first.json()) == (200, second.json())
    other = api.post("/documents/texts", json={**body, "texts": ["Other.", "y"]}, headers=key)
    assert (other.status_code, "Idempotency-Key" in other.json()["detail"]) == (422, True)
    track = first.json()["track_id"]
    until(lambda: api.get(f"/documents/track_status/{track}").json()["total_count"] == 2)
    assert api.get("/documents/status_counts").json()["status_counts"]["all"] == 2


def test_what_is_uploaded_is_bounded_and_never_trusted(api: httpx.Client, stack: Stack) -> None:
    def refused(name: str, data: bytes) -> tuple[int, str]:
        answer = api.post("/documents/upload", files={"file": (name, data)})
        return answer.status_code, answer.json()["detail"]

    before = sorted(path.name for path in stack.folder.iterdir())
    assert refused("big.txt", b"x" * 1_200_000)[0] == 413
    assert refused("../../x.txt", b"text")[0] == 400
    assert refused("run.exe", b"MZ")[0] == 400
    code, why = refused("bomb.docx", office.archive(**{"word/document.xml": bytes(64 * 2**20)}))
    assert (code, "zip bomb" in why) == (422, True)
    assert api.get("/documents/status_counts").json()["status_counts"]["all"] == 0
    assert sorted(path.name for path in stack.folder.iterdir()) == before
    # The connection is still good, and the same name with another text waits for a word.
    uploaded(api, "a.md", b"One.")
    assert refused("a.md", b"Two.")[0] == 409
    answer = api.post("/documents/upload?replace=true", files={"file": ("a.md", b"Two.")})
    processed(api, answer.json()["track_id"])
    assert api.get("/documents/status_counts").json()["status_counts"]["all"] == 1
