"""Homonyms over HTTP: split by documents, and found by questions."""

from typing import Any

import httpx

from contracts.graph import Generations
from services.query.partitions import Partitions
from services.query.retrieval.linking import link_entities
from tests.support.events import entity, relation
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import client

PLANET = "Mercury (planet)"
PARTITIONS = Partitions.of("w", Generations())


async def library() -> QueryHarness:
    harness = QueryHarness()
    sky = [entity("Mercury", "planet", "It is next to the sun"), entity("Sun")]
    lab = [entity("Mercury", "metal", "It is liquid"), entity("Thermometer")]
    await harness.index(
        "sky", "Mercury orbits the sun.", says=((sky, [relation("Mercury", "Sun")]),)
    )
    await harness.index(
        "lab",
        "Mercury fills thermometers.",
        version=1000,
        says=((lab, [relation("Mercury", "Thermometer")]),),
    )
    return harness


async def split(
    api: httpx.AsyncClient, name: str = "Mercury", new_name: str = PLANET, *documents: str
) -> Any:
    body = {"entity_name": name, "new_entity_name": new_name, "documents": documents or ("sky",)}
    return await api.post("/graph/entity/split", json=body)


async def named(api: httpx.AsyncClient, name: str) -> dict[str, str]:
    """The documents that speak of the entity, with what each says."""
    sources = (await api.get("/graph/provenance", params={"name": name})).json()["sources"]
    return {source["document_id"]: source["description"] for source in sources}


async def test_what_was_split_has_relations_and_sources_of_its_own_and_answers_to_the_common_name() -> (  # noqa: E501
    None
):
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        answer = await split(api)
        assert (answer.status_code, answer.json()["status"]) == (200, "success"), answer.text
        edges = (await api.get("/graphs", params={"label": PLANET})).json()["edges"]
        assert [{edge["source"], edge["target"]} for edge in edges] == [{PLANET, "Sun"}]
        assert await named(api, PLANET) == {"sky": "It is next to the sun"}
        assert await named(api, "Mercury") == {"lab": "It is liquid"}
        index = await harness.names.of(PARTITIONS)
        (link,) = link_entities("What is Mercury?", index)
        assert set(link.names) == {"Mercury", PLANET}


async def test_what_cannot_be_split_is_refused_with_the_reason() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        assert (await split(api, "Venus")).status_code == 404
        assert (await split(api, "Mercury", "Mercury")).status_code == 400
        silent = await split(api, "Sun", "Sun (song)", "sky", "lab")
        assert (silent.status_code, "'lab' says nothing of 'Sun'" in silent.text) == (400, True)
        assert (await split(api, "Mercury", "")).status_code == 422
