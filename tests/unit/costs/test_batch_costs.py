"""What is extracted in batches has a price of its own, and is reserved in the budget before it is
paid.
"""

from decimal import Decimal

import pytest

from contracts.values import TokenUsage
from runtime.costs.budgeted_chat import entries_of
from runtime.costs.prices import parse_prices
from runtime.errors import BudgetSpent
from tests.support.events import delivered
from tests.unit.costs.test_budget import Harness
from tests.unit.costs.test_ledger import folded, reported, said

SINGLE = TokenUsage(prompt=1000, cached=400, completion=100, calls=1)


def test_batches_cost_half_unless_the_prices_say_another_part() -> None:
    prices = parse_prices('{"m": {"prompt": 2}, "n": {"prompt": 2, "batch": 0.4}}')
    assert prices.money("m", 1_000_000, 0, 0, in_batch=True) == Decimal(1)
    assert prices.money("n", 1_000_000, 0, 0, in_batch=True) == Decimal("0.8")
    assert prices.money("n", 1_000_000, 0, 0) == Decimal(2)
    with pytest.raises(ValueError, match="price"):
        parse_prices('{"m": {"prompt": 2, "batch": "half"}}')


async def test_the_ledger_counts_each_part_of_an_event_at_its_price() -> None:
    usage = SINGLE + SINGLE.as_batch()
    event = said(0).model_copy(update={"usage": usage})
    total = (await reported((await folded([[delivered(event, 2, id="e")]])).rows)).total
    assert (total.calls, total.batch_calls) == (2, 1)
    assert (total.prompt, total.cached, total.completion) == (2000, 800, 200)
    # (1,000 - 400) × 2 + 400 × 0.5 + 100 × 10 of a million, and half of it.
    assert total.money == Decimal("0.0024") * Decimal("1.5")
    assert total.seconds == 1.5


def test_counts_without_those_of_a_batch_are_those_of_single_calls() -> None:
    usage = SINGLE + SINGLE.as_batch()
    assert usage.by_price() == (SINGLE, SINGLE.as_batch())
    assert "batch" not in SINGLE.model_dump_json()


async def test_what_is_in_a_batch_is_reserved_in_the_budget() -> None:
    harness = Harness()
    await harness.limit(money=0.05)
    expected_usage = TokenUsage(prompt=80).as_batch()
    harness.guard.reservations = lambda workspace: entries_of("m", expected_usage)
    await harness.ask()
    expected_usage = TokenUsage(prompt=101).as_batch()
    with pytest.raises(BudgetSpent, match="is spent"):
        await harness.ask()
    harness.guard.reservations = lambda _: ()
    await harness.ask()
