"""What a workspace may spend on models."""

from typing import Literal

from pydantic import Field

from contracts.events.base import Event

BUDGET = "_budget"
"""Aggregate id of the budget of a workspace."""

BudgetPeriod = Literal["total", "month", "day"]
"""Since when the money counts: since ever, this month, this day, both in UTC."""


class BudgetSet(Event):
    """Somebody set what a workspace may spend; what was set before no longer counts. Without a
    limit it is cleared.
    """

    money: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="in the currency of the prices"
    )
    tokens: int | None = Field(default=None, ge=0, description="read and written, of all models")
    period: BudgetPeriod = Field(
        default="total", description="`month` and `day` begin anew by themselves, in UTC"
    )
    reason: str = Field(default="", max_length=1000, description="why, in words of who set it")

    @property
    def aggregate_id(self) -> str:
        return BUDGET

    @property
    def is_limit(self) -> bool:
        """Return whether anything is limited."""
        return self.money is not None or self.tokens is not None
