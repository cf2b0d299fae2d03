"""All proposals of a rule are accepted one after the other, whatever an earlier one has joined."""

from typing import Any

import httpx

from cli.aliases import without_chains
from lightstream_rag.models import AliasProposal
from tests.support.access import client
from tests.support.events import entity
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness

SPELLINGS = ("Port Elm", "PORT ELM", "Port-Elm")
"""Three spellings, which make three pairs."""


def proposal(name: str, target: str) -> AliasProposal:
    return AliasProposal(name=name, entity=target, proposed_by="rule:spelling")


async def three_spellings() -> QueryHarness:
    """The first spelling stands in most passages, the last in fewest."""
    harness = QueryHarness()
    passages = [name for number, name in enumerate(SPELLINGS) for _ in range(3 - number)]
    says: Any = [([entity(name, "location", f"{name} is a port")], []) for name in passages]
    texts = [f"{name} is a port, passage {number}." for number, name in enumerate(passages)]
    await harness.index("port", *texts, says=says)
    return harness


async def accept(api: httpx.AsyncClient, accepted: AliasProposal) -> int:
    body = {"decision": "accept", "names": [accepted.name], "entity": accepted.entity}
    return (await api.post("/graph/aliases", json=body)).status_code


async def test_three_spellings_are_joined_to_the_last() -> None:
    harness = await three_spellings()
    async with merger(harness), client(harness.app()) as api:
        answer = await api.get("/graph/aliases/proposals", params={"rule": "spelling"})
        proposals = [AliasProposal.model_validate(row) for row in answer.json()]
        assert [(proposal.name, proposal.entity) for proposal in proposals] == [
            ("PORT ELM", "Port Elm"),
            ("Port-Elm", "Port Elm"),
            ("Port-Elm", "PORT ELM"),
        ]
        assert [await accept(api, proposal) for proposal in without_chains(proposals)] == [200, 200]
        assert await accept(api, proposals[-1]) == 404  # as they stand, one entity is gone by now
        assert (await api.get("/graph/label/list")).json() == ["Port Elm"]
        assert (await api.get("/graph/aliases/proposals")).json() == []


def test_a_chain_leads_to_the_entity_that_is_left() -> None:
    chain = [proposal("b", "c"), proposal("a", "b"), proposal("c", "d"), proposal("e", "a")]
    assert [(proposal.name, proposal.entity) for proposal in without_chains(chain)] == [
        ("b", "c"),
        ("a", "c"),
        ("c", "d"),
        ("e", "d"),
    ]
    circle = [proposal("a", "b"), proposal("b", "a"), proposal("a", "c")]
    assert [(proposal.name, proposal.entity) for proposal in without_chains(circle)] == [("a", "b")]
