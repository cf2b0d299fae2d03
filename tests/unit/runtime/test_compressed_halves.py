"""Compressed vectors are those that were compressed, and smaller where a model made them."""

import numpy as np
import pytest

from runtime.projections.compressed_halves import Halves, compressed, decompressed


def of_length_one(count: int, dimension: int) -> Halves:
    vectors = np.random.default_rng(dimension).normal(size=(count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")


@pytest.mark.parametrize("dimension", [1, 2, 384, 3072])
def test_every_number_is_that_which_was_compressed(dimension: int) -> None:
    vectors = of_length_one(5, dimension)
    vectors[0] = 0
    vectors[1, 0] = -np.finfo(np.float16).tiny
    for vector, content in zip(vectors, compressed(vectors), strict=True):
        assert decompressed(content).tobytes() == vector.tobytes()


def test_all_halves_there_are_can_be_compressed() -> None:
    vectors = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(128, 512)
    for vector, content in zip(vectors, compressed(vectors), strict=True):
        assert decompressed(content).tobytes() == vector.tobytes()
        assert len(content) < 2 * 512 + 20


def test_vectors_of_length_one_take_a_tenth_less() -> None:
    vectors = of_length_one(50, 384)
    assert sum(map(len, compressed(vectors))) < 0.9 * vectors.nbytes


@pytest.mark.parametrize("content", [b"no vector at all", b"\x03\x00rest"])
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="vector"):
        decompressed(content)


def test_no_bytes_are_a_vector_without_numbers() -> None:
    assert len(decompressed(b"")) == 0
