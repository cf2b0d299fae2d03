"""Rebuilds over HTTP: ordered by whoever may change the whole deployment, made by an operator
process, and watched.
"""

from dataclasses import replace

from structlog.testing import capture_logs

from contracts.partitions import first_sequence
from runtime.projections.operator_orders import OrderOutcome, write_outcome
from runtime.projections.rebuild_candidate import Candidate, write
from runtime.projections.rebuild_lease import hold
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.operations import MemoryOperatorProcess
from tests.support.querying import QueryHarness

READER_OF_ALL = "all:k-all-0123456789abcdef:*:read"


def harness_and_operator() -> tuple[QueryHarness, MemoryOperatorProcess]:
    harness = QueryHarness()
    operator = harness.operations.rebuilds.operator
    assert isinstance(operator, MemoryOperatorProcess)
    return harness, operator


async def test_a_step_is_ordered_with_who_asks_and_why() -> None:
    harness, operator = harness_and_operator()
    body = {
        "projection": "vectors",
        "embedding_model": "minilm",
        "events_per_second": 50,
        "reason": "a better model",
    }
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            answer = await api.post("/operations/rebuild/start", json=body)
    (order,) = operator.orders
    assert (answer.status_code, answer.json()) == (
        202,
        {"id": order.id, "step": "start", "projection": "vectors"},
    )
    assert (order.who, order.reason, order.embedding_model, order.events_per_second) == (
        "anyone",
        "a better model",
        "minilm",
        50,
    )
    (line,) = [line for line in lines if line["event"] == "audit"]
    assert (line["projection"], line["reason"], line["order"]) == (
        "vectors",
        "a better model",
        order.id,
    )


async def test_questions_are_asked_in_the_workspace_of_the_request_and_only_with_start_of_vectors() -> (  # noqa: E501
    None
):
    harness, operator = harness_and_operator()
    body = {"projection": "vectors", "questions": ["Who leads the Ferry Office?"]}
    async with client(harness.app()) as api:
        for step, projection in (("run", "vectors"), ("start", "graph")):
            refusal = await api.post(
                f"/operations/rebuild/{step}", json={**body, "projection": projection}
            )
            assert refusal.status_code == 400
        too_many = await api.post(
            "/operations/rebuild/start", json={**body, "questions": ["?"] * 21}
        )
        answer = await api.post(
            "/operations/rebuild/start", json=body, headers={"X-Workspace": "papers"}
        )
    (order,) = operator.orders
    assert (too_many.status_code, answer.status_code) == (422, 202)
    assert (list(order.questions), order.workspace) == (["Who leads the Ferry Office?"], "papers")


async def test_digests_of_a_workspace_are_ordered_and_shown_apart_from_rebuilds() -> None:
    harness, operator = harness_and_operator()
    async with client(harness.app()) as api:
        answer = await api.post(
            "/operations/projections/digests", json={}, headers={"X-Workspace": "papers"}
        )
        (order,) = operator.orders
        assert (answer.status_code, answer.json()) == (
            202,
            {"id": order.id, "workspace": "papers"},
        )
        outcome = OrderOutcome(
            order, "done", "then", "later", result={"graph": "0b1c", "counts": {"graph": {}}}
        )
        await write_outcome(harness.operations.rebuilds.values, outcome)
        digests = (await api.get("/operations/projections/digests")).json()
        assert (
            digests["workspace"],
            digests["last"]["state"],
            digests["last"]["result"]["graph"],
        ) == (
            "papers",
            "done",
            "0b1c",
        )
        assert (await api.get("/operations/rebuild")).json()["last"] is None


async def test_an_order_during_another_rebuild_is_a_conflict() -> None:
    harness, operator = harness_and_operator()
    async with client(harness.app()) as api:
        async with hold(harness.operations.rebuilds.values, ["graph"], "by hand"):
            refusal = await api.post("/operations/rebuild/run", json={})
            rebuild = (await api.get("/operations/rebuild")).json()
        assert (await api.post("/operations/rebuild/run", json={})).status_code == 202
        assert (await api.post("/operations/rebuild/run", json={})).status_code == 409
    assert (refusal.status_code, len(operator.orders)) == (409, 1)
    assert (rebuild["running"]["projections"], rebuild["running"]["reason"]) == (
        ["graph"],
        "by hand",
    )


async def test_without_an_operator_process_the_answer_says_so() -> None:
    harness, operator = harness_and_operator()
    operator.away = True
    async with client(harness.app()) as api:
        refusal = await api.post("/operations/rebuild/run", json={})
        rebuild = (await api.get("/operations/rebuild")).json()
    assert (refusal.status_code, rebuild["takes_orders"]) == (503, False)


async def test_only_who_may_change_the_whole_deployment_orders_anything() -> None:
    harness, operator = harness_and_operator()
    app = harness.app(behind(lightstream_api_keys=f"{SEVERAL},{READER_OF_ALL}"))
    async with keyed(app, WRITER, "w") as api:
        assert (await api.post("/operations/rebuild/run", json={})).status_code == 403
        assert (await api.get("/operations/rebuild")).status_code == 403
    async with keyed(app, READER_OF_ALL.split(":")[1], "w") as api:
        assert (await api.post("/operations/rebuild/run", json={})).status_code == 403
        assert (await api.get("/operations/rebuild")).status_code == 200
    assert operator.orders == []


async def test_steps_and_projections_that_there_are_none_of_are_refused() -> None:
    harness, operator = harness_and_operator()
    async with client(harness.app()) as api:
        assert (await api.post("/operations/rebuild/await", json={})).status_code == 422
        assert (
            await api.post("/operations/rebuild/run", json={"projection": "--data=/etc"})
        ).status_code == 422
        assert (
            await api.post("/operations/rebuild/run", json={"events_per_second": -1})
        ).status_code == 422
    assert operator.orders == []


async def test_what_became_of_the_last_order_is_shown_until_the_next() -> None:
    harness, operator = harness_and_operator()
    values = harness.operations.rebuilds.values
    async with client(harness.app()) as api:
        await api.post("/operations/rebuild/start", json={"projection": "graph"})
        (order,) = operator.orders
        outcome = OrderOutcome(order, "running", "2026-11-22T12:00:00Z")
        await write_outcome(values, outcome)
        assert (await api.get("/operations/rebuild")).json()["last"]["state"] == "running"
        operator.orders.clear()
        assert (await api.get("/operations/rebuild")).json()["last"]["state"] == "interrupted"
        await write_outcome(
            values,
            replace(outcome, state="done", ended="2026-11-22T12:01:00Z", result={"events": 7}),
        )
        await write(values, Candidate({"graph": 3}, 412))
        rebuild = (await api.get("/operations/rebuild")).json()
        await write(values, Candidate({"graph": 3}, (7, first_sequence(1) + 2)))
        of_partitions = (await api.get("/operations/rebuild")).json()["candidate"]
    assert rebuild["candidate"] == {"generations": {"graph": 3}, "position": 412}
    assert of_partitions["position"] == 7 + 3, "events of both partitions up to there"
    assert rebuild["last"] == {
        "id": order.id,
        "step": "start",
        "projection": "graph",
        "who": "anyone",
        "reason": "",
        "state": "done",
        "started": "2026-11-22T12:00:00Z",
        "ended": "2026-11-22T12:01:00Z",
        "error": "",
        "result": {"events": 7},
    }


async def test_a_plan_says_what_a_rebuild_would_read_and_changes_nothing() -> None:
    harness, operator = harness_and_operator()
    async with client(harness.app()) as api:
        plan = (await api.get("/operations/rebuild/plan?projection=graph")).json()
    assert plan == {
        "targets": ["graph"],
        "events": 7,
        "seconds": None,
        "generations": {"graph": 2},
        "dropped": {},
    }
    assert operator.orders == []
