"""Items in groups of a bounded size."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in order, in lists of `size`; the last one may be shorter.

    `itertools.batched`, which needs Python 3.12.
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def batched_by_bytes(
    items: Iterable[T],
    bytes_of: Callable[[T], int],
    *,
    max_bytes: int,
    max_items: int = sys.maxsize,
) -> Iterator[list[T]]:
    """Yield the items in order, in lists of at most `max_items`, and `max_bytes` unless one item
    alone has more.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        size = bytes_of(item)
        if batch and (len(batch) == max_items or total + size > max_bytes):
            yield batch
            batch = []
            total = 0
        batch.append(item)
        total += size
    if batch:
        yield batch
