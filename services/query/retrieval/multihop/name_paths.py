"""Paths that lead from the names of a question only onward, to what defines the thing named last.

What a chain of names needs is near them, though a question has few words of those passages. The search over all ways
fills its places with what has more of its words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.path_search import Path, search_paths
from services.query.retrieval.multihop.starts import named_starts
from services.query.retrieval.passage_index.index import ONWARD, PassageIndex
from services.query.retrieval.ranking import interleave

Array = Any

BEAM_WIDTH = 12
"""Paths that are kept after each step; a name has fewer ways onward than there are ways at all."""
SHARPNESS = 10.0
"""A passage counts by all paths that it is on, e to `SHARPNESS` times the value of each."""


def name_paths(
    index: PassageIndex, found: Evidence, links: Sequence[Link], sources: Mapping[str, Sequence[str]], allowed: Array
) -> list[list[Path]]:
    """Return the paths from each link that has any, the best first. See `starts` for `sources`."""
    starting = [named_starts(index, found, [link], sources, allowed) for link in links]
    paths = [search_paths(index, found, some, allowed, (ONWARD,), BEAM_WIDTH) for some in starting]
    return [some for some in paths if some]


def by_name_paths(by_link: Sequence[Sequence[Path]]) -> list[int]:
    """Return the passages on these paths, the best of each link in turn."""
    return interleave(*map(_ranked, by_link), key=int)


def _ranked(paths: Sequence[Path]) -> list[int]:
    sums: dict[int, float] = {}
    for path in paths:
        for passage in path.passages:
            sums[passage] = float(np.logaddexp(sums.get(passage, -np.inf), SHARPNESS * path.value))
    return sorted(sums, key=lambda passage: -sums[passage])
