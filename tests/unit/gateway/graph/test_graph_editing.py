"""The routes that edit the graph, over stores in memory, with the merger at work."""

import json
from typing import Any

import httpx
import pytest

from contracts.events import GraphEdited
from contracts.moments import microseconds
from runtime.bus.codec import decode
from services.gateway.settings import GatewaySettings
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import client


async def edit(api: httpx.AsyncClient, name: str, data: Any, **options: bool) -> httpx.Response:
    return await api.post(
        "/graph/entity/edit", json={"entity_name": name, "updated_data": data, **options}
    )


async def names(api: httpx.AsyncClient) -> list[str]:
    return (await api.get("/graph/label/list")).json()


async def exists(api: httpx.AsyncClient, name: str) -> bool:
    return (await api.get("/graph/entity/exists", params={"name": name})).json()["exists"]


async def test_an_entity_is_made_and_shown(api: httpx.AsyncClient, harness: QueryHarness) -> None:
    body = {
        "entity_name": " “Tide  Mill” ",
        "entity_data": {"description": "Driven by the tide", "source_id": "x"},
    }
    answer = await api.post("/graph/entity/create", json=body)
    assert (answer.status_code, answer.json()["status"]) == (200, "success")
    data = answer.json()["data"]
    assert (data["entity_name"], data["source_id"]) == ("Tide  Mill", "manual_creation")
    assert (data["graph_data"]["description"], data["graph_data"]["entity_type"]) == (
        "Driven by the tide",
        "UNKNOWN",
    )
    assert await exists(api, "Tide  Mill")
    assert (await api.post("/graph/entity/create", json=body)).status_code == 400
    assert len(harness.log.messages) == 1


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"description": " "},
        {"description": 5},
        {"description": "d", "novelty": 1},
        {"description": "d", "entity_type": ""},
    ],
)
async def test_an_entity_that_cannot_be_made_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, data: Any
) -> None:
    answer = await api.post(
        "/graph/entity/create", json={"entity_name": "Mill", "entity_data": data}
    )
    assert (answer.status_code, bool(answer.json()["detail"]), harness.log.messages) == (
        400,
        True,
        [],
    )


async def test_what_people_say_of_an_entity_is_shown(api: httpx.AsyncClient) -> None:
    answer = await edit(api, "Radium", {"description": "An element", "entity_type": "element"})
    body = answer.json()
    assert (answer.status_code, body["status"], body["message"]) == (
        200,
        "success",
        "Entity updated successfully",
    )
    assert (
        body["data"]["graph_data"]["description"],
        body["data"]["graph_data"]["entity_type"],
    ) == (
        "An element",
        "element",
    )
    assert body["operation_summary"] == {
        "merged": False,
        "merge_status": "not_attempted",
        "merge_error": None,
        "operation_status": "success",
        "target_entity": "Radium",
        "final_entity": "Radium",
        "renamed": False,
    }


async def test_an_entity_is_renamed_with_its_relations_and_merged_when_that_is_allowed(
    api: httpx.AsyncClient,
) -> None:
    assert (await edit(api, "Radium", {"entity_name": "Ra"})).status_code == 400
    renaming = (
        await edit(api, "Radium", {"entity_name": "Ra", "description": "Short"}, allow_rename=True)
    ).json()
    assert (
        renaming["operation_summary"]["renamed"],
        renaming["operation_summary"]["final_entity"],
    ) == (True, "Ra")
    assert renaming["data"]["graph_data"]["description"] == "Short"
    assert await names(api) == ["Baker", "Marie Curie", "Ra", "Watch"]
    assert len((await api.get("/graphs", params={"label": "Ra"})).json()["edges"]) == 2
    assert (await edit(api, "Watch", {"entity_name": "Ra"}, allow_rename=True)).status_code == 400
    merging = (
        await edit(api, "Watch", {"entity_name": "Ra"}, allow_rename=True, allow_merge=True)
    ).json()
    assert (
        merging["operation_summary"]["merged"],
        merging["operation_summary"]["merge_status"],
    ) == (
        True,
        "success",
    )
    assert await names(api) == ["Baker", "Marie Curie", "Ra"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("nobody", {"description": "d"}, 404),
        ("Radium", {}, 400),
        ("Radium", {"novelty": "d"}, 400),
        ("Radium", {"source_id": "d"}, 400),
        ("Radium", {"description": ["d"]}, 400),
        ("Radium", {"entity_name": "12"}, 400),
        ("Radium", {"entity_name": "\ud800"}, 400),
        ("", {"description": "d"}, 422),
        ("x" * 513, {"description": "d"}, 422),
    ],
    ids=str,
)
async def test_an_edit_that_cannot_be_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, name: str, data: Any, code: int
) -> None:
    raw = json.dumps({"entity_name": name, "updated_data": data, "allow_rename": True})
    answer = await api.post(
        "/graph/entity/edit", content=raw, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, harness.log.messages) == (code, [])


async def test_several_entities_become_one_that_may_be_new(api: httpx.AsyncClient) -> None:
    body = {"entities_to_change": ["Watch", "Baker"], "entity_to_change_into": "Village"}
    answer = (await api.post("/graph/entities/merge", json=body)).json()
    assert (answer["status"], answer["data"]["entity_name"]) == ("success", "Village")
    assert await names(api) == ["Marie Curie", "Radium", "Village"]
    for change, code in ((["nobody"], 404), (["Radium"], 400), ([], 422)):
        body = {"entities_to_change": change, "entity_to_change_into": "Radium"}
        assert (await api.post("/graph/entities/merge", json=body)).status_code == code


async def test_an_entity_is_deleted_with_its_relations(api: httpx.AsyncClient) -> None:
    answer = await api.request("DELETE", "/graph/entity/delete", json={"entity_name": "Radium"})
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "status": "success",
            "doc_id": "",
            "status_code": 200,
            "file_path": None,
            "message": "Entity Delete: remove 'Radium' and its 2 relations",
        },
    )
    assert "Radium" not in await names(api)
    again = await api.request("DELETE", "/graph/entity/delete", json={"entity_name": "Radium"})
    assert (again.status_code, "Radium" in again.json()["detail"]) == (404, True)


async def test_a_relation_is_made_edited_and_deleted(api: httpx.AsyncClient) -> None:
    ends = {"source_entity": "Marie Curie", "target_entity": "Baker"}
    creation = await api.post(
        "/graph/relation/create", json={**ends, "relation_data": {"description": "Buys bread"}}
    )
    data = creation.json()["data"]
    assert (creation.status_code, {data["src_entity"], data["tgt_entity"]}) == (
        200,
        set(ends.values()),
    )
    assert (data["graph_data"]["weight"], data["graph_data"]["keywords"]) == (1.0, "")
    assert (
        await api.post("/graph/relation/create", json={**ends, "relation_data": {}})
    ).status_code == 400
    ids = {"source_id": "Baker", "target_id": "Marie Curie"}
    update = {"keywords": "trade, bread,trade", "weight": 2.5}
    edit_answer = (
        await api.post("/graph/relation/edit", json={**ids, "updated_data": update})
    ).json()
    assert (
        edit_answer["data"]["graph_data"]["keywords"],
        edit_answer["data"]["graph_data"]["weight"],
    ) == (
        "bread,trade",
        2.5,
    )
    deletion = await api.request("DELETE", "/graph/relation/delete", json=ends)
    assert (deletion.status_code, deletion.json()["status"]) == (200, "success")
    assert (await api.request("DELETE", "/graph/relation/delete", json=ends)).status_code == 404
    assert (
        await api.post("/graph/relation/edit", json={**ids, "updated_data": update})
    ).status_code == 404


@pytest.mark.parametrize(
    ("source", "target", "data", "code"),
    [
        ("Radium", "Radium", {}, 400),
        ("Radium", "nobody", {}, 404),
        ("Baker", "Radium", {"weight": -1}, 400),
        ("Baker", "Radium", {"weight": "heavy"}, 400),
        ("Baker", "Radium", {"keywords": 5}, 400),
        ("Baker", "Radium", {"novelty": 5}, 400),
    ],
)
async def test_a_relation_that_cannot_be_is_refused(
    api: httpx.AsyncClient, source: str, target: str, data: Any, code: int
) -> None:
    body = {"source_entity": source, "target_entity": target, "relation_data": data}
    assert (await api.post("/graph/relation/create", json=body)).status_code == code


async def test_an_edit_that_does_not_show_in_time_is_in_the_log_and_said_to_be_pending(
    harness: QueryHarness,
) -> None:
    settings = GatewaySettings(workspace="w", edit_timeout=0.1)
    async with client(harness.app(settings=settings)) as api:
        answer = await edit(api, "Radium", {"description": "Later"})
        deletion = await api.request(
            "DELETE", "/graph/entity/delete", json={"entity_name": "Baker"}
        )
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    assert answer.json()["operation_summary"]["operation_status"] == "pending"
    assert (deletion.status_code, deletion.json()["status"], deletion.json()["status_code"]) == (
        202,
        "pending",
        202,
    )
    envelope = decode(harness.log.messages[0].data, harness.log.messages[0].subject)
    assert envelope.time and answer.json()["data"]["sequence"] == microseconds(envelope.time)
    event = envelope.data
    assert isinstance(event, GraphEdited) and (event.operation, event.names) == (
        "edit_entity",
        ("Radium",),
    )


async def test_an_edit_is_taken_while_documents_are_worked_on(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    body = {"text": "Port Elm has a lighthouse."}
    assert (await api.post("/documents/text", json=body)).status_code == 200
    assert (await edit(api, "Radium", {"description": "Now"})).status_code == 200
    says = [
        ([entity("Radium", "data", "Glows")], [relation("Radium", "Night", "It glows", "light")])
    ]
    await harness.index("glow", "Radium glows.", says=says, version=3000)
    assert (await api.get("/graphs", params={"label": "Night"})).json()["nodes"][1]["properties"][
        "description"
    ] == "Now"


async def test_half_a_surrogate_pair_is_no_internal_error(api: httpx.AsyncClient) -> None:
    odd = b'"\\ud800"'
    for method, path, raw in (
        (
            "POST",
            "/graph/entity/edit",
            b'{"entity_name": %b, "updated_data": {%b: %b}}' % (odd, odd, odd),
        ),
        (
            "POST",
            "/graph/entity/create",
            b'{"entity_name": %b, "entity_data": {"description": %b}}' % (odd, odd),
        ),
        (
            "POST",
            "/graph/entities/merge",
            b'{"entities_to_change": [%b], "entity_to_change_into": %b}' % (odd, odd),
        ),
        ("DELETE", "/graph/entity/delete", b'{"entity_name": %b}' % odd),
        ("DELETE", "/graph/relation/delete", b'{"source_entity": %b, "target_entity": "x"}' % odd),
        (
            "POST",
            "/graph/relation/edit",
            b'{"source_id": %b, "target_id": "x", "updated_data": {}}' % odd,
        ),
    ):
        answer = await api.request(
            method, path, content=raw, headers={"content-type": "application/json"}
        )
        assert 400 <= answer.status_code < 500, path
        json.loads(answer.content.decode())
    for path in (
        "/graphs?label=%ED%A0%80",
        "/graph/entity/exists?name=%ED%A0%80",
        "/graph/label/search?q=%ED%A0%80",
    ):
        assert (await api.get(path)).status_code == 200
