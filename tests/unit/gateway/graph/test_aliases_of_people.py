"""Aliases over HTTP: proposed by rules and others, decided by people, found by questions, taken
back.
"""

from typing import Any

import httpx
import pytest

from contracts.graph import Generations
from services.query.partitions import Partitions
from services.query.retrieval.linking import link_entities
from tests.support.events import entity, relation
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness
from tests.support.waiting import PATIENCE
from tests.unit.gateway.test_api import client

WHO = "WHO"
LONG = "World Health Organization"
PARTITIONS = Partitions.of("w", Generations())


async def library() -> QueryHarness:
    """Two documents that call one organisation by two names; one of them says that they are the
    same.
    """
    harness = QueryHarness()
    first_entities = [
        entity(LONG, "organization"),
        entity(WHO, "organization"),
        entity("Geneva", "location"),
    ]
    second_entities = [entity(WHO, "organization"), entity("Polio")]
    text = f"The {LONG} ({WHO}) sits in Geneva."
    await harness.index("one", text, says=((first_entities, [relation(LONG, "Geneva")]),))
    await harness.index(
        "two",
        "WHO fights polio.",
        version=1000,
        says=((second_entities, [relation(WHO, "Polio")]),),
    )
    return harness


async def decide(
    api: httpx.AsyncClient, decision: str, name: str = WHO, target: str = LONG, **fields: Any
) -> Any:
    return await api.post(
        "/graph/aliases", json={"decision": decision, "names": [name], "entity": target, **fields}
    )


async def test_a_proposal_is_accepted_and_taken_back() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        before = (await api.get("/graphs", params={"label": "*"})).json()
        (proposal,) = (await api.get("/graph/aliases/proposals")).json()
        assert (proposal["name"], proposal["entity"], proposal["proposed_by"]) == (
            WHO,
            LONG,
            "rule:abbreviation",
        )
        assert proposal["evidence"] == f"{LONG} ({WHO})"
        decision = await decide(
            api, "accept", proposed_by="rule:abbreviation", evidence=proposal["evidence"]
        )
        assert (decision.status_code, decision.json()["status"]) == (200, "success")
        assert (await api.get("/graph/label/list")).json() == ["Geneva", "Polio", LONG]
        (alias,) = (await api.get("/graph/aliases", params={"state": "accepted"})).json()
        assert (alias["name"], alias["entity"], alias["at"]) == (
            WHO,
            LONG,
            decision.json()["sequence"],
        )
        assert (await api.get("/graph/aliases/proposals")).json() == []
        assert (await decide(api, "undo")).status_code == 200
        assert (await api.get("/graph/aliases")).json() == []
        after = (await api.get("/graphs", params={"label": "*"})).json()
    assert after == before


async def test_what_was_rejected_is_not_proposed_again_in_any_direction() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        assert (await decide(api, "reject", LONG, WHO)).status_code == 200
        assert (await api.get("/graph/aliases/proposals")).json() == []
        assert [alias["state"] for alias in (await api.get("/graph/aliases")).json()] == [
            "rejected"
        ]


async def test_a_model_s_proposal_waits_for_somebody_to_decide() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        source = {"proposed_by": "model:small", "evidence": "both fight polio"}
        assert (
            await decide(api, "propose", "The Health People", LONG, **source)
        ).status_code == 200
        first, *_ = (await api.get("/graph/aliases/proposals")).json()
        assert (first["name"], first["proposed_by"], first["evidence"]) == (
            "The Health People",
            *source.values(),
        )
        assert WHO in (await api.get("/graph/label/list")).json()
        proposals = (await api.get("/graph/aliases/proposals", params={"rule": "spelling"})).json()
        assert [proposal["proposed_by"] for proposal in proposals] == ["model:small"]


async def test_a_question_finds_the_entity_by_names_that_no_entity_has_any_more() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        index = await harness.names.of(PARTITIONS)
        assert [link.names for link in link_entities("Where is the UN health agency?", index)] == []
        await decide(api, "accept")
        await decide(api, "accept", "UN health agency", LONG)
        renaming = {
            "entity_name": "Polio",
            "updated_data": {"entity_name": "Poliomyelitis"},
            "allow_rename": True,
        }
        assert (await api.post("/graph/entity/edit", json=renaming)).status_code == 200
    names = type(harness.names)(
        harness.graph, harness.documents, harness.deps().aliases, max_wait=PATIENCE
    )
    index = await names.of(PARTITIONS)
    links = link_entities("Does the UN health agency fight Polio?", index)
    result = [(link.text, link.names) for link in links]
    assert result == [("UN health agency", (LONG,)), ("Polio", ("Poliomyelitis",))]


@pytest.mark.parametrize(
    ("decision", "name", "target", "code"),
    [
        ("accept", WHO, "Nobody", 404),
        ("accept", WHO, WHO, 400),
        ("undo", WHO, LONG, 404),
        ("explode", WHO, LONG, 422),
    ],
)
async def test_a_decision_about_nothing_is_refused(
    decision: str, name: str, target: str, code: int
) -> None:
    harness = await library()
    async with client(harness.app()) as api:
        assert (await decide(api, decision, name, target)).status_code == code


async def test_an_edit_of_another_kind_is_in_no_list_and_a_merge_is() -> None:
    harness = await library()
    async with merger(harness), client(harness.app()) as api:
        await api.post(
            "/graph/entity/edit",
            json={"entity_name": WHO, "updated_data": {"description": "An agency."}},
        )
        assert (await api.get("/graph/aliases")).json() == []
        merging = {"entities_to_change": [WHO], "entity_to_change_into": LONG}
        assert (await api.post("/graph/entities/merge", json=merging)).status_code == 200
        assert [
            (alias["name"], alias["state"]) for alias in (await api.get("/graph/aliases")).json()
        ] == [(WHO, "accepted")]
        assert (await decide(api, "undo")).status_code == 200
        assert WHO in (await api.get("/graph/label/list")).json()
