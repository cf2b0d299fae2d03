"""The budget of a workspace: the newest BudgetSet in its log, held against its ledger."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from contracts.envelope import Envelope, wrap
from contracts.events import BUDGET, BudgetSet, Event
from contracts.ids import event_id, sha256
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.costs.port import CostEntry
from runtime.costs.prices import Prices
from runtime.costs.report import CostSum
from runtime.errors import Poison


@dataclass
class BudgetUse:
    """A budget, and what was spent of it in its period."""

    budget: BudgetSet
    spent_costs: CostSum
    currency: str

    @property
    def exceeded(self) -> str:
        """Return a sentence when a limit is reached, else an empty text."""
        budget = self.budget
        money = self.spent_costs.money or Decimal(0)
        period = "" if budget.period == "total" else f" a {budget.period}"
        if budget.money is not None and money >= Decimal(str(budget.money)):
            return f"the budget of {budget.money:g} {self.currency}{period} is spent ({money:.4f})"
        if budget.tokens is not None and self.spent_costs.tokens >= budget.tokens:
            spent_tokens = f"{self.spent_costs.tokens:,}"
            return f"the budget of {budget.tokens:,} tokens{period} is spent ({spent_tokens})"
        return ""


async def read_budget(log: Log, workspace: str, *, exact: bool = True) -> BudgetSet | None:
    """Return the budget; None where none is set. Without `exact` it may be some moments old. Raises
    `Unavailable`.
    """
    message = await log.newest(workspace, BUDGET, BudgetSet.type_name(), exact=exact)
    if message is None:
        return None
    try:
        event = decode(message.data, message.subject, message.headers).data
    except Poison:
        return None
    return event if isinstance(event, BudgetSet) and event.is_limit else None


async def set_budget(log: Log, *, workspace: str, budget: BudgetSet, source: str) -> int:
    """Publish the budget, and return its sequence in the log. Raises `Unavailable`."""
    newest_budget = await log.newest(workspace, BUDGET, budget.type_name())
    before = newest_budget.sequence if newest_budget else 0
    envelope: Envelope[Event] = wrap(
        budget,
        id=event_id(
            f"{workspace}/{BUDGET}/{before}/{sha256(budget.model_dump_json())}", budget.type_name()
        ),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return await log.publish(envelope)


async def budget_use(
    budget: BudgetSet, entries: AsyncIterator[CostEntry], prices: Prices, now: datetime
) -> BudgetUse:
    """Return what was spent of the budget in the period that `now` is in. Questions are not in
    it.
    """
    spent_costs = CostSum()
    start = period_start(budget, now)
    async for entry in entries:
        if entry.day >= start and not entry.of_question:
            spent_costs.add(entry, prices)
    return BudgetUse(budget, spent_costs, prices.currency)


def period_start(budget: BudgetSet, now: datetime) -> str:
    """Return the first day of the period that `now` is in; empty for all days."""
    starts = {"total": "", "month": f"{now:%Y-%m}-01", "day": f"{now:%Y-%m-%d}"}
    return starts[budget.period]
