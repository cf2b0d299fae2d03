"""Prices of models: what a number of tokens costs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, cast

CURRENCY = "USD"
"""The currency of prices that name none."""

_MILLION = Decimal(1_000_000)
_KINDS = ("prompt", "cached", "completion")

BATCH = "batch"
BATCH_SHARE = Decimal("0.5")
"""The field of a price that says which part of it a batch costs, and that part where it says
nothing.
"""


@dataclass(frozen=True)
class Price:
    """The price of a million tokens of each kind; `cached`: of prompt tokens that the provider had
    cached.
    """

    prompt: Decimal = Decimal(0)
    cached_prompt: Decimal = Decimal(0)
    completion: Decimal = Decimal(0)
    batch_share: Decimal = BATCH_SHARE
    """The part of these prices that the same tokens cost in a batch."""


@dataclass(frozen=True)
class Prices:
    """Prices by model, all in one currency."""

    of: Mapping[str, Price] = field(default_factory=dict[str, Price])
    currency: str = CURRENCY

    def money(
        self,
        model: str,
        prompt: int,
        cached_tokens: int,
        completion: int,
        *,
        in_batch: bool = False,
    ) -> Decimal | None:
        """Return what these tokens cost; None for a model without a price. `prompt` includes
        `cached`.
        """
        price = self.of.get(model)
        if price is None:
            return None
        uncached_tokens = max(0, prompt - cached_tokens)
        money = (
            uncached_tokens * price.prompt
            + cached_tokens * price.cached_prompt
            + completion * price.completion
        ) / _MILLION
        return money * price.batch_share if in_batch else money


def parse_prices(text: str) -> Prices:
    """Return the prices in a JSON object: model → {"prompt", "cached", "completion", "currency"}.

    Prices are per million tokens. Without `cached` cached tokens cost what others do; without
    `completion` nothing, as at an embedding model. `batch` is the part of them that the same tokens
    cost in a batch, half without it. Raises ValueError with the reason.
    """
    if not text.strip():
        return Prices()
    try:
        table = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    except json.JSONDecodeError as error:
        raise ValueError(f"prices must be a JSON object by model: {error}") from None
    if not isinstance(table, dict):
        raise ValueError("prices must be a JSON object by model")
    prices: dict[str, Price] = {}
    currencies: set[str] = set()
    for model, values in cast("dict[str, Any]", table).items():
        if not isinstance(values, dict):
            raise ValueError(
                f"the price of {model!r:.60} must be an object with `prompt` and `completion`"
            )
        fields = cast("dict[str, Any]", values)
        allowed_fields = (*_KINDS, BATCH, "currency")
        if unknown_fields := fields.keys() - set(allowed_fields):
            raise ValueError(
                f"the price of {model!r:.60} has the unknown field {min(unknown_fields)!r:.60}; "
                f"there are {', '.join(allowed_fields)}"
            )
        currencies.add(str(fields.get("currency", CURRENCY)))
        prompt = _amount(model, fields.get("prompt", 0))
        prices[model] = Price(
            prompt,
            _amount(model, fields.get("cached", prompt)),
            _amount(model, fields.get("completion", 0)),
            _amount(model, fields.get(BATCH, BATCH_SHARE)),
        )
    if len(currencies) > 1:
        raise ValueError(f"prices must have one currency, not {', '.join(sorted(currencies))}")
    return Prices(prices, next(iter(currencies), CURRENCY))


def _amount(model: str, value: object) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"a price of {model!r:.60} is not a number of at least 0")
    return amount
