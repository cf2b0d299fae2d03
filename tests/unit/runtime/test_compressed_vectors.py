"""Vectors in a byte a number: no row that counts is left out, by each kind of instructions that
this processor has, and most others are.
"""

from collections.abc import Iterator

import numkong
import numpy as np
import pytest
from numpy.typing import NDArray

from runtime.stores.vectors.compressed import CompressedRows
from runtime.stores.vectors.fields import similarities

CAPABILITIES = [name for name, is_there in numkong.get_capabilities().items() if is_there]
TOP_K = 20


@pytest.fixture(params=CAPABILITIES)
def best_capability(request: pytest.FixtureRequest) -> Iterator[str]:
    """Have numkong take this for the best of the processor, and give it back all."""
    better = CAPABILITIES[CAPABILITIES.index(request.param) + 1 :]
    for name in better:
        numkong.disable_capability(name)
    yield request.param
    for name in better:
        numkong.enable_capability(name)


def clustered(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Vectors around some centres that differ along few axes."""
    choice = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(30, dimension))
    spread = 1 / np.arange(1, dimension + 1)
    noise = choice.normal(size=(count, dimension)) * spread * 4
    return (centres[choice.integers(0, 30, count)] + noise).astype(np.float32)


def compress(vectors: NDArray[np.float32], sample: NDArray[np.float32]) -> CompressedRows:
    rows = CompressedRows(sample)
    for start in range(0, len(vectors), 300):
        part = vectors[start : start + 300]
        rows.put(np.arange(start, start + len(part)), part)
    return rows


def assert_nearest_are_among(
    rows: CompressedRows,
    vectors: NDArray[np.float32],
    question: NDArray[np.float32],
    places: NDArray[np.int64] | None = None,
) -> None:
    compared_places = np.arange(len(vectors)) if places is None else places
    scores = np.array(similarities(vectors[compared_places], question))
    for min_score in (-1.0, 0.2):
        last_score = np.sort(scores)[-min(TOP_K, len(scores))]
        nearest_places = compared_places[(scores >= last_score) & (scores > min_score)]
        candidates = rows.candidates(question, TOP_K, min_score, places)
        assert set(nearest_places.tolist()) <= set(candidates.tolist())
        assert len(set(candidates.tolist())) == len(candidates)
        assert set(candidates.tolist()) <= set(compared_places.tolist())


@pytest.mark.usefixtures("best_capability")
@pytest.mark.parametrize("dimension", [2, 3, 384, 1_536])
def test_all_that_are_nearest_are_candidates(dimension: int) -> None:
    vectors = clustered(1_200, dimension, seed=2)
    vectors[300:400] = vectors[:100]  # as near as others
    vectors[400:450] *= 1e-30
    vectors[450:500] *= 1e30
    vectors[500:520] = 0
    rows = compress(vectors, vectors[::3])
    places = np.arange(0, 1_200, 7)
    for question in (*clustered(5, dimension, seed=3), vectors[450], -vectors[3], vectors[510]):
        assert_nearest_are_among(rows, vectors, question)
        assert_nearest_are_among(rows, vectors, question, places)
        assert_nearest_are_among(rows, vectors, question, places[:3])


def test_axes_of_other_vectors_cost_time_and_no_hit() -> None:
    vectors = clustered(1_200, 64, seed=2)
    rows = compress(vectors, np.eye(64, dtype=np.float32)[:5])
    for question in clustered(10, 64, seed=3):
        assert_nearest_are_among(rows, vectors, question)


def test_rows_are_replaced_added_and_cut() -> None:
    vectors = clustered(1_200, 64, seed=2)
    rows = compress(vectors[:900], vectors[:900])
    choice = np.random.default_rng(4)
    for count in (1_000, 700, 705, 1_200):
        vectors = np.concatenate([vectors[: len(rows)], clustered(1_200, 64, seed=count)])[:count]
        rows.cut(count)
        changed_places = choice.choice(min(count, len(rows)), 200, replace=False)
        vectors[changed_places] = clustered(200, 64, seed=count + 1)
        rows.put(changed_places, vectors[changed_places])
        rows.put(np.arange(len(rows), count), vectors[len(rows) :])
        assert len(rows) == count
        for question in clustered(5, 64, seed=3):
            assert_nearest_are_among(rows, vectors, question)


def test_few_others_are_candidates() -> None:
    vectors = clustered(4_000, 384, seed=2)
    rows = compress(vectors, vectors[::4])
    counts = [
        len(rows.candidates(question, TOP_K, -1.0)) for question in clustered(20, 384, seed=3)
    ]
    assert np.mean(counts) < 4 * TOP_K
