"""Whatever is known of a tree's summaries, a few looks lead to its end, and to what the pure
function says.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.descriptions import LEVELS, Description, SummaryLimits, depth_of, describe
from knowledge.fold import Position
from services.merger.domain.description_tree import DescriptionTree

KEY = ("A",)
ALL_LIMITS = [
    SummaryLimits(),
    SummaryLimits(fragments=2),
    SummaryLimits(fragments=3, tokens=12),
    SummaryLimits(fragments=1000, tokens=150),
]


def place(number: int) -> Position:
    """Where fragment `number` stands."""
    return (number, "d", 0, "entity", KEY, f"chunk-{number}")


def fragment(number: int) -> str:
    """The text of fragment `number`; some are long."""
    return f"fragment {number}" + " long" * (30 if number % 7 == 0 else 0)


def planted(numbers: list[int], limits: SummaryLimits) -> DescriptionTree:
    """A tree of these fragments, that was never told of a summary."""
    tree = DescriptionTree(KEY, limits)
    for number in numbers:
        tree.add(fragment(number), place(number))
    return tree


def pure(numbers: list[int], known_summaries: dict[str, str], limits: SummaryLimits) -> Description:
    """What the same fragments and summaries make at once."""
    return describe(KEY, [fragment(number) for number in sorted(numbers)], known_summaries, limits)


def all_summaries(numbers: list[int], limits: SummaryLimits) -> dict[str, str]:
    """Every summary that is made until nothing lacks, leaves first."""
    known_summaries: dict[str, str] = {}
    while lacking := pure(numbers, known_summaries, limits).missing_summaries:
        known_summaries |= {
            group.hash: f"summary {group.hash[:6]} of {len(group.texts)}" for group in lacking
        }
    return known_summaries


def walk(tree: DescriptionTree, known_summaries: dict[str, str]) -> int:
    """Look for summaries until none is left to ask for, and tell the tree all it ever found each
    time.
    """
    result: dict[str, str] = {}
    for turn in range(LEVELS + 2):
        if not (hashes := tree.pending_summaries()):
            return turn
        result |= {hash: known_summaries[hash] for hash in hashes & known_summaries.keys()}
        tree.apply_summaries(result, hashes)
    raise AssertionError("the tree asks for ever")


@st.composite
def states(draw: st.DrawFn) -> tuple[list[int], SummaryLimits, dict[str, str]]:
    """Fragments, limits, and which of all their summaries are known."""
    count = draw(
        st.one_of(st.integers(1, 40), st.integers(33, 150), st.sampled_from([512, 513, 560]))
    )
    dice = draw(st.randoms(use_true_random=False))
    numbers = dice.sample(range(5 * count), count)
    limits = draw(st.sampled_from(ALL_LIMITS))
    every_summary = all_summaries(numbers, limits)
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
    return (
        numbers,
        limits,
        {hash: text for hash, text in every_summary.items() if dice.random() < share},
    )


@settings(max_examples=100)
@given(states())
def test_from_every_state_of_knowledge_a_look_per_level_leads_to_the_end(
    state: tuple[list[int], SummaryLimits, dict[str, str]],
) -> None:
    numbers, limits, known_summaries = state
    tree = planted(numbers, limits)
    assert walk(tree, known_summaries) <= depth_of(len(numbers)) + 1
    assert tree.description() == pure(numbers, known_summaries, limits)
    every_summary = all_summaries(numbers, limits)
    for _ in range(LEVELS + 2):
        if not (lacking := tree.description().missing_summaries):
            break
        known_summaries = known_summaries | {
            group.hash: every_summary[group.hash]
            for group in lacking
            if group.hash in every_summary
        }
        tree.apply_summaries(known_summaries, ())
        walk(tree, known_summaries)
        assert tree.description() == pure(numbers, known_summaries, limits)
    assert tree.description() == pure(numbers, every_summary, limits)


@settings(max_examples=50)
@given(states(), st.randoms(use_true_random=False))
def test_a_tree_that_grows_and_shrinks_comes_to_its_end_after_every_step(
    state: tuple[list[int], SummaryLimits, dict[str, str]], dice: Random
) -> None:
    numbers, limits, known_summaries = state
    tree = DescriptionTree(KEY, limits)
    here = list[int]()
    for _ in range(6):
        for number in dice.sample(numbers, dice.randint(1, len(numbers))):
            if number in here:
                here.remove(number)
                tree.remove(fragment(number), place(number))
            else:
                here.append(number)
                tree.add(fragment(number), place(number))
        new_summaries = all_summaries(here, limits) if dice.random() < 0.5 else {}
        known_summaries = known_summaries | new_summaries
        tree.apply_summaries(new_summaries, ())
        walk(tree, known_summaries)
        assert tree.description() == pure(here, known_summaries, limits)


@pytest.mark.parametrize("count", [1, 31, 40, 100, 200, 400, 600])
def test_learning_again_what_is_known_leaves_nothing_unasked(count: int) -> None:
    numbers = list(range(count))
    limits = SummaryLimits()
    tree = planted(numbers, limits)
    every_summary = all_summaries(numbers, limits)
    walk(tree, every_summary)
    end = tree.description()
    for known_summaries in (
        every_summary,
        every_summary,
        dict(list(every_summary.items())[:3]),
        {},
    ):
        tree.apply_summaries(known_summaries, ())
        assert tree.pending_summaries() == set()
        assert tree.description() == end


def test_two_that_learn_in_turn_do_not_undo_each_other() -> None:
    numbers = list(range(200))
    limits = SummaryLimits()
    tree = planted(numbers, limits)
    every_summary = all_summaries(numbers, limits)
    leaves = {
        group.hash: every_summary[group.hash]
        for group in pure(numbers, {}, limits).missing_summaries
    }
    for _ in range(LEVELS + 2):
        for _ in range(2):
            hashes = tree.pending_summaries()
            tree.apply_summaries({hash: every_summary[hash] for hash in hashes} | leaves, hashes)
    assert tree.pending_summaries() == set()
    assert tree.description() == pure(numbers, every_summary, limits)


def test_a_newer_text_for_a_known_group_reaches_the_top() -> None:
    numbers = list(range(100))
    limits = SummaryLimits()
    tree = planted(numbers, limits)
    every_summary = all_summaries(numbers, limits)
    walk(tree, every_summary)
    leaf = pure(numbers, {}, limits).missing_summaries[0].hash
    changed_summaries = {**every_summary, leaf: "another text, earlier in the log"}
    tree.apply_summaries({leaf: changed_summaries[leaf]}, ())
    walk(tree, changed_summaries)
    assert tree.description() == pure(numbers, changed_summaries, limits)
    assert tree.description().missing_summaries, "the group above reads another text now"
