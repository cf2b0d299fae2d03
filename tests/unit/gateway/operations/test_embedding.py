"""The embedding model of a workspace over HTTP: what was chosen, an estimate, then the order."""

from dataclasses import replace

from runtime.bus.generations import OwnGeneration
from runtime.projections.operator_orders import OrderOutcome, write_outcome
from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.operations import MemoryOperatorProcess
from tests.support.querying import QueryHarness


async def test_an_estimate_and_the_order_itself_are_those_of_the_workspace() -> None:
    harness = QueryHarness()
    operator = harness.operations.rebuilds.operator
    assert isinstance(operator, MemoryOperatorProcess)
    async with client(harness.app()) as api:
        body = {"model": "multilingual", "reason": "German"}
        answer = await api.post("/operations/embedding/estimate", json=body)
        (order,) = operator.orders
        assert answer.json() == {"id": order.id, "step": "embedding-estimate"}
        assert (order.workspace, order.embedding_model) == ("w", "multilingual")
        assert (order.task, order.reason, order.who) == ("embedding", "German", "anyone")
        busy = await api.post("/operations/embedding/set", json={})
        outcome = OrderOutcome(order, "done", "then", "later", result={"texts": 3})
        await write_outcome(harness.operations.rebuilds.values, outcome)
        status = (await api.get("/operations/embedding")).json()
        option = await api.post("/operations/embedding/set", json={"model": "--yes"})
    assert (busy.status_code, option.status_code) == (409, 422)
    assert status["choices"] == ["minilm", "minilm-floats", "multilingual", "lexical"]
    assert (status["last"]["step"], status["last"]["result"]) == (
        "embedding-estimate",
        {"texts": 3},
    )


async def test_the_order_says_whether_worse_answers_are_accepted() -> None:
    for accepts_worse in (False, True):
        harness = QueryHarness()
        operator = harness.operations.rebuilds.operator
        assert isinstance(operator, MemoryOperatorProcess)
        async with client(harness.app()) as api:
            body = {"model": "multilingual", "accept_worse": accepts_worse}
            assert (await api.post("/operations/embedding/set", json=body)).status_code == 202
        assert operator.orders[0].accept_worse == accepts_worse


async def test_the_model_of_a_workspace_is_told_for_its_branches_too() -> None:
    harness = QueryHarness()
    pointers, revision = await harness.pointers.read()
    own_generations = {"w": OwnGeneration(4, "multilingual")}
    vectors = replace(pointers["vectors"], highest=4, own_generations=own_generations)
    await harness.pointers.write({**pointers, "vectors": vectors}, revision)
    states: dict[str, tuple[str, int]] = {}
    async with client(harness.app()) as api:
        for workspace in ("w", "w..small", "other"):
            headers = {"X-Workspace": workspace}
            status = (await api.get("/operations/embedding", headers=headers)).json()
            states[workspace] = status["chosen_model"], status["generation"]
    assert states == {
        "w": ("multilingual", 4),
        "w..small": ("multilingual", 4),
        "other": ("", 1),
    }


async def test_whoever_may_write_some_workspaces_orders_none() -> None:
    app = QueryHarness().app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, WRITER, "w") as api:
        answer = await api.post("/operations/embedding/set", json={"model": "multilingual"})
    assert answer.status_code == 403
