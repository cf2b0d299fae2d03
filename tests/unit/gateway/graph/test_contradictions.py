"""What documents in force say differently of an entity or a relation."""

from typing import Any

import pytest

from contracts.values import Validity
from offline.extraction.extract import extract
from tests.support.events import entity, relation
from tests.support.querying import QueryHarness
from tests.unit.gateway.test_api import client

LONG = "The notice period of tenants is three months."
SHORT = "The notice period of tenants is six weeks."


async def library(validity: Validity | None = None) -> QueryHarness:
    """Two documents that say different things of one entity and of one relation."""
    harness = QueryHarness()
    for number, (id, text) in enumerate((("policy", LONG), ("rules", SHORT)), start=1):
        says: Any = (
            (
                [entity("Notice Period", "concept", f"{text} It is in writing.")],
                [relation("Notice Period", "Tenant", text, "terms")],
            ),
        )
        is_newer = id == "rules"
        await harness.index(
            id, text, says=says, version=1000 * number, validity=validity if is_newer else None
        )
    return harness


async def contradictions(harness: QueryHarness, **params: Any) -> dict[str, Any]:
    async with client(harness.app()) as api:
        return (await api.get("/graph/contradictions", params=params)).json()


async def test_of_an_entity_and_of_a_relation_each_pair_once() -> None:
    harness = await library()
    for names in ({"name": "Notice Period"}, {"name": "Tenant", "other": "Notice Period"}):
        answer = await contradictions(harness, **names)
        (pair,) = answer["contradictions"]
        statements = {pair[side]["file_path"]: pair[side]["statement"] for side in pair}
        assert statements == {"policy.txt": LONG, "rules.txt": SHORT}
        assert answer["looked_at"] == 2


ROWS = """# Port {}

## Berth fees

| Pier | Fee | Keeper |
| --- | --- | --- |
| Grey Gull Pier | {} shillings | Ruth Thorn |
"""


@pytest.mark.parametrize(("port", "count"), [("Elm", 1), ("Ash", 0)])
async def test_rows_contradict_each_other_where_their_tables_are_about_the_same(
    port: str, count: int
) -> None:
    harness = QueryHarness()
    documents = {"policy": ROWS.format("Elm", 10), "rules": ROWS.format(port, 12)}
    for number, (id, text) in enumerate(documents.items(), start=1):
        says: Any = (
            (
                [
                    entity(row.name, row.type, row.description)
                    for row in extract(text).entities
                    if row.name == "Grey Gull Pier"
                ],
                [],
            ),
        )
        await harness.index(id, text, says=says, version=1000 * number)
    answer = await contradictions(harness, name="Grey Gull Pier")
    assert (len(answer["contradictions"]), answer["looked_at"]) == (count, 2)


async def test_a_superseded_document_contradicts_nothing() -> None:
    harness = await library(Validity(supersedes=("policy",)))
    answer = await contradictions(harness, name="Notice Period")
    assert answer == {"contradictions": [], "looked_at": 1}


@pytest.mark.parametrize(
    ("names", "cause"),
    [
        ({"name": "Nobody"}, "there is no entity 'Nobody'"),
        ({"name": "Notice Period", "other": "Nobody"}, "there is no entity 'Nobody'"),
        ({"name": "Notice Period", "other": "Notice Period"}, "there is no relation between"),
    ],
)
async def test_what_is_not_there_is_not_found(names: dict[str, str], cause: str) -> None:
    async with client((await library()).app()) as api:
        refusal = await api.get("/graph/contradictions", params=names)
    assert (refusal.status_code, cause in refusal.json()["detail"]) == (404, True)
