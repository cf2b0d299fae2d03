"""Odd counts of tokens: marker words by the `usage` of the answer."""

from collections.abc import Mapping
from typing import Any

from tests.support.misbehaving_provider.prompts import Prompt

COMPLETION = 20
_DETAILED = {"prompt_tokens": 5000, "completion_tokens": COMPLETION, "total_tokens": 5020}

ODD: Mapping[str, Any] = {
    "ZZUSAGEFRACTION": {"prompt_tokens": 50.5, "completion_tokens": 20.25, "total_tokens": 70.75},
    "ZZUSAGETEXT": {"prompt_tokens": "50", "completion_tokens": "many", "total_tokens": "70"},
    "ZZUSAGEOBJECT": {"prompt_tokens": {"text": 50}, "completion_tokens": {"text": 20}},
    "ZZUSAGEHUGE": {"prompt_tokens": 2**70, "completion_tokens": 2**64, "total_tokens": 2**71},
    "ZZUSAGENEGATIVE": {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6},
    "ZZUSAGEBOOLEAN": {"prompt_tokens": True, "completion_tokens": False},
    "ZZUSAGENULL": None,
    "ZZUSAGELIST": [50, 20],
    "ZZUSAGEWORD": "70 tokens",
    "ZZUSAGEDETAILS": {
        **_DETAILED,
        "prompt_tokens_details": [1],
        "completion_tokens_details": "none",
    },
}


def usage_of(prompt: Prompt, tokens: int) -> Any:
    """Return the `usage` of the answer to a prompt of so many tokens."""
    usage = {
        "prompt_tokens": tokens,
        "completion_tokens": COMPLETION,
        "total_tokens": tokens + COMPLETION,
    }
    return next((ODD[marker] for marker in sorted(prompt.markers & ODD.keys())), usage)
