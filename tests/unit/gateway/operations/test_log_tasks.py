"""Audits and backups over HTTP: ordered by whoever may change the whole deployment, made by an
operator process.
"""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from runtime.projections.operator_orders import (
    OperatorOrder,
    OrderOutcome,
    read_outcome,
    write_outcome,
)
from runtime.projections.rebuild_lease import hold
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.operations import MemoryOperatorProcess
from tests.support.querying import QueryHarness

READER_OF_ALL = "all:k-all-0123456789abcdef:*:read"
FOUND = {"events": 7, "problems": ["sequence 3 is not what the chain has"]}


def harness_and_operator() -> tuple[QueryHarness, MemoryOperatorProcess]:
    harness = QueryHarness()
    operator = harness.operations.rebuilds.operator
    assert isinstance(operator, MemoryOperatorProcess)
    return harness, operator


@pytest.mark.parametrize("task", ["audit", "backup"])
async def test_a_task_is_ordered_with_who_asks_and_why_also_during_a_rebuild(task: str) -> None:
    harness, operator = harness_and_operator()
    with capture_logs() as lines:
        async with (
            client(harness.app()) as api,
            hold(harness.operations.rebuilds.values, ["graph"], "by hand"),
        ):
            answer = await api.post(
                f"/operations/log/{task}", json={"reason": "before the upgrade"}
            )
            again = await api.post(f"/operations/log/{task}", json={})
    (order,) = operator.orders
    assert (answer.status_code, answer.json()) == (202, {"id": order.id, "task": task})
    assert (order.step, order.who, order.reason, again.status_code) == (
        task,
        "anyone",
        "before the upgrade",
        409,
    )
    line = next(line for line in lines if line["event"] == "audit")
    assert (line["task"], line["reason"], line["order"]) == (task, "before the upgrade", order.id)


async def test_what_became_of_it_is_kept_apart_from_rebuilds_and_other_tasks() -> None:
    harness, operator = harness_and_operator()
    values = harness.operations.rebuilds.values
    order = OperatorOrder("audit", "all", "key:ops", "nightly")
    await write_outcome(
        values, OrderOutcome(order, "failed", "then", "later", FOUND["problems"][0], FOUND)
    )
    assert await read_outcome(values) is None
    async with client(harness.app()) as api:
        audit = (await api.get("/operations/log/audit")).json()
        assert (await api.get("/operations/log/backup")).json() == {
            "last": None,
            "takes_orders": True,
        }
        assert (await api.get("/operations/rebuild")).json()["last"] is None
        assert (audit["last"]["state"], audit["last"]["result"], audit["last"]["reason"]) == (
            "failed",
            FOUND,
            "nightly",
        )
        await write_outcome(values, OrderOutcome(order, "running", "then"))
        assert (await api.get("/operations/log/audit")).json()["last"]["state"] == "interrupted"
        operator.orders.append(replace(order))
        assert (await api.get("/operations/log/audit")).json()["last"]["state"] == "running"


async def test_only_whoever_may_change_the_whole_deployment_orders_it() -> None:
    harness, operator = harness_and_operator()
    app = harness.app(behind(lightstream_api_keys=f"{SEVERAL},{READER_OF_ALL}"))
    async with keyed(app, WRITER, "w") as api:
        assert (await api.post("/operations/log/audit", json={})).status_code == 403
        assert (await api.get("/operations/log/audit")).status_code == 403
    async with keyed(app, READER_OF_ALL.split(":")[1], "w") as api:
        assert (await api.post("/operations/log/audit", json={})).status_code == 403
        assert (await api.get("/operations/log/audit")).status_code == 200
    assert operator.orders == []
    operator.away = True
    async with client(harness.app()) as api:
        refusal = await api.post("/operations/log/backup", json={})
        assert (
            refusal.status_code,
            (await api.post("/operations/log/repair", json={})).status_code,
        ) == (503, 422)
