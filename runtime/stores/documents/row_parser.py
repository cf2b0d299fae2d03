"""Makes something of rows and remembers it by what is stored of them, so that rows which are read
again and again are decoded once.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, TypeVar

from cachetools import LRUCache

from runtime.stores.documents.port import Row
from runtime.stores.documents.row_json import decode

T = TypeVar("T")

_HASH_BYTES = 16


class RowParser(Generic[T]):
    """For `Rows.get_parsed`. What it returns is shared, so nobody may change it.

    `most`: the sum of the `size` of all that is remembered, what was used last. A row that has
    changed is stored otherwise, so nothing has to be forgotten.
    """

    def __init__(self, parse: Callable[[Row], T], size: Callable[[T], int], most: int) -> None:
        self.parse = parse
        self._size = size
        self._parsed: LRUCache[bytes, T] = LRUCache(most, getsizeof=size)

    def of(self, body: str | bytes) -> T:
        """Return what is made of the row that is stored so."""
        if isinstance(body, str):  # short, and decoded as fast as remembered
            return self.parse(decode(body))
        key = blake2b(body, digest_size=_HASH_BYTES).digest()
        value = self._parsed.get(key)
        if value is None:
            value = self.parse(decode(body))
            if self._size(value) <= self._parsed.maxsize:
                self._parsed[key] = value
        return value
