"""Paths that lead from the names of a question only onward, to what defines the thing named last.

What a chain of names needs is near them, though a question has few words of those passages. The
search over all edges fills its beam with what has more of its words.
"""

from collections.abc import Mapping, Sequence

from services.query.retrieval.arrays import Floats
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.path_search import Path, passage_values, search_paths
from services.query.retrieval.multihop.starts import named_starts
from services.query.retrieval.passage_index.edges import ONWARD
from services.query.retrieval.passage_index.index import PassageIndex
from services.query.retrieval.ranking import interleave

BEAM_WIDTH = 12
"""Paths that go on after each step; a name has fewer edges onward than there are edges at all."""
MAX_FIRST_STEPS = 4
"""Of each name, the passages of `by_first_steps`: its own, and those that this one leads to."""


def name_paths(
    index: PassageIndex,
    evidence: Evidence,
    links: Sequence[Link],
    sources: Mapping[str, Sequence[str]],
    allowed_passages: Floats,
) -> list[list[Path]]:
    """Return the paths from each link that has any, the best first. See `starts` for `sources`."""
    paths_by_link: list[list[Path]] = []
    for link in links:
        starts = named_starts(index, evidence, [link], sources, allowed_passages)
        paths = search_paths(index, evidence, starts, (ONWARD,), BEAM_WIDTH)
        if paths:
            paths_by_link.append(paths)
    return paths_by_link


def by_name_paths(paths_by_link: Sequence[Sequence[Path]]) -> list[int]:
    """Return the passages on these paths, the best of each link in turn."""
    return interleave(*map(_ranked, paths_by_link), key=int)


def by_first_steps(paths_by_link: Sequence[Sequence[Path]]) -> list[int]:
    """Return each link's best own passage and the best of those that it leads to, the links in
    turn.

    Of two things that are compared each has its chain, of one step mostly, however much more the
    longer paths of one of them account for.
    """
    return interleave(*map(_first_steps, paths_by_link), key=int)


def _first_steps(paths: Sequence[Path]) -> list[int]:
    nearest_passage = next(path.passages[0] for path in paths if len(path.passages) == 1)
    onward = [
        path.passages[1]
        for path in paths
        if len(path.passages) == 2 and path.passages[0] == nearest_passage
    ]
    return list(dict.fromkeys([nearest_passage, *onward]))[:MAX_FIRST_STEPS]


def _ranked(paths: Sequence[Path]) -> list[int]:
    values = passage_values(paths)
    return sorted(values, key=lambda passage: -values[passage])
