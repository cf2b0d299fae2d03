"""Vectors of one call are made to length 1 together; where that cannot be, each is looked at
alone.
"""

import base64
import math
from typing import Any

import numpy as np
import pytest

from runtime.models.unit_vectors import length_of, numbers_of, unit_vectors

DIRECTIONS = [[3.0, 4.0], [1e-3, 0.0], [-5.0, 12.0]]


def in_base64(numbers: list[float]) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


@pytest.mark.parametrize("values", [DIRECTIONS, [in_base64(numbers) for numbers in DIRECTIONS]])
def test_together_they_are_what_they_are_alone(values: list[Any]) -> None:
    vectors = unit_vectors(values, 2)
    assert vectors is not None
    for value, vector in zip(values, vectors, strict=True):
        numbers = numbers_of(value)
        assert list(vector) == pytest.approx((numbers / length_of(numbers)).tolist(), abs=1e-15)
        assert math.hypot(*vector) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "odd_value",
    [
        None,
        {},
        "no base64!",
        [1.0],
        [1.0, 2.0, 3.0],
        [1.0, None],
        [1.0, "one"],
        [0.0, 0.0],
        [math.nan, 1.0],
        [math.inf, 1.0],
        [1e200, 1.0],
        [1e-200, 0.0],
        [10**400, 1.0],
        in_base64([1.0]),
        in_base64([0.0, 0.0]),
    ],
)
def test_one_that_is_odd_has_all_looked_at_alone(odd_value: Any) -> None:
    neighbour = in_base64([1.0, 2.0]) if isinstance(odd_value, str) else [1.0, 2.0]
    assert unit_vectors([neighbour, odd_value], 2) is None


def test_vectors_in_two_forms_are_looked_at_alone() -> None:
    assert unit_vectors([[1.0, 2.0], in_base64([1.0, 2.0])], 2) is None


def test_base64_of_another_dimension_is_not_taken_for_more_or_fewer_vectors() -> None:
    assert unit_vectors([in_base64([1.0, 2.0, 3.0]), in_base64([4.0])], 2) is None
