"""A vector as bytes: its numbers, in half precision where each of them is exact in it and else in
single precision, and then one number more in single precision: 1 through its length, 0 where that
is zero.
"""

import numpy as np

from runtime.stores.vectors.comparison import Numbers, VectorRows, factors_of, packed


def is_half(vectors: Numbers) -> bool:
    """Return whether half precision has all of these numbers exactly."""
    return packed(vectors).dtype == np.float16


def entry_bytes(dimension: int, *, half: bool) -> int:
    """Return the bytes of one entry."""
    return (2 if half else 4) * dimension + 4


def to_bytes(vectors: Numbers, *, half: bool) -> list[bytes]:
    """Return the entries of these vectors; `half` only where that is exact."""
    factors = factors_of(vectors)
    numbers = vectors.astype(np.float16 if half else np.float32)
    return [row.tobytes() + factor.tobytes() for row, factor in zip(numbers, factors, strict=True)]


def from_bytes(content: bytes | memoryview, dimension: int, *, half: bool) -> VectorRows:
    """Return the vectors of these entries, which stay where they are."""
    if half:
        parts = np.frombuffer(content, np.float16).reshape(-1, dimension + 2)
        factors = np.ascontiguousarray(parts[:, dimension:]).view(np.float32)[:, 0]
        return VectorRows(parts[:, :dimension], factors)
    rows = np.frombuffer(content, np.float32).reshape(-1, dimension + 1)
    return VectorRows(rows[:, :dimension], rows[:, dimension])
