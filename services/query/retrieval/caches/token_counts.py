"""Counts the tokens of texts once, while they are remembered."""

from collections.abc import Callable
from hashlib import blake2b
from threading import Lock

from cachetools import LRUCache, cached

MAX_COUNTED = 50_000
"""Size of the LRU cache of token counts, in texts: about 8 MB. Many questions find the same
texts.
"""


def cached_token_counter(count: Callable[[str], int]) -> Callable[[str], int]:
    """Return `count` with an LRU cache; its keys are hashes, so that long texts take no more
    memory.
    """

    def text_hash(text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    return cached(LRUCache[bytes, int](MAX_COUNTED), key=text_hash, lock=Lock())(count)
