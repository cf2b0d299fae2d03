"""Personalised PageRank, and one order out of several."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.multihop import pagerank as arrays

NODES = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(NODES, NODES, st.floats(0.1, 10)), max_size=20)


def pagerank(edges: list[tuple[str, str, float]], seeds: dict[str, float], **options: Any) -> dict[str, float]:
    names = list(dict.fromkeys([*seeds, *(end for edge in edges for end in edge[:2])]))
    sources, targets = ([names.index(edge[end]) for edge in edges] for end in (0, 1))
    scores = arrays.pagerank(
        np.array(sources, np.int64),
        np.array(targets, np.int64),
        np.array([weight for _, _, weight in edges], np.float64),
        np.array([seeds.get(name, 0.0) for name in names]),
        **options,
    )
    return dict(zip(names, scores.tolist(), strict=True))


def test_a_case_computed_by_hand() -> None:
    """a → b (3 of 4), a → c (1 of 4), both back to a; damping one half: a = 2/3, b and c share the rest 3 to 1."""
    edges = [("a", "b", 3.0), ("a", "c", 1.0), ("b", "a", 1.0), ("c", "a", 5.0)]
    scores = pagerank(edges, {"a": 2.0}, damping=0.5, rounds=60)
    assert scores == pytest.approx({"a": 2 / 3, "b": 1 / 4, "c": 1 / 12})


def test_a_node_without_a_way_on_jumps_back_to_the_seeds() -> None:
    assert pagerank([("a", "b", 1.0)], {"a": 1.0}, damping=0.5, rounds=60) == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_what_no_seed_reaches_has_nothing() -> None:
    scores = pagerank([("a", "b", 1.0), ("x", "y", 9.0)], {"a": 1.0})
    assert scores["x"] == scores["y"] == 0.0


def test_without_seeds_or_edges_there_is_little_to_say() -> None:
    assert pagerank([("a", "b", 1.0)], {}) == {"a": 0.0, "b": 0.0}
    assert pagerank([], {"a": 3.0, "b": 1.0}) == {"a": 0.75, "b": 0.25}


@given(EDGES, st.dictionaries(NODES, st.floats(0.1, 5), min_size=1))
def test_scores_add_up_to_one_and_scale_does_not_matter(
    edges: list[tuple[str, str, float]], seeds: dict[str, float]
) -> None:
    scores = pagerank(edges, seeds)
    assert sum(scores.values()) == pytest.approx(1.0) and min(scores.values()) >= 0
    louder = [(source, target, 7 * weight) for source, target, weight in edges]
    assert pagerank(louder, {name: 3 * weight for name, weight in seeds.items()}) == pytest.approx(scores)


def test_fusion_by_hand() -> None:
    assert reciprocal_rank_fusion((["a", "b", "c"], 1.0), (["c", "a"], 1.0), k=1) == ["a", "c", "b"]
    assert reciprocal_rank_fusion((["a", "b"], 1.0), (["b"], 3.0)) == ["b", "a"]
    assert reciprocal_rank_fusion() == [] and reciprocal_rank_fusion(([], 1.0)) == []


@given(st.lists(st.lists(NODES, unique=True), max_size=4))
def test_fusion_keeps_everything_once(lists: list[list[str]]) -> None:
    order = reciprocal_rank_fusion(*((items, 1.0) for items in lists))
    assert len(order) == len(set(order)) and set(order) == {item for items in lists for item in items}
