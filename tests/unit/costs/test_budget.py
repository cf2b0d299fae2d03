"""Budgets: nothing is paid beyond them, what waits goes on when they are raised, and nobody else
waits with it.
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.events import BudgetSet
from contracts.values import TokenUsage
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.costs.budget import period_start, read_budget, set_budget
from runtime.costs.budgeted_chat import BudgetedChat, BudgetGuard
from runtime.costs.ledger import RowLedger
from runtime.costs.port import CostEntry
from runtime.costs.prices import parse_prices
from runtime.errors import BudgetSpent, NotWanted, RateLimited, Retryable, Unavailable, longest_wait
from runtime.models.call_scope import call_scope, calls_for
from runtime.models.port import Completion, Message
from runtime.stores.documents.memory import MemoryRows
from tests.unit.costs.test_ledger import HERE

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
ASK = [Message("user", "?")]


class PaidChat:
    """A model whose calls take 60 tokens; it looks at the scope when the turn has come, as the real
    one.
    """

    model = "m"

    def __init__(self) -> None:
        self.calls = 0
        self.before: Any = None
        self.failed: Any = None

    async def complete(self, messages: Any, *, json: bool = False) -> Completion:
        if self.before:
            await self.before()
        try:
            if not await call_scope().is_wanted():
                raise NotWanted("not wanted")
        except Retryable as error:
            self.failed(error)  # what the rate limiter counts as a failure of the provider
            raise
        self.calls += 1
        return Completion("text", TokenUsage(prompt=50, completion=10, calls=1))

    async def close(self) -> None: ...


class Harness:
    """A model behind the budget of the workspace `w`, which is looked at before every call."""

    def __init__(self, look_again: float = 0.0) -> None:
        self.log, self.ledger, self.inner = MemoryLog(), RowLedger(MemoryRows()), PaidChat()
        prices = parse_prices('{"m": {"prompt": 1000, "completion": 5000}}')
        self.guard = BudgetGuard(
            self.log, MemoryLiveGenerations(), self.ledger, prices, lambda: NOW, look_again, 0
        )
        self.chat = BudgetedChat(self.inner, self.guard)

    async def limit(self, **limits: Any) -> None:
        await set_budget(self.log, workspace="w", budget=BudgetSet(**limits), source="tests")

    async def spent(self, id: str, tokens: int, day: str = "2026-03-14") -> None:
        await self.ledger.put(HERE, {id: CostEntry(day, "d", "extractor", "m", 1, prompt=tokens)})

    async def ask(self, workspace: str = "w") -> Completion:
        with calls_for(workspace):
            return await self.chat.complete(ASK)


async def test_without_a_budget_everything_is_paid() -> None:
    harness = Harness()
    await harness.spent("a", 10**9)
    await harness.ask()
    assert harness.inner.calls == 1


async def test_at_the_limit_nothing_is_paid_until_it_is_raised_or_cleared() -> None:
    harness = Harness()
    await harness.limit(tokens=100)
    await harness.spent("a", 100)
    with pytest.raises(BudgetSpent, match="budget of 100 tokens is spent"):
        await harness.ask()
    await harness.ask("another")
    await harness.limit(tokens=101)
    await harness.ask()
    await harness.limit(tokens=1)
    with pytest.raises(BudgetSpent):
        await harness.ask()
    await harness.limit()
    await harness.ask()
    assert harness.inner.calls == 3


async def test_money_counts_by_the_prices() -> None:
    harness = Harness()
    await harness.limit(money=0.5)
    await harness.spent("a", 499)
    await harness.ask()
    await harness.spent("b", 1)
    with pytest.raises(BudgetSpent, match=r"budget of 0\.5 USD is spent \(0\.5000\)"):
        await harness.ask()


async def test_what_this_process_pays_counts_before_the_ledger_knows_it() -> None:
    harness = Harness(look_again=3600.0)
    await harness.limit(tokens=100)
    await harness.ask()
    await harness.ask()
    with pytest.raises(BudgetSpent):
        await harness.ask()
    assert harness.inner.calls == 2


async def test_a_call_that_waited_for_its_turn_is_not_made_when_the_budget_is_spent_meanwhile() -> (
    None
):
    harness = Harness()
    await harness.limit(tokens=100)

    async def spend() -> None:
        await harness.spent("a", 100)

    harness.inner.before = spend
    with pytest.raises(BudgetSpent):
        await harness.ask()
    assert harness.inner.calls == 0


async def test_a_bus_that_is_silent_when_the_turn_comes_is_no_failure_of_the_provider() -> None:
    harness = Harness()
    log_newest = harness.log.newest
    failures = list[Exception]()

    async def silent(*_: object, **__: object) -> None:
        raise Unavailable("the bus does not answer")

    async def fall_silent() -> None:
        harness.log.newest = silent  # pyright: ignore[reportAttributeAccessIssue]

    harness.inner.before, harness.inner.failed = fall_silent, failures.append
    with pytest.raises(Unavailable, match="the bus does not answer"):
        await harness.ask()
    assert (harness.inner.calls, failures) == (0, [])
    harness.log.newest, harness.inner.before = log_newest, None
    await harness.ask()
    assert harness.inner.calls == 1


async def test_a_call_that_nobody_wants_is_still_said_to_be_that() -> None:
    harness = Harness()

    async def no() -> bool:
        return False

    with calls_for("w", no), pytest.raises(NotWanted):
        await harness.chat.complete(ASK)


@pytest.mark.parametrize(
    ("period", "start"), [("total", ""), ("month", "2026-03-01"), ("day", "2026-03-14")]
)
async def test_a_period_begins_anew_by_itself(period: Any, start: str) -> None:
    assert period_start(BudgetSet(period=period), NOW) == start
    harness = Harness()
    await harness.limit(tokens=100, period=period)
    await harness.spent("a", 100, "2026-02-28")
    if period == "total":
        with pytest.raises(BudgetSpent):
            await harness.ask()
        return
    await harness.ask()
    await harness.spent("b", 100, start)
    with pytest.raises(BudgetSpent, match=f"a {period} is spent"):
        await harness.ask()


async def test_the_newest_budget_counts_and_the_same_one_twice_is_two_events() -> None:
    harness = Harness()
    assert await read_budget(harness.log, "w") is None
    await harness.limit(tokens=5)
    await harness.limit(tokens=7, reason="more")
    budget = await read_budget(harness.log, "w")
    assert budget
    assert (budget.tokens, budget.reason) == (7, "more")
    await harness.limit()
    assert await read_budget(harness.log, "w") is None
    assert await read_budget(harness.log, "other") is None


def test_several_chunks_that_wait_for_the_budget_wait_for_nothing_else() -> None:
    assert isinstance(longest_wait([BudgetSpent("a"), BudgetSpent("b")], []), BudgetSpent)
    wait = longest_wait([BudgetSpent("a"), RateLimited("b", retry_after=3.0)], [])
    assert type(wait) is Retryable
    assert wait.retry_after == 3.0
