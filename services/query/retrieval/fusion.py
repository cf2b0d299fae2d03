"""Fusion of rankings."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

DEFAULT_K = 60
"""The constant k: the greater, the less the first ranks of a list stand out."""


def reciprocal_rank_fusion(*lists: tuple[Sequence[T], float], k: int = DEFAULT_K) -> list[T]:
    """Return items by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) of weighted
    rankings.
    """
    scores: dict[T, float] = {}
    for items, weight in lists:
        for rank, item in enumerate(items, 1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores, key=lambda item: -scores[item])
