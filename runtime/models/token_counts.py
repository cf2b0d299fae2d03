"""Reads the token counts of an answer. What is no count is 0: a paid answer is never lost for
it.
"""

from typing import Any

from contracts.values import TokenUsage
from runtime.models.chat_answers import field

MOST = 2**53
"""Tokens of one call that are believed; whoever reports more counts something else."""


def count_of(value: Any) -> int:
    """Return the value if it is a count, a whole number from 0 to `MOST`; else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= MOST and value == int(value) else 0


def usage_of_chat(usage: Any) -> TokenUsage:
    """Return the counts of one call of a language model; providers leave any part of them out."""
    prompt = count_of(field(usage, "prompt_tokens"))
    details = field(usage, "prompt_tokens_details")
    return TokenUsage(
        prompt=prompt,
        completion=count_of(field(usage, "completion_tokens")),
        cached=min(prompt, count_of(field(details, "cached_tokens"))),
        calls=1,
    )
