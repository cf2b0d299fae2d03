"""What is no count is 0, so that no paid answer is lost for it."""

import math
from typing import Any

import pytest

from contracts.values import TokenUsage
from runtime.models.token_counts import count_of, usage_of_chat

ODD: list[Any] = [1.5, "12", None, True, -1, 2**70, 1e300, math.nan, math.inf, [1], {"a": 1}]


@pytest.mark.parametrize("value", ODD)
def test_what_is_no_count_is_0(value: Any) -> None:
    assert count_of(value) == 0
    usage = {
        "prompt_tokens": value,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": value},
    }
    assert usage_of_chat(usage) == TokenUsage(completion=3, calls=1)
    assert usage_of_chat(value) == TokenUsage(calls=1)
    assert usage_of_chat({"prompt_tokens_details": value}) == TokenUsage(calls=1)


def test_a_count_is_a_count() -> None:
    assert (count_of(12), count_of(12.0), count_of(0)) == (12, 12, 0)
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 5},
    }
    assert usage_of_chat(usage) == TokenUsage(prompt=7, completion=2, cached=5, calls=1)
