"""Scores of vectors in half precision, by each kind of instructions that this processor has."""

from collections.abc import Iterator

import numkong
import numpy as np
import pytest

from runtime.stores.vectors.comparison import (
    ROUNDING,
    ROUNDING_NUMBERS,
    Question,
    VectorRows,
    packed,
)

CAPABILITIES = [name for name, is_there in numkong.get_capabilities().items() if is_there]
"""What numkong has instructions for on this processor, and `serial`."""


@pytest.fixture(params=CAPABILITIES)
def best_capability(request: pytest.FixtureRequest) -> Iterator[str]:
    """Have numkong take this for the best of the processor, and give it back all."""
    better = CAPABILITIES[CAPABILITIES.index(request.param) + 1 :]
    for name in better:
        numkong.disable_capability(name)
    yield request.param
    for name in better:
        numkong.enable_capability(name)


@pytest.mark.usefixtures("best_capability")
@pytest.mark.parametrize("dimension", [1, 3, 384, 1_536])
def test_scores_are_wrong_by_rounding_alone(dimension: int) -> None:
    choice = np.random.default_rng(dimension)
    numbers = choice.normal(size=(400, dimension))
    numbers[100:200] = np.abs(numbers[100:200])  # no differences of sign: the largest sums
    numbers[200:300] *= 2.0**-24  # as small as half precision goes
    numbers[300:380] *= 20_000  # as large
    numbers[380:] = 0
    vectors = np.clip(numbers, -60_000, 60_000).astype(np.float16).astype(np.float32)
    rows = VectorRows.of(packed(vectors))
    assert rows.numbers.dtype == np.float16
    for vector in (numbers[0], numbers[100], numbers[200] * 1e-30, np.eye(dimension)[0]):
        question = Question(vector.astype(np.float32))
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1) * np.linalg.norm(
            question.vector.astype(np.float64)
        )
        products = vectors.astype(np.float64) @ question.vector.astype(np.float64)
        cosines = np.divide(products, lengths, out=np.zeros(400), where=lengths > 0)
        errors = np.abs(rows.scores(question) - cosines)
        assert errors.max() <= ROUNDING / 2 * (dimension + ROUNDING_NUMBERS)
