"""Words of about the same meaning, so that what a question calls a spouse is found where a passage
says "married".

The table is made by `benchmarks/similar_words.py` from the vocabulary and the vectors of the
packaged embedder, for English words that are frequent there. It is read once; no model is asked,
whichever embedder a workspace has.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("similar_words.txt")
"""A line per stem: the stem, then similar ones, each followed by its likeness in percent."""


@lru_cache(maxsize=1 << 12)
def similar_words(stem: str) -> Mapping[str, float]:
    """Return the stems most similar to this one with their likeness, below 1; none for a word that
    is not known.
    """
    fields = _lines().get(stem, "").split()
    likeness_by_stem: dict[str, float] = {}
    for other, percent in zip(fields[::2], fields[1::2], strict=True):
        likeness_by_stem[other] = int(percent) / 100
    return likeness_by_stem


@cache
def _lines() -> Mapping[str, str]:
    """Return the rest of each line by its stem; lines are split when they are asked for."""
    rest_by_stem: dict[str, str] = {}
    for line in TABLE.read_text("ascii").splitlines():
        stem, _, rest = line.partition(" ")
        rest_by_stem[stem] = rest
    return rest_by_stem
