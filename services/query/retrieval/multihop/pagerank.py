"""Personalised PageRank over a small graph."""

from collections.abc import Mapping, Sequence

import numpy as np

DAMPING = 0.5
ROUNDS = 15


def pagerank(
    edges: Sequence[tuple[str, str, float]],
    seeds: Mapping[str, float],
    damping: float = DAMPING,
    rounds: int = ROUNDS,
) -> dict[str, float]:
    """How often a walk stands at each node that goes on along directed, weighted edges with probability `damping`.

    Else it jumps back to a seed, by the seeds' weights (Page et al., 1999; Haveliwala, 2002). A node without a way on
    jumps too. Weights are positive, and need not add up to anything. The scores add up to 1; without seeds there are
    none.
    """
    total = sum(seeds.values())
    if not total:
        return {}
    numbers = {name: n for n, name in enumerate(dict.fromkeys([*seeds, *(end for edge in edges for end in edge[:2])]))}
    sources = np.array([numbers[source] for source, _, _ in edges], np.int64)
    targets = np.array([numbers[target] for _, target, _ in edges], np.int64)
    weights = np.array([weight for _, _, weight in edges], np.float64)
    leaving = np.bincount(sources, weights, len(numbers))
    shares = weights / leaving[sources]
    start = np.zeros(len(numbers))
    for name, weight in seeds.items():
        start[numbers[name]] = weight / total
    scores = start
    for _ in range(rounds):
        onward = damping * np.bincount(targets, shares * scores[sources], len(numbers))
        scores = onward + (1.0 - onward.sum()) * start
    return {name: float(scores[n]) for name, n in numbers.items()}
