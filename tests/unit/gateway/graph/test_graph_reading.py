"""The graph read over HTTP: names by likeness, and parts in LightRAG's shape."""

import httpx
import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import pair
from services.gateway.settings import GatewaySettings
from services.query.lookup.entity_names import match_score
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import client


async def names(api: httpx.AsyncClient) -> list[str]:
    return (await api.get("/graph/label/list")).json()


async def exists(api: httpx.AsyncClient, name: str) -> bool:
    return (await api.get("/graph/entity/exists", params={"name": name})).json()["exists"]


async def test_names_are_listed_found_and_ranked(api: httpx.AsyncClient) -> None:
    assert await names(api) == ["Baker", "Marie Curie", "Radium", "Watch"]
    assert (await api.get("/graph/label/popular", params={"limit": 1})).json() == ["Radium"]
    assert (await api.get("/graph/label/search", params={"q": "CURIE"})).json() == ["Marie Curie"]
    assert (await api.get("/graph/label/search", params={"q": "a", "limit": 2})).json() == [
        "Baker",
        "Watch",
    ]
    assert (await api.get("/graph/label/search", params={"q": " "})).json() == []
    assert (await exists(api, "Radium"), await exists(api, "radium")) == (True, False)
    for route in ("label/list", "label/popular"):
        assert (await api.get(f"/graph/{route}", headers={"X-Workspace": "empty"})).json() == []


@pytest.mark.parametrize(
    ("search", "name", "score"),
    [
        ("elm", "elm", 1000),
        ("elm", "elmhaven", 500),
        ("elm", "port elm", 142),
        ("elm", "helm", 96),
        ("elm", "oak", 0),
    ],
)
def test_a_name_is_the_liker_the_nearer_its_beginning_the_text_stands(
    search: str, name: str, score: int
) -> None:
    assert match_score(search, name) == score


async def test_a_part_of_the_graph_has_nodes_and_edges_in_lightrag_s_shape(
    api: httpx.AsyncClient,
) -> None:
    part = (await api.get("/graphs", params={"label": "Marie Curie", "max_depth": 1})).json()
    assert [node["id"] for node in part["nodes"]] == ["Marie Curie", "Radium"]
    node = part["nodes"][0]
    edge = part["edges"][0]
    assert (node["labels"], node["properties"]["entity_id"]) == (["Marie Curie"], "Marie Curie")
    assert {"entity_type", "description", "source_id", "file_path", "created_at"} <= set(
        node["properties"]
    )
    assert (edge["id"], edge["type"], edge["source"], edge["target"]) == (
        "Marie Curie-Radium",
        "DIRECTED",
        "Marie Curie",
        "Radium",
    )
    assert (edge["properties"]["keywords"], edge["properties"]["weight"]) == ("discovery", 1.0)
    assert part["is_truncated"] is False
    further = (await api.get("/graphs", params={"label": "Marie Curie", "max_depth": 2})).json()
    assert [node["id"] for node in further["nodes"]] == ["Marie Curie", "Radium", "Watch"]
    empty_graph = (await api.get("/graphs", params={"label": "nobody"})).json()
    assert empty_graph == {"nodes": [], "edges": [], "is_truncated": False}
    full_graph = (await api.get("/graphs", params={"label": "*"})).json()
    assert (len(full_graph["nodes"]), len(full_graph["edges"]), full_graph["is_truncated"]) == (
        4,
        2,
        False,
    )


async def test_a_part_of_the_graph_is_bounded_nearest_and_most_related_first(
    harness: QueryHarness,
) -> None:
    ends = (
        [("hub", f"spoke {n}") for n in range(9)]
        + [("spoke 7", f"leaf {n}") for n in range(3)]
        + [("spoke 5", "x")]
    )
    ends += [("spoke 1", "spoke 2")]
    rows = [Relation(*pair(*end), 1, weight=1.0) for end in ends]
    await harness.graph.put(
        Partition("hubs", 1),
        [Entity(name, 1) for name in {name for end in ends for name in end}],
        rows,
    )
    async with client(
        harness.app(settings=GatewaySettings(workspace="hubs", max_graph_nodes=5))
    ) as api:
        part = (await api.get("/graphs", params={"label": "hub", "max_nodes": 900})).json()
        assert [node["id"] for node in part["nodes"]] == [
            "hub",
            "spoke 7",
            "spoke 1",
            "spoke 2",
            "spoke 5",
        ]
        assert {edge["id"] for edge in part["edges"]} >= {"hub-spoke 1", "spoke 1-spoke 2"}
        assert part["is_truncated"] is True
        full_graph = (await api.get("/graphs", params={"label": "*", "max_nodes": 2})).json()
        assert ([node["id"] for node in full_graph["nodes"]], full_graph["is_truncated"]) == (
            ["hub", "spoke 7"],
            True,
        )
    async with client(harness.app(settings=GatewaySettings(workspace="hubs"))) as api:
        exact = (await api.get("/graphs", params={"label": "hub", "max_nodes": 14})).json()
        assert (len(exact["nodes"]), len(exact["edges"]), exact["is_truncated"]) == (14, 14, False)
