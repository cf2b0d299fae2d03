"""Figures described over HTTP: an estimate first, then the order, each for one workspace."""

from runtime.projections.operator_orders import OrderOutcome, write_outcome
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.operations import MemoryOperatorProcess
from tests.support.querying import QueryHarness


async def test_an_estimate_and_the_order_itself_are_those_of_the_workspace() -> None:
    harness = QueryHarness()
    operator = harness.operations.rebuilds.operator
    assert isinstance(operator, MemoryOperatorProcess)
    async with client(harness.app()) as api:
        empty = (await api.get("/operations/figures")).json()
        body = {"documents": ["a.pdf"], "again": True, "reason": "a new model"}
        answer = await api.post("/operations/figures/estimate", json=body)
        (order,) = operator.orders
        assert answer.json() == {"id": order.id, "step": "figures-estimate"}
        assert (order.workspace, list(order.documents), order.again) == ("w", ["a.pdf"], True)
        assert (order.reason, order.who) == ("a new model", "anyone")
        busy = await api.post("/operations/figures/describe", json={})
        outcome = OrderOutcome(order, "done", "then", "later", result={"figures": 3})
        await write_outcome(harness.operations.rebuilds.values, outcome)
        newest_order = (await api.get("/operations/figures")).json()["last"]
        other = (await api.get("/operations/figures", headers={"X-Workspace": "v"})).json()
        option = await api.post("/operations/figures/describe", json={"documents": ["--yes"]})
    assert (empty["last"], other["last"], busy.status_code) == (None, None, 409)
    assert (newest_order["step"], newest_order["state"], newest_order["result"]) == (
        "figures-estimate",
        "done",
        {"figures": 3},
    )
    assert option.status_code == 422


async def test_whoever_may_write_some_workspaces_orders_none() -> None:
    app = QueryHarness().app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, WRITER, "w") as api:
        answer = await api.post("/operations/figures/describe", json={})
    assert answer.status_code == 403
