"""Sums over the ledger, by day, document, stage or model."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Literal, get_args

from runtime.costs.port import CostEntry
from runtime.costs.prices import Prices

Grouping = Literal["day", "document", "stage", "model"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)

Kind = tuple[str, str, str, bool, bool, bool]
"""What entries have in common that can be added up."""

CENT_FRACTION = Decimal("0.000001")
"""The unit that money is rounded to when it is shown."""


@dataclass
class CostSum:
    """What a group of entries sums up to. `money` is that of models with a price; None when no
    model has one.

    `batch_calls` are those of the calls that were lines of batches. `unpriced` are the tokens of
    models without a price. What cached results saved is in the fields of that name.
    """

    calls: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0
    money: Decimal | None = None
    unpriced: int = 0
    saved_results: int = 0
    saved_tokens: int = 0
    saved_money: Decimal | None = None
    batch_calls: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens that were paid for."""
        return self.prompt + self.completion

    def add(self, entry: CostEntry, prices: Prices) -> None:
        """Add one entry."""
        tokens = (entry.prompt, entry.cached, entry.completion)
        money = prices.money(entry.model, *tokens, in_batch=entry.in_batch)
        if entry.saved:
            self.saved_results += entry.count
            self.saved_tokens += entry.prompt + entry.completion
            self.saved_money = _sum(self.saved_money, money)
            return
        self.calls += entry.calls
        self.batch_calls += entry.calls if entry.in_batch else 0
        self.prompt += entry.prompt
        self.cached += entry.cached
        self.completion += entry.completion
        self.seconds += entry.milliseconds / 1000
        self.money = _sum(self.money, money)
        self.unpriced += entry.prompt + entry.completion if money is None else 0

    def without(self, part: "CostSum") -> "CostSum":
        """Return what is left of it without a part of it, no number less than nothing: between two
        readings the part may have grown.
        """
        remainder = CostSum()
        for field in fields(self):
            whole_value, part_value = getattr(self, field.name), getattr(part, field.name)
            if whole_value is not None:
                difference = whole_value - (part_value or 0)
                setattr(remainder, field.name, max(difference, 0 * difference))
        return remainder

    def as_json(self) -> dict[str, object]:
        """Return the fields as JSON has them, money as a number."""
        return {field.name: _shown(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class CostReport:
    """The sum of a workspace, and of each group, by its name, in order."""

    total: CostSum
    groups: dict[str, CostSum]


async def cost_report(
    entries: AsyncIterator[CostEntry], prices: Prices, by: Grouping | None = None
) -> CostReport:
    """Sum all entries up, and those with the same value of `by`."""
    total = CostSum()
    groups = dict[str, CostSum]()
    async for entry in entries:
        total.add(entry, prices)
        if by:
            groups.setdefault(getattr(entry, by), CostSum()).add(entry, prices)
    return CostReport(total, dict(sorted(groups.items())))


async def document_report(
    sums: AsyncIterator[CostEntry],
    entries: AsyncIterator[CostEntry],
    documents: Sequence[str],
    prices: Prices,
) -> CostReport:
    """Sum all up from `sums`, and each of these documents from its `entries`, in their order; those
    that have cost nothing are left out. The group without a name has the rest.
    """
    total = (await cost_report(sums, prices)).total
    of_documents = await cost_report(entries, prices, "document")
    groups = {id: of_documents.groups[id] for id in documents if id in of_documents.groups}
    remainder = total.without(of_documents.total)
    if remainder.calls or remainder.tokens or remainder.saved_results:
        groups[""] = remainder
    return CostReport(total, groups)


def summed_entries(entries: Iterable[CostEntry]) -> list[CostEntry]:
    """Return an entry for each day, stage, model and price that adds up to all of these, in order.

    Of no document, and without a place in the log.
    """
    sums: dict[Kind, CostEntry] = {}
    for entry in entries:
        kind = _kind(entry)
        before = sums.get(kind)
        sums[kind] = (
            replace(entry, document="", sequence=0) if before is None else _together(before, entry)
        )
    return [sums[kind] for kind in sorted(sums)]


def _kind(entry: CostEntry) -> Kind:
    # No entry costs less than nothing: one with more cached tokens than tokens is not added to
    # others.
    has_more_cached = entry.cached > entry.prompt
    return entry.day, entry.stage, entry.model, entry.saved, entry.in_batch, has_more_cached


def _together(total: CostEntry, entry: CostEntry) -> CostEntry:
    return replace(
        total,
        prompt=total.prompt + entry.prompt,
        cached=total.cached + entry.cached,
        completion=total.completion + entry.completion,
        calls=total.calls + entry.calls,
        milliseconds=total.milliseconds + entry.milliseconds,
        count=total.count + entry.count,
    )


def _sum(before: Decimal | None, addend: Decimal | None) -> Decimal | None:
    return before if addend is None else (before or Decimal(0)) + addend


def _shown(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value.quantize(CENT_FRACTION))
    return round(value, 3) if isinstance(value, float) else value
