"""A compact fold says what the whole one says, takes what stands behind, and leaves to the whole
one all else.
"""

from dataclasses import replace
from random import Random

import pytest

from knowledge.contributions import Contribution, Key, Kind
from knowledge.descriptions import MAX_JOINED, SummaryLimits
from knowledge.fold import MAX_FILE_PATHS, active_contributions, aggregate
from knowledge.homonyms import Source
from services.merger.domain.compact_aggregate import (
    MIN_CONTRIBUTIONS,
    CompactAggregate,
    compacted,
)
from services.merger.domain.incremental_aggregate import IncrementalAggregate

ENTITY = ("A",)
RELATION = ("A", "B")
LIMITS = SummaryLimits()
KEYS = pytest.mark.parametrize("key", [ENTITY, RELATION], ids=str)


def contribution(dice: Random, key: Key, chunk: int, paths: int = 10**6) -> Contribution:
    """What a chunk says; chunks with greater numbers stand behind those with smaller ones."""
    kinds: list[Kind] = ["relation"] if len(key) == 2 else ["entity"] * 9 + ["end"]
    return Contribution(
        kind=dice.choice(kinds),
        names=key,
        description=f"text {dice.randrange(10**6)}",
        chunk_id=f"d{chunk}-chunk-0",
        document_id=f"d{chunk}",
        order=0,
        version=1,
        added_at=(chunk + 1) * 1_000_000,
        file_path=dice.choice(["unknown_source", f"{dice.randrange(paths)}.txt"]),
        type=f"t{dice.randrange(3)}",
        keywords=tuple(f"k{dice.randrange(150)}" for _ in range(dice.randrange(4))),
        weight=dice.choice([1.0, 0.1, 0.7, 1e6]),
    )


def whole_of(key: Key, contributions: list[Contribution]) -> IncrementalAggregate:
    """The whole fold of these, none of whose groups has a summary."""
    whole = IncrementalAggregate(key, LIMITS, (Source(key),))
    whole.put(contributions)
    whole.fragments.apply_summaries({}, whole.fragments.pending_summaries())
    return whole


def compact_of(key: Key, contributions: list[Contribution]) -> CompactAggregate:
    """The compact fold of these."""
    compact = compacted(whole_of(key, contributions), LIMITS)
    assert compact is not None
    return compact


def assert_same(compact: CompactAggregate, contributions: list[Contribution]) -> None:
    """Assert that it says what the fold of these says."""
    whole = whole_of(compact.key, contributions)
    assert compact.aggregate() == aggregate(active_contributions(contributions))
    assert compact.fragments.description(with_missing=False).text == (
        whole.fragments.description(with_missing=False).text
    )
    assert not whole.fragments.description().is_whole
    assert compact.expanded(LIMITS).contributions() == whole.contributions()


@KEYS
@pytest.mark.parametrize("paths", [3, 60, 10**6])
@pytest.mark.parametrize("seed", range(2))
def test_it_says_what_the_whole_says_while_chunks_come_in_any_order(
    key: Key, seed: int, paths: int
) -> None:
    dice = Random(seed)
    contributions = [contribution(dice, key, chunk, paths) for chunk in range(900)]
    present = contributions[:400]
    fold: CompactAggregate | IncrementalAggregate = compact_of(key, present)
    waiting = contributions[400:]
    dice.shuffle(waiting)
    while waiting:
        number = dice.choice([1, 1, 7, 80])
        batch, waiting = waiting[:number], waiting[number:]
        present += batch
        changes = [*batch, replace(batch[0], chunk_id="other", is_retracted=True)]
        if isinstance(fold, CompactAggregate) and not fold.append(changes):
            fold = fold.expanded(LIMITS)
        if isinstance(fold, IncrementalAggregate):
            fold.put(changes)
            fold.fragments.apply_summaries({}, fold.fragments.pending_summaries())
            fold = compacted(fold, LIMITS) or fold
    whole = fold.expanded(LIMITS) if isinstance(fold, CompactAggregate) else fold
    assert_same(compact_of(key, whole.contributions()), present)
    if isinstance(fold, CompactAggregate):
        assert_same(fold, present)


@KEYS
def test_what_it_has_already_is_not_added_again(key: Key) -> None:
    dice = Random(1)
    contributions = [contribution(dice, key, chunk) for chunk in range(401)]
    compact = compact_of(key, contributions[:400])
    assert compact.append(contributions[400:])
    assert compact.append(contributions[400:])
    assert_same(compact, contributions)
    assert not compact.append(contributions[:1]), "who knows whether it is the same"


@KEYS
@pytest.mark.parametrize("chunk", [0, 150, 399])
def test_what_changes_or_goes_is_left_to_the_whole(key: Key, chunk: int) -> None:
    dice = Random(2)
    contributions = [contribution(dice, key, number) for number in range(400)]
    compact = compact_of(key, contributions)
    further = contribution(dice, key, 500)
    for changed in (
        replace(contributions[chunk], is_retracted=True),
        replace(contributions[chunk], description="another", version=2),
    ):
        assert not compact.append([further, changed])
    assert_same(compact, contributions)


@KEYS
def test_what_stands_before_the_stored_ones_is_left_to_the_whole(key: Key) -> None:
    dice = Random(3)
    contributions = [contribution(dice, key, number) for number in range(400)]
    compact = compact_of(key, contributions)
    early = replace(contribution(dice, key, 900), added_at=5)
    assert not compact.append([early])
    assert_same(compact, contributions)


def test_it_knows_one_group_that_lacks_a_summary_while_all_groups_change() -> None:
    dice = Random(4)
    contributions = [contribution(dice, RELATION, number) for number in range(600)]
    compact = compact_of(RELATION, contributions[:400])
    count = 400
    while compact.append(contributions[count : count + 1]):
        count += 1
        hashes = compact.fragments.pending_summaries()
        assert len(hashes) <= 1
        assert compact.fragments.branch.lacks_summaries
        compact.fragments.apply_summaries({}, hashes)
        missing = whole_of(RELATION, contributions[:count]).fragments.description()
        assert hashes <= {group.hash for group in missing.missing_summaries}
    assert count == 512, "further ones make another level of groups"


def test_it_lacks_no_summary_once_its_branch_has_all() -> None:
    dice = Random(4)
    contributions = [contribution(dice, RELATION, number) for number in range(400)]
    compact = compact_of(RELATION, contributions)
    hashes = compact.fragments.pending_summaries()
    compact.fragments.apply_summaries(dict.fromkeys(hashes, "a summary"), hashes)
    assert not compact.fragments.branch.lacks_summaries


def test_an_entity_that_only_relations_describe_is_whole_again_when_it_is_described() -> None:
    dice = Random(5)
    ends = [replace(contribution(dice, ENTITY, number), kind="end") for number in range(401)]
    compact = compact_of(ENTITY, ends[:400])
    assert compact.append(ends[400:])
    assert_same(compact, ends)
    assert not compact.append([replace(contribution(dice, ENTITY, 900), kind="entity")])
    assert_same(compact, ends)


def test_of_many_paths_the_first_are_stored() -> None:
    dice = Random(6)
    contributions = [
        replace(contribution(dice, RELATION, number), file_path=f"{number // 6}.txt")
        for number in range(480)
    ]
    compact = compact_of(RELATION, contributions[:420])
    assert compact.append(contributions[420:440])
    assert_same(compact, contributions[:440])
    assert len(compact.aggregate().file_paths) == 74 < MAX_FILE_PATHS


def test_it_takes_an_eighth_of_the_memory() -> None:
    dice = Random(7)
    contributions = [contribution(dice, RELATION, number) for number in range(3000)]
    compact = compact_of(RELATION, contributions)
    assert compact.size * 8 < whole_of(RELATION, contributions).size


def test_few_changed_summarised_and_edited_ones_stay_whole() -> None:
    dice = Random(8)
    contributions = [contribution(dice, RELATION, number) for number in range(400)]
    assert compacted(whole_of(RELATION, contributions[: MIN_CONTRIBUTIONS - 1]), LIMITS) is None
    few_texts = [replace(one, description=f"{one.order}") for one in contributions]
    assert compacted(whole_of(RELATION, few_texts[:MAX_JOINED]), LIMITS) is None
    expanded = compact_of(RELATION, contributions).expanded(LIMITS)
    expanded.fragments.apply_summaries({}, expanded.fragments.pending_summaries())
    assert compacted(expanded, LIMITS) is None
    edited = IncrementalAggregate(RELATION, LIMITS, (Source(("A", "C")),))
    edited.put(contributions)
    assert compacted(edited, LIMITS) is None
    summarised = whole_of(RELATION, contributions)
    group = summarised.fragments.description().missing_summaries[0]
    summarised.apply_summaries({group.hash: "all of them"})
    assert compacted(summarised, LIMITS) is None
    assert compacted(whole_of(RELATION, contributions), LIMITS) is not None
