"""Vectors in half precision as fewer bytes, without loss: for the cache, which nobody searches.

Of the two bytes of a number the higher one has its sign, its exponent and two bits more. Numbers of
a vector of length 1 have few different exponents, so these bytes take five bits each in Huffman's
code; the lower ones are as good as random, and stay.
"""

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Halves = NDArray[np.float16]

_WINDOW = -9
"""The smallest window of zlib, which is not looked back into, and no header or checksum."""
_MIN_MEMORY = 1
_MAX_MEMORY = 9
"""The levels of memory that zlib has."""


def compressed(vectors: Halves) -> Iterator[bytes]:
    """Yield the bytes of each of these vectors, in the order in which they stand."""
    pairs = np.ascontiguousarray(vectors, "<f2").view(np.uint8).reshape(len(vectors), -1, 2)
    memory = _memory(pairs.shape[1])
    for low_bytes, high_bytes in np.ascontiguousarray(pairs.transpose(0, 2, 1)):
        coder = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, memory, zlib.Z_HUFFMAN_ONLY)
        yield coder.compress(high_bytes) + coder.flush() + low_bytes.tobytes()


def _memory(count: int) -> int:
    """Return the level of memory by which zlib codes so many bytes at once: more takes longer to
    make than to use. Level 3 is for fewer than 512.
    """
    return min(max(count.bit_length() - 6, _MIN_MEMORY), _MAX_MEMORY)


def decompressed(content: bytes) -> Halves:
    """Return the vector that `compressed` made these bytes from. Raises ValueError for others."""
    decoder = zlib.decompressobj(_WINDOW)
    try:
        high_bytes = decoder.decompress(content)
    except zlib.error as error:
        raise ValueError(f"no compressed vector: {error}") from None
    low_bytes = decoder.unused_data
    if len(high_bytes) != len(low_bytes):
        raise ValueError(f"{len(high_bytes)} and {len(low_bytes)} bytes are no vector")
    pairs = np.empty((len(low_bytes), 2), np.uint8)
    pairs[:, 0] = np.frombuffer(low_bytes, np.uint8)
    pairs[:, 1] = np.frombuffer(high_bytes, np.uint8)
    return pairs.view("<f2")[:, 0]
