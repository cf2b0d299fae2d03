"""When documents hold and what they supersede: stated, shown, taken back."""

import httpx
import pytest

from tests.support.querying import QueryHarness, projected

TEXTS = {
    "policy.md": "The notice period of a tenant of the harbour sheds is three months.",
    "amendment.md": "The notice period of a tenant of the harbour sheds is six weeks.",
}


async def ids(api: httpx.AsyncClient, harness: QueryHarness) -> dict[str, str]:
    """Two documents in the log; their ids by name."""
    body = {"texts": list(TEXTS.values()), "file_sources": list(TEXTS)}
    answer = (await api.post("/documents/texts", json=body)).json()
    await projected(harness)
    return dict(zip(TEXTS, (document["id"] for document in answer["documents"]), strict=True))


async def test_a_statement_is_shown_from_both_ends_and_taken_back(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    by_name = await ids(api, harness)
    path = f"/documents/{by_name['amendment.md']}/validity"
    body = {"valid_from": "2026-05-01T00:00:00Z", "supersedes": [by_name["policy.md"], "other"]}
    answer = await api.put(path, json={**body, "reason": "resolution 12"})
    assert (answer.status_code, answer.json()["unknown"]) == (200, ["other"])
    await projected(harness)
    newer = (await api.get(path)).json()
    older = (await api.get(f"/documents/{by_name['policy.md']}/validity")).json()
    assert (newer["supersedes"], newer["is_stated"]) == ([by_name["policy.md"], "other"], True)
    assert older["superseded_by"] == [by_name["amendment.md"]]
    await api.delete(path)
    await projected(harness)
    assert (await api.get(path)).json()["supersedes"] == []
    older = (await api.get(f"/documents/{by_name['policy.md']}/validity")).json()
    assert older["superseded_by"] == []


async def test_the_same_statement_again_after_another_is_a_new_one(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    path = f"/documents/{(await ids(api, harness))['policy.md']}/validity"
    sequences = [
        (await api.put(path, json={"authority": authority})).json()["sequence"]
        for authority in (1, 2, 1)
    ]
    assert len(set(sequences)) == 3


async def test_a_document_is_added_with_what_it_supersedes(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    text = {"text": "The notice period is ten days.", "file_source": "second.md"}
    validity = {"valid_until": "2027-01-01T00:00:00Z", "supersedes": ["policy.md"]}
    answer = (await api.post("/documents/text", json={**text, "validity": validity})).json()
    (document,) = answer["documents"]
    await projected(harness)
    validity = (await api.get(f"/documents/{document['id']}/validity")).json()
    assert (validity["supersedes"], validity["is_stated"]) == (["policy.md"], False)
    # The same text that says nothing of it adds nothing; one that says something else does.
    assert (await api.post("/documents/text", json=text)).json()["status"] == "duplicated"
    other = {**text, "validity": {"authority": 1}}
    assert (await api.post("/documents/text", json=other)).json()["status"] == "success"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"valid_from": "2026-05-02T00:00:00Z", "valid_until": "2026-05-01T00:00:00Z"},
            "must be later",
        ),
        ({"valid_from": "2026-05-01"}, "valid_from"),
        ({"supersedes": [""]}, "supersedes"),
        ({"replaces": ["policy.md"]}, "replaces"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason(
    api: httpx.AsyncClient, harness: QueryHarness, body: dict[str, object], words: str
) -> None:
    path = f"/documents/{(await ids(api, harness))['policy.md']}/validity"
    answer = await api.put(path, json=body)
    assert answer.status_code == 422
    assert words in answer.text


async def test_a_document_that_supersedes_itself_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    id = (await ids(api, harness))["policy.md"]
    answer = await api.put(f"/documents/{id}/validity", json={"supersedes": [id]})
    assert (answer.status_code, "itself" in answer.text) == (422, True)


async def test_unknown_documents_are_not_found(api: httpx.AsyncClient) -> None:
    for answer in (
        await api.get("/documents/none/validity"),
        await api.put("/documents/none/validity", json={}),
        await api.delete("/documents/none/validity"),
    ):
        assert (answer.status_code, "none" in answer.text) == (404, True)


async def test_what_names_suggest_is_decided_by_people_and_not_proposed_again(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    names = ["rent-v1.md", "rent-v2.md", "rent-v3.md"]
    texts = [f"The rent of the harbour sheds is {number} shillings." for number in (10, 11, 12)]
    body = {"texts": texts, "file_sources": names}
    answer = (await api.post("/documents/texts", json=body)).json()
    first, second, third = (document["id"] for document in answer["documents"])
    await projected(harness)
    proposals = "/documents/supersessions/proposals"
    listing = (await api.get(proposals)).json()
    assert [(item["document_id"], item["supersedes"]) for item in listing["proposals"]] == [
        (second, first),
        (third, second),
    ]
    assert (listing["looked_at"], listing["documents"]) == (3, 3)
    await api.put(f"/documents/{second}/validity", json={"valid_from": "2026-05-01T00:00:00Z"})

    async def decide(id: str, other: str, is_accepted: bool) -> int:
        decision = {"supersedes": other, "is_accepted": is_accepted}
        answer = await api.post(f"/documents/{id}/validity/decisions", json=decision)
        await projected(harness)
        return answer.status_code

    assert await decide(second, first, True) == 200
    assert await decide(third, second, False) == 200
    assert (await api.get(proposals)).json()["proposals"] == []
    validity = (await api.get(f"/documents/{second}/validity")).json()
    assert (validity["supersedes"], validity["valid_from"]) == ([first], "2026-05-01T00:00:00Z")
    validity = (await api.get(f"/documents/{third}/validity")).json()
    assert (validity["supersedes"], validity["coexists_with"]) == ([], [second])
    # The other decision takes the first one back.
    assert await decide(second, first, False) == 200
    validity = (await api.get(f"/documents/{second}/validity")).json()
    assert (validity["supersedes"], validity["coexists_with"]) == ([], [first])
    assert await decide("none", first, True) == 404
    assert await decide(second, second, True) == 422
