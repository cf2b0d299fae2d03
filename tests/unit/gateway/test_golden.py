"""The routes about golden questions, their runs, and feedback."""

import json
from typing import Any

import httpx
import pytest

from contracts.events import (
    EVENTS,
    BranchCreated,
    BranchPromoted,
    BranchSettings,
    FeedbackGiven,
    GoldenQuestionRemoved,
    GoldenQuestionSet,
    GoldenRunEnded,
)
from contracts.graph import Partition
from runtime.bus.codec import decode
from runtime.bus.event_summary import summarize
from runtime.bus.memory import MemoryMessage
from runtime.errors import Unavailable
from runtime.golden import questions as golden
from services.query.answering.dependencies import QueryDependencies
from services.query.status.projection import on_events
from tests.support.access import READER, SEVERAL, WRITER, behind, keyed
from tests.support.events import added, delivered, sealed
from tests.support.querying import LIVE, QueryHarness, events

RADIUM = {
    "id": "radium",
    "question": "Who discovered radium?",
    "facts": ["Marie Curie"],
    "documents": ["curie.txt"],
}
STATUS = Partition("w", LIVE.status)
UNKNOWN = {"id": "mayor", "question": "What does the mayor earn?", "unanswerable": True}


async def set_all(api: httpx.AsyncClient, *questions: dict[str, Any]) -> dict[str, Any]:
    answer = await api.post("/golden-questions", json={"questions": questions})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def run(api: httpx.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    answer = await api.post("/golden-runs", json=body)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_questions_are_set_listed_changed_and_removed(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = await set_all(api, RADIUM, {"question": "How deep?", "unanswerable": True})
    assert answer["ids"][0] == "radium" and answer["ids"][1].startswith("gq-")
    assert await set_all(api, RADIUM) == {"ids": [], "unchanged": ["radium"]}
    assert (await set_all(api, {**RADIUM, "facts": ["Pierre"]}))["ids"] == ["radium"]
    radium_entry, unnamed_entry = (await api.get("/golden-questions")).json()
    assert (radium_entry["id"], radium_entry["facts"], radium_entry["documents"]) == (
        "radium",
        ["Pierre"],
        ["curie.txt"],
    )
    assert (unnamed_entry["unanswerable"], unnamed_entry["set_by"], unnamed_entry["latest"]) == (
        True,
        "anyone",
        None,
    )
    assert (await api.delete("/golden-questions/radium", params={"reason": "old"})).json() == {
        "id": "radium"
    }
    assert [entry["id"] for entry in (await api.get("/golden-questions")).json()] == [
        unnamed_entry["id"]
    ]
    assert (await api.delete("/golden-questions/radium")).status_code == 404
    await set_all(api, RADIUM)
    assert len((await api.get("/golden-questions")).json()) == 2
    assert isinstance(events(harness)[3], GoldenQuestionRemoved)
    # No cached answer of the workspace is touched by them: they stand on subjects apart.
    assert await harness.log.last("w") == 0


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"question": "Who?"}, "say what must be found"),
        ({**RADIUM, "unanswerable": True}, "neither facts nor documents"),
        ({**RADIUM, "question": " \u200b "}, "the question is empty"),
        ({**RADIUM, "id": "../x"}, "String should match pattern"),
        ({**RADIUM, "mode": "bypass"}, "Input should be"),
    ],
)
async def test_what_cannot_be_used_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, question: dict[str, Any], sentence: str
) -> None:
    answer = await api.post("/golden-questions", json={"questions": [RADIUM, question]})
    assert answer.status_code == 422 and sentence in answer.text
    assert harness.log.messages == []


async def test_of_two_questions_with_one_id_none_is_set(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = await api.post("/golden-questions", json={"questions": [RADIUM, RADIUM]})
    assert answer.status_code == 400 and "radium" in answer.json()["detail"]
    assert harness.log.messages == []


async def test_a_workspace_has_no_more_than_it_can_run(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(golden, "MAX_QUESTIONS", 1)
    await set_all(api, RADIUM)
    answer = await api.post("/golden-questions", json={"questions": [UNKNOWN]})
    assert answer.status_code == 422 and "at most 1" in answer.json()["detail"]


async def test_a_run_says_of_each_question_how_it_fared_and_is_recorded(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    wrong_question = {**RADIUM, "id": "wrong", "facts": ["Marie Curie", "Lise Meitner"]}
    await set_all(api, RADIUM, wrong_question, UNKNOWN)
    radium_line, wrong_line, mayor_line, run_line = await run(api, reason="nightly")
    assert radium_line["result"]["passed"] and "Curie" in radium_line["result"]["answer"]
    assert wrong_line["result"]["why"] == ["missing fact: Lise Meitner"] and wrong_line["of"] == 3
    assert mayor_line["question"] == UNKNOWN["question"]
    assert mayor_line["result"]["passed"], mayor_line["result"]["answer"]
    golden_run = run_line["run"]
    assert (golden_run["passed"], golden_run["total"], golden_run["reason"]) == (2, 3, "nightly")
    assert (await api.get("/golden-runs")).json() == [golden_run]
    latest_results = {
        entry["id"]: entry["latest"] for entry in (await api.get("/golden-questions")).json()
    }
    assert (latest_results["radium"]["passed"], latest_results["wrong"]["passed"]) == (True, False)
    assert latest_results["wrong"]["why"] == ["missing fact: Lise Meitner"]
    event = events(harness)[-1]
    assert isinstance(event, GoldenRunEnded)
    assert "Curie" not in harness.log.messages[-1].data.decode()
    # What it was asked is another question now: the old result is not its own.
    await set_all(api, {**wrong_question, "facts": ["Pierre Curie"]})
    latest_results = {
        entry["id"]: entry["latest"] for entry in (await api.get("/golden-questions")).json()
    }
    assert latest_results["wrong"] is None
    (golden_run,) = (await api.get("/golden-runs")).json()
    assert golden_run["failed"] == [{"id": "wrong", "passed": False, "why": []}]


async def test_one_question_is_run_alone_and_an_unknown_one_refused(
    api: httpx.AsyncClient,
) -> None:
    assert (await api.post("/golden-runs", json={})).status_code == 404
    await set_all(api, RADIUM, UNKNOWN)
    *_, run_line = await run(api, ids=["mayor"])
    assert run_line["run"]["total"] == 1
    answer = await api.post("/golden-runs", json={"ids": ["mayor", "nobody"]})
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "no golden question is called nobody: GET /golden-questions lists them",
    )
    answer = await api.post("/golden-runs", json={"as_of": "yesterday, perhaps"})
    assert answer.status_code == 400


async def test_a_run_of_the_past_asks_what_was_there_then(harness: QueryHarness) -> None:
    # Nothing of the library is in this log, so that its past knows nothing.
    async with keyed(harness.app(), "") as api:
        await set_all(api, RADIUM, UNKNOWN)
        await harness.log.publish(sealed(added("later", "Something."), workspace="w"))
        radium_line, mayor_line, run_line = await run(api, as_of="1")
    assert not radium_line["result"]["passed"] and mayor_line["result"]["passed"]
    assert run_line["run"]["as_of"]


async def test_a_question_that_cannot_be_asked_fails_alone(harness: QueryHarness) -> None:
    calls = 0

    async def embed(texts: Any) -> Any:
        nonlocal calls
        calls += 1
        raise Unavailable("nobody at 10.0.0.7")

    answering: QueryDependencies = harness.deps(embed=embed)
    async with keyed(harness.app(answering=answering), "") as api:
        await set_all(api, {**RADIUM, "mode": "naive"})
        question_line, run_line = await run(api)
    assert calls and run_line["run"]["passed"] == 0
    (why,) = question_line["result"]["why"]
    assert why.startswith("it could not be asked: ") and "10.0.0.7" not in why


async def test_who_may_read_sees_questions_and_says_what_it_thinks_but_changes_none(
    harness: QueryHarness,
) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    thumb = {"rating": "down", "question": "Who?", "answer": "Nobody.", "reason": "wrong"}
    async with keyed(app, WRITER, "w") as writer, keyed(app, READER, "w") as reader:
        await set_all(writer, RADIUM)
        assert len((await reader.get("/golden-questions")).json()) == 1
        for method, path in (
            ("POST", "/golden-questions"),
            ("POST", "/golden-runs"),
            ("DELETE", "/golden-questions/radium"),
        ):
            assert (await reader.request(method, path, json={})).status_code == 403
        own_id = (await reader.post("/feedback", json=thumb)).json()["id"]
        other_id = (await writer.post("/feedback", json={**thumb, "rating": "up"})).json()["id"]
        assert [entry["id"] for entry in (await reader.get("/feedback")).json()] == [own_id]
        assert [entry["id"] for entry in (await writer.get("/feedback")).json()] == [
            other_id,
            own_id,
        ]
        (entry,) = (await writer.get("/feedback", params={"rating": "down"})).json()
    assert (entry["actor"], entry["reason"], entry["answer"]) == ("key:reader", "wrong", "Nobody.")
    async with keyed(app, WRITER, "v") as elsewhere:
        assert (await elsewhere.get("/feedback")).json() == []
        assert (await elsewhere.get("/golden-questions")).json() == []


async def test_the_status_of_documents_takes_no_notice(harness: QueryHarness) -> None:
    async with keyed(harness.app(), "") as api:
        await set_all(api, RADIUM)
        await api.post("/feedback", json={"rating": "up", "question": "Who?"})
    counts = await harness.documents.counts(STATUS)
    for number, event in enumerate(events(harness), 1):
        await on_events(
            [delivered(event, number)],
            LIVE,
            documents=harness.documents,
            passages=harness.passages,
            ledger=harness.ledger,
        )
    assert await harness.documents.counts(STATUS) == counts


async def test_events_are_told_in_a_line_without_what_was_asked(harness: QueryHarness) -> None:
    async with keyed(harness.app(), "") as api:
        await set_all(api, RADIUM)
        await api.post("/feedback", json={"rating": "up", "question": "Who?"})
        await run(api)
        await api.delete("/golden-questions/radium")
    lines = [
        summarize(MemoryMessage(stored_message)).text for stored_message in harness.log.messages
    ]
    assert lines == [
        "golden question radium set",
        "an answer got a thumb up",
        "1 of 1 golden questions passed",
        "golden question radium removed",
    ]
    kinds = {type(decode(message.data, message.subject).data) for message in harness.log.messages}
    assert kinds == {GoldenQuestionSet, GoldenQuestionRemoved, GoldenRunEnded, FeedbackGiven}
    assert {kind.type_name() for kind in kinds} <= EVENTS.keys()


async def test_a_branch_is_asked_the_questions_of_its_origin_and_answers_once_promoted(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await set_all(api, RADIUM)
    assert (await api.post("/golden-runs", json={"branch": "small"})).status_code == 404
    created = BranchCreated(name="small", origin="w", settings=BranchSettings())
    await harness.log.publish(sealed(created, workspace="w..small"))
    *_, last_line = await run(api, branch="small")
    assert (last_line["run"]["branch"], last_line["run"]["passed"]) == ("small", 0)
    assert (await api.get("/golden-questions")).json()[0]["latest"] is None
    text = "Marie Curie discovered radium in the branch."
    await harness.index("curie", text, file_path="curie.txt", workspace="w..small", version=7000)
    *_, last_line = await run(api, branch="small")
    assert last_line["run"]["passed"] == 1

    body = {"query": "Who discovered radium?", "mode": "naive", "only_need_context": True}
    before = (await api.post("/query", json=body)).json()["response"]
    await harness.log.publish(sealed(BranchPromoted(name="small"), workspace="w"))
    app = harness.app()
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as other_gateway:
        headers = {"x-workspace": "w"}
        answer = await other_gateway.post("/query", json=body, headers=headers)
        (entry,) = (await other_gateway.get("/branches", headers=headers)).json()
        rollbacks = [
            await other_gateway.post("/branches/rollback", json={}, headers=headers)
            for _ in range(2)
        ]
    assert (entry["name"], entry["workspace"], entry["promoted"]) == ("small", "w..small", True)
    assert rollbacks[0].json() == {"rolled_back": "small"}
    assert (rollbacks[1].status_code, rollbacks[1].json()["detail"]) == (
        422,
        "no branch of w is promoted",
    )
    assert "in the branch" not in before
    assert "in the branch" in answer.json()["response"]
