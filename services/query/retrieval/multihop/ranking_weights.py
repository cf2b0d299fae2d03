"""How much each ranking of a walk counts: more by names, the more of what their passages mention
can be followed; and more by likeness to the question where no name in it is telling.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.naming import naming_share
from services.query.retrieval.multihop.path_search import Path
from services.query.retrieval.passage_index.index import PassageIndex

WEIGHTS = {"paths": 1.5, "paths_from_names": 0.7, "first_steps": 0.5, "neighbourhood": 0.25}
"""Of the rankings that are fused: by paths over all edges, by paths onward from names and by the
first steps of these, by the neighbourhood alone.
"""
MIN_DEFINED_SHARE = 0.5
"""Share of what the passages of the names mention from which on names lead."""
NAMES_LEAD = {"paths": 1.0, "paths_from_names": 2.0, "first_steps": 1.0, "neighbourhood": 0.5}
"""The weights where they do."""
LIKENESS_WEIGHT = 0.3
"""Of the two rankings by likeness to the question: by words (BM25) and by vector."""
UNSURE_LIKENESS_WEIGHT = 0.9
"""Of these where no name in the question is telling: without one, or with words that are seldom a
name.
"""
MIN_TELLING_SHARE = 0.25
"""Share of the passages with its words in which a telling name is one."""


def ranking_weights(
    index: PassageIndex, links: Sequence[Link], onward: Sequence[Sequence[Path]]
) -> Mapping[str, float]:
    """Return the weights of the rankings for a question with these links, and these paths onward
    from them.

    In an encyclopedia nearly all that an article mentions has an article of its own: what a chain
    of names needs is reached onward then, and searching back and across only brings rivals. In
    other text most of it has none.
    """
    is_sure = any(naming_share(index, link) >= MIN_TELLING_SHARE for link in links)
    likeness_weight = LIKENESS_WEIGHT if is_sure else UNSURE_LIKENESS_WEIGHT
    weights = NAMES_LEAD if _defined_share(index, onward) > MIN_DEFINED_SHARE else WEIGHTS
    return {**weights, "words": likeness_weight, "vectors": likeness_weight}


def _defined_share(index: PassageIndex, onward: Sequence[Sequence[Path]]) -> float:
    """Return which share of the entities that the passages of names mention and do not define
    others define.
    """
    passages = sorted({path.passages[0] for paths in onward for path in paths})
    mentions = index.mentions_in.of_groups(np.array(passages, np.int64))
    own_entities = index.entity_of[mentions[index.defines[mentions]]]
    mentioned = np.setdiff1d(index.entity_of[mentions], own_entities)
    return float(index.is_defined[mentioned].mean()) if len(mentioned) else 0.0
