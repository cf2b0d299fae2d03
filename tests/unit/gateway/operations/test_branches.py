"""Branches over HTTP: ordered by whoever may change the whole deployment, watched, compared and
promoted in their workspace, with the refusals of the commands.
"""

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from contracts.access import Access
from contracts.events import AccessChanged, BranchCreated, BranchPromoted, BranchSettings
from runtime.projections.operator_orders import OperatorOrder, OrderOutcome, write_outcome
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.events import sealed
from tests.support.operations import MemoryOperatorProcess
from tests.support.querying import CURIE, QueryHarness, library_of_two, projected

READER_OF_ALL = "all:k-all-0123456789abcdef:*:read"
REQUEST: dict[str, Any] = {"name": "small", "chunk_size": 100, "budget": 0.0, "reason": "cheaper?"}


async def branched(**fields: Any) -> QueryHarness:
    """A workspace with a branch, which has one of its two documents."""
    harness = await library_of_two()
    created = BranchCreated(name="small", origin="w", settings=BranchSettings(), **fields)
    await harness.log.publish(sealed(created, workspace="w..small"))
    await harness.index("curie", *CURIE, workspace="w..small", version=5000)
    return harness


def operator_of(harness: QueryHarness) -> MemoryOperatorProcess:
    operator = harness.operations.rebuilds.operator
    assert isinstance(operator, MemoryOperatorProcess)
    return operator


async def test_an_estimate_and_a_branch_are_ordered_and_their_outcome_is_the_workspaces() -> None:
    harness = await library_of_two()
    operator = operator_of(harness)
    values = harness.operations.rebuilds.values
    async with client(harness.app()) as api:
        assert (await api.get("/branches/orders")).json() == {"last": None, "takes_orders": True}
        answer = await api.post("/branches/estimate", json=REQUEST)
        (order,) = operator.orders
        assert (answer.status_code, answer.json()) == (202, {"id": order.id, "branch": "small"})
        assert OperatorOrder.of(json.loads(json.dumps(order.fields()))).branch == order.branch
        assert order.branch is not None
        assert (order.step, order.workspace, order.who, order.reason) == (
            "branch-estimate",
            "w",
            "anyone",
            "cheaper?",
        )
        assert (order.branch.chunk_size, order.branch.budget) == (100, 0.0)
        assert (await api.post("/branches", json=REQUEST)).status_code == 409
        outcome = OrderOutcome(order, "done", "then", "later", result={"documents": 2})
        await write_outcome(values, outcome)
        last_order = (await api.get("/branches/orders")).json()["last"]
        other = (await api.get("/branches/orders", headers={"X-Workspace": "v"})).json()["last"]
        operator.orders.clear()
        assert (await api.post("/branches", json=REQUEST)).status_code == 202
        interrupted = replace(outcome, state="running", order=operator.orders[0], result={})
        await write_outcome(values, interrupted)
        running = (await api.get("/branches/orders")).json()["last"]
        operator.away = True
        assert (await api.post("/branches", json=REQUEST)).status_code == 503
    assert (
        last_order["step"],
        last_order["branch"],
        last_order["state"],
        last_order["result"],
    ) == (
        "branch-estimate",
        "small",
        "done",
        {"documents": 2},
    )
    assert (running["step"], running["state"], other) == ("branch-create", "running", None)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"name": "No Name"}, "a branch is called by a-z"),
        ({"chunk_size": None}, "say what is to be other"),
        ({"chunk_overlap": 60}, "more than half of size 100"),
        ({"chunking": "bogus"}, "there is no strategy 'bogus'"),
        ({"chunking": "No Name"}, "there is no strategy 'No Name'"),
        ({"name": "small"}, "a name is used once"),
        ({"prompt": "x" * 65537}, "65536"),
        ({"prompt": "Extract."}, "the prompt lacks {form}"),
        ({"entity_types": "ships: [Ship]"}, "line 1: `ships` is no key of this file"),
        ({"entity_types": "entity_types_guidance: [Ship"}, "the branch's entity types line 1"),
    ],
)
async def test_a_branch_of_no_use_is_refused_before_anything_is_ordered(
    fields: dict[str, Any], cause: str
) -> None:
    harness = await branched()
    async with client(harness.app()) as api:
        refusal = await api.post("/branches", json={**REQUEST, "name": "b", **fields})
        of_branch = await api.post("/branches", json=REQUEST, headers={"X-Workspace": "w..small"})
    assert refusal.status_code == 422 and cause in refusal.text
    assert isinstance(refusal.json()["detail"], str) or {
        fault["loc"][-1] for fault in refusal.json()["detail"]
    } <= {*fields, "body"}
    assert "branches have none of their own" in of_branch.text
    assert operator_of(harness).orders == []


async def test_a_drop_is_ordered_unless_the_branch_answers_or_does_not_exist() -> None:
    harness = await branched()
    async with client(harness.app()) as api:
        unknown = await api.post("/branches/other/drop")
        assert unknown.status_code == 404 and "it has small" in unknown.text
        await harness.log.publish(sealed(BranchPromoted(name="small"), workspace="w"))
        refusal = await api.post("/branches/small/drop")
        assert refusal.status_code == 422 and "branch rollback" in refusal.text
        await api.post("/branches/rollback")
        dropped = await api.post("/branches/small/drop", params={"reason": "too dear"})
    (order,) = operator_of(harness).orders
    assert (dropped.status_code, order.step, order.reason) == (202, "branch-drop", "too dear")


async def test_a_branch_says_how_far_it_is_and_what_it_changes() -> None:
    harness = await branched()
    async with client(harness.app()) as api:
        status = (await api.get("/branches/small/status")).json()
        comparison = (await api.get("/branches/small/comparison", params={"limit": 1})).json()
        unknown = await api.get("/branches/other/comparison")
    assert (status["status_counts"]["all"], status["cost"]["calls"]) == (1, 0)
    assert comparison["entities"]["appeared"] == 0
    assert comparison["entities"]["went"] > len(comparison["entities"]["went_names"]) == 1
    assert unknown.status_code == 404


async def test_a_branch_is_promoted_once_its_golden_questions_were_asked() -> None:
    harness = await branched()
    question = {"id": "bread", "question": "What does Bo bake?", "documents": ["bread.txt"]}
    async with client(harness.app()) as api:

        async def run_id(**body: Any) -> str:
            answer = await api.post("/golden-runs", json=body)
            return json.loads(answer.text.splitlines()[-1])["run"]["id"]

        async def promote(**body: Any) -> httpx.Response:
            return await api.post("/branches/small/promote", json=body)

        await api.post("/golden-questions", json={"questions": [question]})
        live_run = await run_id()
        for id in ("", "unknown", live_run):
            refusal = await promote(golden_run=id)
            assert refusal.status_code == 422 and "POST /golden-runs" in refusal.text
        branch_run = await run_id(branch="small")
        await api.post("/golden-questions", json={"questions": [{**question, "note": "again"}]})
        assert "as they are now" in (await promote(golden_run=branch_run)).text
        branch_run = await run_id(branch="small")
        promotion = await promote(golden_run=branch_run)
        (entry,) = (await api.get("/branches")).json()
    assert promotion.status_code == 200 and "of 1 golden questions pass" in promotion.text
    assert entry["promoted"]


async def test_both_answers_to_golden_questions_stand_side_by_side_also_once_it_answers() -> None:
    harness = await branched()
    questions = [
        {"id": "bread", "question": "Who sells honey cakes?", "documents": ["baker.txt"]},
        {"id": "radium", "question": "Who discovered radium?", "facts": ["Marie Curie"]},
    ]
    async with client(harness.app()) as api:

        async def compared(name: str = "small") -> list[Any]:
            answer = await api.post(f"/branches/{name}/answers")
            return [json.loads(line) for line in answer.text.splitlines()]

        assert await compared() == []
        await api.post("/golden-questions", json={"questions": questions})
        lines = await compared()
        await harness.log.publish(sealed(BranchPromoted(name="small"), workspace="w"))
        assert await compared() == lines
        assert (await api.get("/golden-runs")).json() == []
        assert (await api.post("/branches/other/answers")).status_code == 404
    bread, radium = lines
    assert (bread["id"], radium["id"], bread["of"]) == ("bread", "radium", 2)
    assert (bread["origin"]["passed"], bread["branch"]["passed"]) == (True, False)
    assert bread["origin"]["sources"] and bread["branch"]["why"] == [
        "document not found: baker.txt"
    ]
    assert radium["origin"]["passed"] and "Marie Curie" in radium["branch"]["answer"]


async def test_a_promotion_that_makes_answers_worse_is_a_conflict_unless_it_is_wanted() -> None:
    harness = await library_of_two()
    created = BranchCreated(name="small", origin="w", settings=BranchSettings())
    await harness.log.publish(sealed(created, workspace="w..small"))
    question = {"id": "radium", "question": "Who discovered radium?", "facts": ["Marie Curie"]}
    async with client(harness.app()) as api:
        await api.post("/golden-questions", json={"questions": [question]})
        await api.post("/golden-runs", json={})
        answer = await api.post("/golden-runs", json={"branch": "small"})
        run_id = json.loads(answer.text.splitlines()[-1])["run"]["id"]
        body = {"golden_run": run_id}
        refusal = await api.post("/branches/small/promote", json=body)
        assert refusal.status_code == 409 and "accept_worse" in refusal.text
        assert not (await api.get("/branches")).json()[0]["promoted"]
        body["accept_worse"] = True
        assert (await api.post("/branches/small/promote", json=body)).status_code == 200
        assert (await api.get("/branches")).json()[0]["promoted"]


async def test_a_sample_is_not_promoted() -> None:
    harness = await branched(sample=1, sampled_up_to="f" * 64)
    async with client(harness.app()) as api:
        refusal = await api.post("/branches/small/promote", json={})
    assert refusal.status_code == 422 and "sample" in refusal.text


async def test_what_readers_see_as_it_is_is_the_promoted_branch_and_documents_stay() -> None:
    harness = await branched()
    paths = {
        "/graph/label/list": {},
        "/graph/label/popular": {},
        "/graph/label/search": {"q": "a"},
        "/graphs": {"label": "*"},
        "/graph/entity/exists": {"name": "Marie Curie"},
        "/graph/provenance": {"name": "Marie Curie"},
        "/graph/contradictions": {"name": "Marie Curie"},
        "/passages/search": {"keyword": "bread"},
        "/passages/around": {"chunk_id": "curie-chunk-000"},
        "/documents/curie/chunks": {},
    }

    async def answers_in(workspace: str) -> dict[str, Any]:
        async with client(harness.app(), **{"X-Workspace": workspace}) as api:
            answers = {path: await api.get(path, params=paths[path]) for path in paths}
            return {path: (answer.status_code, answer.json()) for path, answer in answers.items()}

    origin = await answers_in("w")
    branch = await answers_in("w..small")
    for path in ("/graph/label/list", "/graphs", "/graph/provenance", "/passages/search"):
        assert origin[path] != branch[path], path
    await harness.log.publish(sealed(BranchPromoted(name="small"), workspace="w"))
    assert await answers_in("w") == branch
    async with client(harness.app(), **{"X-Workspace": "w"}) as api:
        counts = (await api.get("/documents/status_counts")).json()["status_counts"]
        await api.post("/branches/rollback", json={})
    assert counts["all"] == 2
    assert await answers_in("w") == origin


async def test_a_viewer_sees_in_the_promoted_branch_what_it_may_see() -> None:
    harness = await branched()
    await harness.log.publish(sealed(BranchPromoted(name="small"), workspace="w"))
    restriction = AccessChanged(document_id="curie", access=Access(allow=("group:legal",)))
    await harness.log.publish(sealed(restriction, workspace="w..small"))
    await projected(harness)
    bindings = "key:writer=user:bo"
    config = behind(lightstream_api_keys=SEVERAL, lightstream_principals=bindings)
    async with keyed(harness.app(config), WRITER, "w") as api:
        assert (await api.get("/graph/label/list")).json() == []
        matches = (await api.get("/passages/search", params={"keyword": "radium"})).json()
        neighbours = await api.get("/passages/around", params={"chunk_id": "curie-chunk-000"})
    assert (matches["passages"], neighbours.status_code) == ([], 404)


async def test_who_may_order_promote_and_read() -> None:
    harness = await branched()
    config = behind(lightstream_api_keys=f"{SEVERAL},{READER_OF_ALL}")
    orders = [
        ("POST", "/branches"),
        ("POST", "/branches/estimate"),
        ("POST", "/branches/small/drop"),
    ]
    writes = [("POST", "/branches/small/promote"), ("POST", "/branches/rollback")]
    reads = [
        ("GET", "/branches"),
        ("GET", "/branches/orders"),
        ("GET", "/branches/small/status"),
        ("GET", "/branches/small/comparison"),
    ]
    app = harness.app(config)
    reader_of_all = READER_OF_ALL.split(":")[1]

    async def statuses(key: str, requests: list[tuple[str, str]], workspace: str) -> set[int]:
        async with keyed(app, key, workspace) as api:
            return {
                (await api.request(method, path, json=REQUEST)).status_code
                for method, path in requests
            }

    assert await statuses(WRITER, orders, "w") == {403}
    assert await statuses(reader_of_all, [*orders, *writes], "w") == {403}
    assert await statuses(WRITER, writes, "w") == {200}
    assert await statuses(reader_of_all, reads, "w") == {200}
    assert await statuses(WRITER, [*orders, *writes, *reads], "x") == {403}
    assert operator_of(harness).orders == []
