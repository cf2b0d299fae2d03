"""Asks, before a language model is paid, whether the workspace's budget allows it."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from contracts.graph import Partition
from contracts.values import TokenUsage
from runtime.bus.port import LiveGenerations, Log
from runtime.concurrency.key_locks import KeyLocks
from runtime.costs.budget import BudgetUse, budget_use, read_budget
from runtime.costs.port import CostEntry, Ledger
from runtime.costs.prices import Prices
from runtime.errors import BudgetSpent, NotWanted, Retryable
from runtime.models.call_scope import call_scope, calls_for
from runtime.models.chat_proxy import ChatProxy
from runtime.models.port import Chat, Completion, Message

LOOK_AGAIN = 2.0
"""Least number of seconds between two looks at the budget of a workspace."""

READING_SHARE = 20
"""The ledger is read again after so many times the seconds that the last reading took."""


@dataclass
class _Known:
    use: BudgetUse | None
    until: float


def _nothing_reserved(_: str) -> Iterable[CostEntry]:
    return ()


@dataclass
class BudgetGuard:
    """Knows what is spent: by the ledger, when it was last read, and by the calls of this process
    since. `reservations` returns what calls of a workspace are expected to cost that are under way
    for hours.
    """

    log: Log
    pointers: LiveGenerations
    ledger: Ledger
    prices: Prices
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    look_again: float = LOOK_AGAIN
    reading_share: int = READING_SHARE
    reservations: Callable[[str], Iterable[CostEntry]] = _nothing_reserved
    _budgets: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _locks: KeyLocks = field(default_factory=KeyLocks)

    async def check(self, workspace: str) -> None:
        """Return if something may be paid for this workspace now. Raises `BudgetSpent`, or what
        reading raises.
        """
        async with self._locks.hold([workspace]):
            budget = self._budgets.get(workspace)
            if budget is None or time.monotonic() >= budget.until:
                budget = self._budgets[workspace] = await self._read(workspace)
        if budget.use and (reason := self._with_reserved(workspace, budget.use).exceeded):
            raise BudgetSpent(reason)

    def note(self, workspace: str, model: str, completion: Completion) -> None:
        """Count a call of this process, which the ledger does not know yet."""
        budget = self._budgets.get(workspace)
        usage = completion.usage
        if budget and budget.use:
            for entry in entries_of(model, usage):
                budget.use.spent_costs.add(entry, self.prices)

    def _with_reserved(self, workspace: str, use: BudgetUse) -> BudgetUse:
        costs = replace(use.spent_costs)
        for entry in self.reservations(workspace):
            costs.add(entry, self.prices)
        return replace(use, spent_costs=costs)

    async def _read(self, workspace: str) -> _Known:
        started_at = time.monotonic()
        budget = await read_budget(self.log, workspace, exact=False)
        use = None
        if budget:
            partition = Partition(workspace, (await self.pointers.live("status")).status)
            use = await budget_use(budget, self.ledger.sums(partition), self.prices, self.now())
        ended_at = time.monotonic()
        return _Known(
            use, ended_at + max(self.look_again, self.reading_share * (ended_at - started_at))
        )


def entries_of(model: str, usage: TokenUsage) -> list[CostEntry]:
    """Return the entries of what was paid, or will be, at the price of calls and at that of
    batches.
    """
    single, batch = usage.by_price()
    return [
        CostEntry(
            "", "", "", model, 0, part.prompt, part.cached, part.completion, in_batch=part is batch
        )
        for part in (single, batch)
        if part.prompt or part.completion
    ]


class BudgetedChat(ChatProxy):
    """`Chat` that raises `BudgetSpent` instead of a call that the budget does not allow; streams
    pass.
    """

    def __init__(self, chat: Chat, guard: BudgetGuard) -> None:
        super().__init__(chat)
        self._guard = guard

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """See `Chat.complete`. The budget is asked when the call's turn comes, for it may have
        waited for long.
        """
        scope = call_scope()
        refusals = list[Retryable]()

        async def wanted() -> bool:
            try:
                await self._guard.check(scope.workspace)
            except Retryable as error:
                # raised here it would count as a failure of the model's provider
                refusals.append(error)
                return False
            return await scope.is_wanted()

        await self._guard.check(scope.workspace)
        with calls_for(scope.workspace, wanted):
            try:
                completion = await self._chat.complete(messages, json=json)
            except NotWanted:
                if refusals:
                    raise refusals[-1] from None
                raise
        self._guard.note(scope.workspace, self.model, completion)
        return completion
