"""Personalised PageRank over a small graph."""

from typing import Any

import numpy as np

DAMPING = 0.5
ROUNDS = 15

Array = Any


def pagerank(
    sources: Array, targets: Array, weights: Array, seeds: Array, damping: float = DAMPING, rounds: int = ROUNDS
) -> Array:
    """How often a walk stands at each node that goes on along directed, weighted edges with probability `damping`.

    Else it jumps back to a seed, by the seeds' weights (Page et al., 1999; Haveliwala, 2002). A node without a way on
    jumps too. `sources`, `targets`: numbers of nodes, one each per edge; `seeds`: one weight per node. Weights of edges
    are positive, and need not add up to anything. The scores add up to 1; without seeds all are 0.
    """
    total = seeds.sum()
    if not total:
        return seeds
    count, start = len(seeds), seeds / total
    shares = damping * weights / np.bincount(sources, weights, count)[sources]
    scores = start
    for _ in range(rounds):
        onward = np.bincount(targets, shares * scores[sources], count)
        scores = onward + (1.0 - onward.sum()) * start
    return scores
