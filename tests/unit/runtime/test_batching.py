"""Items in groups: nothing is lost, nothing is reordered, and no group is larger than it may be."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runtime.batching import batched, batched_by_bytes


@given(st.lists(st.integers()), st.integers(1, 5))
def test_groups_are_full_but_for_the_last(items: list[int], size: int) -> None:
    groups = list(batched(iter(items), size))
    assert [item for group in groups for item in group] == items
    assert all(len(group) == size for group in groups[:-1])
    assert all(0 < len(group) <= size for group in groups)


@given(st.lists(st.integers(0, 10)), st.integers(1, 5), st.integers(0, 20))
def test_groups_keep_below_both_bounds_unless_one_item_alone_does_not(
    items: list[int], max_items: int, size: int
) -> None:
    groups = list(
        batched_by_bytes(iter(items), lambda item: item, max_items=max_items, max_bytes=size)
    )
    assert [item for group in groups for item in group] == items
    assert all(
        0 < len(group) <= max_items and (sum(group) <= size or len(group) == 1) for group in groups
    )
    for group, following in pairwise(groups):
        assert len(group) == max_items or sum(group) + following[0] > size


def test_a_group_is_made_only_when_it_is_asked_for() -> None:
    numbers: list[int] = []
    groups = batched((numbers.append(number) or number for number in range(10)), 3)
    assert (next(groups), numbers) == ([0, 1, 2], [0, 1, 2])
