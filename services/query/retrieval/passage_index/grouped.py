"""Numbers in groups, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from services.query.retrieval.arrays import Integers

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Numbers in groups; group n is `values[starts[n] : starts[n + 1]]`."""

    starts: Integers
    """(groups + 1,)"""
    values: Integers

    def of(self, group: int) -> Integers:
        """Return the numbers of a group."""
        return self.values[self.starts[group] : self.starts[group + 1]]

    def of_groups(self, groups: Integers) -> Integers:
        """Return the numbers of these groups, one group after the other."""
        return self.values[positions_of_groups(self.starts, groups)]

    def spread(self, groups: Integers, values: NDArray[T]) -> tuple[Integers, NDArray[T]]:
        """Return the numbers of these groups, one group after the other, and for each the value of
        its group.
        """
        repeated_values: NDArray[T] = np.repeat(values, group_sizes(self.starts, groups))
        return self.of_groups(groups), repeated_values

    def first(self, count: int) -> "Grouped":
        """Return the groups with their first `count` numbers only."""
        sizes = np.diff(self.starts)
        place_in_group = np.arange(len(self.values)) - np.repeat(self.starts[:-1], sizes)
        starts = np.concatenate([[0], np.cumsum(np.minimum(sizes, count))])
        return Grouped(starts, self.values[place_in_group < count])


def group_sizes(starts: Integers, groups: Integers) -> Integers:
    """Return how many members each of these groups has. `starts`: see `Grouped`."""
    sizes: Integers = starts[groups + 1] - starts[groups]
    return sizes


def positions_of_groups(starts: Integers, groups: Integers) -> Integers:
    """Return the positions of all members of these groups, one group after the other. `starts`:
    see `Grouped`.
    """
    begins = starts[groups]
    sizes = group_sizes(starts, groups)
    # Within each group the positions count up from where it begins.
    offsets: Integers = np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
    return np.arange(int(sizes.sum())) + offsets


def group_starts(groups: Integers, count: int) -> Integers:
    """Return (count + 1,): where each group begins in these sorted numbers of groups, and where the
    last one ends.
    """
    return np.searchsorted(groups, np.arange(count + 1))


def grouped(groups: Integers, values: Integers, count: int) -> Grouped:
    """Return the values by the group that is beside each of them, in their order."""
    order = order_of(groups, count)
    return Grouped(group_starts(groups[order], count), values[order])


def narrowed(numbers: Integers, count: int) -> NDArray[Any]:
    """Return these numbers, which are from 0 on and below `count`, of 16 bits where they fit: numpy
    sorts those by their digits, ten times as fast as wider ones.
    """
    return numbers.astype(np.uint16) if count <= 1 << 16 else numbers


def order_of(numbers: Integers, count: int) -> Integers:
    """Return the positions of these numbers, which are below `count`, by the numbers; equal ones in
    their order.
    """
    return np.argsort(narrowed(numbers, count), kind="stable")


def concatenated(lists: Sequence[Sequence[int]]) -> Grouped:
    """Return each list as a group."""
    values = np.array([value for values in lists for value in values], np.int64)
    lengths = [len(values) for values in lists]
    return Grouped(np.cumsum([0, *lengths]), values)


def joined_arrays(arrays: Sequence[Integers]) -> Integers:
    """Return the arrays one after the other; an empty one of none."""
    return np.concatenate([np.empty(0, np.int64), *arrays])
