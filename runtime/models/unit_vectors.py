"""What an endpoint gives as vectors, at length 1."""

import base64
import math
from array import array
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from runtime.models.port import Vector

Numbers = npt.NDArray[np.float64]


def unit_vectors(values: Sequence[Any], dimension: int) -> list[Vector] | None:
    """Return the vectors of one call at length 1; None where one of them has to be looked at alone,
    for it cannot be used or its numbers are extreme.

    All at once they take some two thirds of what they take one by one.
    """
    try:
        numbers = _matrix(values)
    except (TypeError, ValueError, OverflowError):
        return None
    if numbers.shape != (len(values), dimension):
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
        if not ((lengths > 1e-100) & (lengths < math.inf)).all():
            return None
    numbers /= lengths[:, None]
    return [array("d", row.tobytes()) for row in numbers]


def _matrix(values: Sequence[Any]) -> Numbers:
    """Return the numbers of all, a row each. Raises ValueError where some have more than others."""
    are_base64 = all(isinstance(value, str) for value in values)
    return np.array(list(map(_decoded, values)) if are_base64 else values, np.float64)


def numbers_of(value: Any) -> Numbers:
    """Return the numbers of one vector: base64 of little-endian 32-bit floats, or a list. Raises
    TypeError, ValueError and OverflowError for anything else.
    """
    if isinstance(value, str):
        return _decoded(value).astype(np.float64)
    return np.array(
        [float(number) for number in cast(list[Any], value)] if isinstance(value, list) else [],
        np.float64,
    )


def _decoded(value: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(value, validate=True), "<f4")


def length_of(numbers: Numbers) -> float:
    """Return the length, also of numbers whose squares are too large or too small to be told."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        length = math.sqrt(numbers @ numbers)
    return length if 1e-100 < length < math.inf else math.hypot(*numbers.tolist())
