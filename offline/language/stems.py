"""Stems of words, so that `founder` and `founded` count as one word."""

from functools import lru_cache

_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ions",
    "ion",
    "ers",
    "er",
    "ors",
    "or",
    "ied",
    "ies",
    "ed",
    "es",
    "en",
    "e",
    "s",
    "y",
)

_SHORTEST_STEM = 3


@lru_cache(maxsize=1 << 16)
def stem(form: str) -> str:
    """Return a word without its English ending, roughly: `founder`, `founded` and `founding` become
    one.
    """
    if not form.isascii():
        return form
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
    return form[:-1] if len(form) > _SHORTEST_STEM + 1 and form[-1] == form[-2] else form
