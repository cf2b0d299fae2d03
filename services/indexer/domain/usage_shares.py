"""Shares what one call was counted among the events whose texts it embedded."""

from collections.abc import Sequence

from contracts.values import TokenUsage


def usage_shares(usage: TokenUsage, texts: Sequence[int]) -> list[TokenUsage]:
    """Return a share for each event, by its number of texts; together they are the whole usage.

    Tokens and calls are whole numbers: each event gets what falls to it and to those before it,
    less what those got. Where no event has a text the first gets everything.
    """
    weights = list(texts) if any(texts) else [1] * min(1, len(texts)) + [0] * (len(texts) - 1)
    total = sum(weights)
    before = 0
    shares = list[TokenUsage]()
    for weight in weights:
        usage_through = {
            name: value * (before + weight) // total for name, value in usage.model_dump().items()
        }
        usage_before = {name: value * before // total for name, value in usage.model_dump().items()}
        shares.append(
            TokenUsage(**{name: usage_through[name] - usage_before[name] for name in usage_through})
        )
        before += weight
    return shares
