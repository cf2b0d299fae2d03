"""Caches analyses of texts, bounded by their characters, for functions that several threads
call.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast

from cachetools import LRUCache, cached

F = TypeVar("F", bound=Callable[..., Any])


def cached_by_characters(
    max_characters: int, *, key: Callable[..., Hashable], characters: Callable[[Any], int]
) -> Callable[[F], F]:
    """Return a decorator that keeps the results used last, of `most` characters together.

    `characters` counts those of a result; `key` gets the arguments of the call.
    """
    cache = LRUCache[Hashable, Any](max_characters, getsizeof=characters)
    return cast("Callable[[F], F]", cached(cache, key=key, lock=Lock()))
