"""A compact fold says what the whole one says, takes what stands behind, and leaves to the whole
one all else.
"""

import gc
import weakref
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from knowledge.contributions import Contribution, Key, Kind
from knowledge.descriptions import SummaryLimits
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


def contribution(
    dice: Random, key: Key, chunk: int, paths: int = 10**6, texts: int = 10**6
) -> Contribution:
    """What a chunk says; chunks with greater numbers stand behind those with smaller ones."""
    kinds: list[Kind] = ["relation"] if len(key) == 2 else ["entity"] * 9 + ["end"]
    return Contribution(
        kind=dice.choice(kinds),
        names=key,
        description=f"text {dice.randrange(texts)}",
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


def look_up(
    fold: CompactAggregate | IncrementalAggregate, summaries: Mapping[str, str]
) -> CompactAggregate | IncrementalAggregate:
    """Let it use those summaries it asks for, level by level."""
    while hashes := fold.fragments.pending_summaries():
        stored_summaries = {hash: summaries[hash] for hash in hashes & summaries.keys()}
        fold.fragments.apply_summaries(stored_summaries, hashes)
    return fold


def whole_of(key: Key, contributions: list[Contribution]) -> IncrementalAggregate:
    """The whole fold of these, none of whose groups has a summary."""
    whole = IncrementalAggregate(key, LIMITS, (Source(key),))
    whole.put(contributions)
    return whole


def compact_of(key: Key, contributions: list[Contribution]) -> CompactAggregate:
    """The compact fold of these."""
    compact = compacted(whole_of(key, contributions), LIMITS)
    assert compact is not None
    return compact


def assert_same(
    compact: CompactAggregate,
    contributions: list[Contribution],
    summaries: Mapping[str, str] | None = None,
) -> None:
    """Assert that it says what the fold of these says, once it has looked up these summaries."""
    whole = whole_of(compact.key, contributions)
    look_up(whole, summaries or {})
    look_up(compact, summaries or {})
    assert compact.aggregate() == aggregate(active_contributions(contributions))
    for with_missing in (True, False):
        assert compact.fragments.description(with_missing=with_missing) == (
            whole.fragments.description(with_missing=with_missing)
        )
    assert compact.expanded(LIMITS).contributions() == whole.contributions()


def summarised(
    dice: Random, fold: CompactAggregate | IncrementalAggregate, share: float
) -> dict[str, str]:
    """Summaries of so many of the groups that lack one."""
    missing = fold.fragments.description().missing_summaries
    return {group.hash: f"summary {group.hash[:5]}" for group in missing if dice.random() < share}


@KEYS
@pytest.mark.parametrize("paths", [3, 10**6])
@pytest.mark.parametrize("texts", [3, 40, 10**6])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_it_says_what_the_whole_says_while_chunks_and_summaries_come_in_any_order(
    key: Key, share: float, texts: int, paths: int
) -> None:
    dice = Random(texts)
    contributions = [contribution(dice, key, chunk, paths, texts) for chunk in range(900)]
    present = contributions[:400]
    fold: CompactAggregate | IncrementalAggregate = compact_of(key, present)
    waiting = contributions[400:]
    dice.shuffle(waiting)
    summaries: dict[str, str] = {}
    while waiting:
        number = dice.choice([1, 1, 7, 80])
        batch, waiting = waiting[:number], waiting[number:]
        present += batch
        changes = [*batch, replace(batch[0], chunk_id="other", is_retracted=True)]
        if isinstance(fold, CompactAggregate) and not fold.append(changes):
            fold = fold.expanded(LIMITS)
        if isinstance(fold, IncrementalAggregate):
            fold.put(changes)
            fold = compacted(fold, LIMITS) or fold
        new_summaries = summarised(dice, look_up(fold, summaries), share)
        fold.apply_summaries(new_summaries)
        summaries |= new_summaries
    whole = fold.expanded(LIMITS) if isinstance(fold, CompactAggregate) else fold
    assert_same(compact_of(key, whole.contributions()), present, summaries)
    if isinstance(fold, CompactAggregate):
        assert_same(fold, present, summaries)


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


def test_a_further_chunk_needs_one_summary_of_a_level_and_a_new_level_is_made_of_the_whole() -> (
    None
):
    dice = Random(4)
    contributions = [contribution(dice, RELATION, number) for number in range(600)]
    compact = compact_of(RELATION, contributions[:400])
    look_up(compact, {})
    count = 400
    while compact.append(contributions[count : count + 1]):
        count += 1
        hashes = compact.fragments.pending_summaries()
        assert len(hashes) == 1
        assert hashes <= {group.hash for group in compact.fragments.description().missing_summaries}
        compact.fragments.apply_summaries({}, hashes)
    assert count == 512, "further ones make another level of groups"


def test_a_description_that_would_show_is_left_to_the_whole() -> None:
    dice = Random(9)
    contributions = [
        replace(contribution(dice, RELATION, number), description=f"text {number % 40}")
        for number in range(400)
    ]
    compact = compact_of(RELATION, contributions)
    known_text = replace(contribution(dice, RELATION, 500), description="text 7")
    assert compact.append([known_text])
    assert_same(compact, [*contributions, known_text])
    assert not compact.append([replace(contribution(dice, RELATION, 501), description="new")])
    long_text = replace(contribution(dice, RELATION, 502), description="long " * 1200)
    assert compact.append([long_text])
    assert_same(compact, [*contributions, known_text, long_text])


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


@pytest.mark.parametrize(("count", "times"), [(300, 2), (500, 3), (600, 2), (3000, 4)])
def test_it_takes_a_fraction_of_the_memory(count: int, times: int) -> None:
    dice = Random(7)
    contributions = [contribution(dice, RELATION, number) for number in range(count)]
    compact = compact_of(RELATION, contributions)
    look_up(compact, {})
    assert compact.size * times < whole_of(RELATION, contributions).size


def test_what_is_let_go_does_not_wait_for_the_garbage_collector() -> None:
    dice = Random(10)
    contributions = [contribution(dice, RELATION, number) for number in range(400)]
    gc.disable()
    try:
        whole = whole_of(RELATION, contributions)
        compact = compacted(whole, LIMITS)
        assert compact is not None
        for fold in (whole, compact):
            look_up(fold, summarised(dice, fold, 0.5))
        references = [weakref.ref(fold) for fold in (whole, compact)]
        trees = [weakref.ref(fold.fragments) for fold in (whole, compact)]
        del whole, compact, fold
        assert [reference() for reference in (*references, *trees)] == [None] * 4
    finally:
        gc.enable()


def test_few_changed_and_edited_ones_stay_whole() -> None:
    dice = Random(8)
    contributions = [contribution(dice, RELATION, number) for number in range(400)]
    assert compacted(whole_of(RELATION, contributions[: MIN_CONTRIBUTIONS - 1]), LIMITS) is None
    assert compacted(compact_of(RELATION, contributions).expanded(LIMITS), LIMITS) is None
    edited = IncrementalAggregate(RELATION, LIMITS, (Source(("A", "C")),))
    edited.put(contributions)
    assert compacted(edited, LIMITS) is None
    assert compacted(whole_of(RELATION, contributions), LIMITS) is not None
