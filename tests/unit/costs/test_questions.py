"""What a question cost is an event apart, published once its answer has ended, and counted once."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from contracts.envelope import Envelope
from contracts.events import BudgetSet, Event, QuestionCost, QuestionsCharged
from contracts.graph import Partition
from contracts.values import TokenUsage
from runtime.bus.codec import decode
from runtime.costs.budget import budget_use
from runtime.costs.ledger import RowLedger
from runtime.costs.prices import Prices
from runtime.costs.report import cost_report
from runtime.errors import Unavailable, Undecodable
from runtime.models.call_scope import PaidCall, calls_to, note_paid
from services.gateway.dependencies import provided
from services.query.charges import Charges, charged_to
from tests.support.events import NOON, delivered
from tests.support.querying import LIVE, QueryHarness, library_of_two

QUESTION = {"query": "Who discovered radium?"}
USAGE = TokenUsage(prompt=30, completion=4, cached=10, calls=1)


class PaidEmbedder:
    """An embedder that is paid, first for keywords and then for itself."""

    def __init__(self, harness: QueryHarness) -> None:
        self._embed = harness.embedder.embed

    async def __call__(self, texts: Any) -> Any:
        with calls_to("keywords"):
            note_paid("chat", "m", USAGE, 0.25)
        note_paid("embeddings", "vectors", TokenUsage(prompt=5, calls=1), 0.5)
        return await self._embed(texts)


async def asked(
    harness: QueryHarness, path: str = "/query", *, is_paid: bool = True, times: int = 1
) -> httpx.Response:
    deps = harness.deps(embed=PaidEmbedder(harness)) if is_paid else harness.deps()
    app = harness.app(answering=deps)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api") as api:
        for _ in range(times):
            answer = await api.post(
                path, json={**QUESTION, "mode": "naive"}, headers={"X-Workspace": "Harbour.2"}
            )
    charges = provided(app, Charges)
    assert charges is not None
    await charges.publish()
    return answer


@pytest.mark.parametrize("path", ["/query", "/query/stream", "/query/data"])
async def test_requests_that_paid_models_publish_one_event(path: str) -> None:
    harness = await library_of_two()
    assert (await asked(harness, path, times=2)).status_code == 200
    (message,) = harness.log.messages
    assert message.subject.startswith("kb.v1.x-questions.x-") and message.subject.endswith(
        ".QuestionsCharged"
    )
    envelope: Envelope[Event] = decode(message.data, message.subject)
    event = envelope.data
    assert isinstance(event, QuestionsCharged) and envelope.workspace == "Harbour.2"
    assert [(cost.step, cost.model) for cost in event.costs] == [
        ("embedding", "vectors"),
        ("keywords", "m"),
    ]
    assert event.costs[1].usage.prompt == 30 * event.costs[1].usage.calls
    assert "radium" not in message.data.decode()
    # What looks for changes in the workspace meets none: its cached answers stay.
    assert await harness.log.last("Harbour.2") == 0


async def test_a_request_that_paid_nothing_publishes_nothing() -> None:
    harness = await library_of_two()
    assert (await asked(harness, is_paid=False)).status_code == 200
    assert harness.log.messages == []


async def test_what_a_log_does_not_take_fails_no_answer_and_is_published_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = await library_of_two()

    async def publish(*_: Any) -> int:
        raise Unavailable("KB_EVENTS is full")

    with monkeypatch.context() as patch:
        patch.setattr(harness.log, "publish", publish)
        assert (await asked(harness)).status_code == 200
    assert harness.log.messages == []
    charges = Charges(harness.log)
    with monkeypatch.context() as patch:
        patch.setattr(harness.log, "publish", publish)
        charges.note([PaidCall("w", "chat", "m", USAGE, 0.25)])
        await charges.publish()
    charges.note([PaidCall("w", "rerank", "m", USAGE, 0.25)])
    await charges.publish()
    assert len(harness.log.messages) == 2


async def test_what_a_command_pays_is_charged_to_its_workspace_although_it_fails() -> None:
    harness = QueryHarness()
    with pytest.raises(Unavailable, match="the store is away"):
        async with charged_to("Harbour.2", harness.log):
            note_paid("embeddings", "vectors", USAGE, 0.5)
            note_paid("chat", "m", USAGE, 0.25)
            raise Unavailable("the store is away")
    async with charged_to("Harbour.2", harness.log):
        pass
    (message,) = harness.log.messages
    envelope: Envelope[Event] = decode(message.data, message.subject)
    assert envelope.workspace == "Harbour.2" and isinstance(envelope.data, QuestionsCharged)
    assert [(cost.step, cost.model) for cost in envelope.data.costs] == [
        ("answer", "m"),
        ("embedding", "vectors"),
    ]


def charged(*steps: Any) -> QuestionsCharged:
    return QuestionsCharged(
        costs=tuple(
            QuestionCost(step=step, model="m", usage=USAGE, duration_ms=100) for step in steps
        )
    )


async def test_repeats_and_order_change_nothing_and_no_budget_has_it() -> None:
    harness = QueryHarness()
    first = delivered(charged("keywords", "answer"), 1, id="a")
    second = delivered(charged("rerank"), 2, id="b")
    for delivery in (second, first, replace(first, sequence=9), second):
        await harness.project(delivery)
    ledger = RowLedger(harness.rows)
    here = Partition("w", LIVE.status)
    report = await cost_report(ledger.entries(here), Prices(), "stage")
    assert {name: group.tokens for name, group in report.groups.items()} == {
        "query-answer": 34,
        "query-keywords": 34,
        "query-rerank": 34,
    }
    assert (report.total.calls, round(report.total.seconds, 3)) == (3, 0.3)
    use = await budget_use(BudgetSet(tokens=1), ledger.entries(here), Prices(), NOON)
    assert (use.spent_costs.tokens, use.exceeded) == (0, "")


def test_only_its_own_subject_says_whose_it_is() -> None:
    envelope = delivered(charged("answer"), 1, workspace="w").envelope
    data = envelope.model_dump_json(exclude_none=True).encode()
    assert decode(data, "kb.v1.x-questions.w.QuestionsCharged").workspace == "w"
    for subject in ("kb.v1.x-questions.v.QuestionsCharged", "kb.v1.x-questions.w.BudgetSet"):
        with pytest.raises(Undecodable):
            decode(data, subject)
