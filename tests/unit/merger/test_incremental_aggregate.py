"""A fold kept up to date says what the fold of the whole set says, whatever came and went on the
way.
"""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.contributions import Contribution, Key, Kind
from knowledge.descriptions import Description, SummaryLimits, describe
from knowledge.fold import (
    MAX_KEYWORDS,
    Aggregate,
    active_contributions,
    aggregate,
    fragments,
)
from services.merger.domain.incremental_aggregate import EMPTY, IncrementalAggregate

ENTITY = ("A",)
RELATION = ("A", "B")
LIMITS = SummaryLimits(fragments=3, tokens=40)


def contribution(dice: Random, key: Key, chunk: int, variety: int) -> Contribution:
    """What a chunk may say in some version; a small `variety` makes for many equal values."""
    kinds: list[Kind] = ["relation"] if len(key) == 2 else ["entity", "entity", "end"]
    return Contribution(
        kind=dice.choice(kinds),
        names=key,
        description=f"text {dice.randrange(variety)}" + " long" * dice.choice([0, 0, 30]),
        chunk_id=f"d{chunk % 5}-chunk-{chunk // 5}",
        document_id=f"d{chunk % 5}",
        order=chunk // 5,
        version=dice.randint(1, 9),
        added_at=dice.choice([1, 1, 2, 3]) * 1_000_000,
        file_path=dice.choice(["unknown_source", f"{dice.randrange(variety)}.txt"]),
        type=f"t{dice.randrange(3)}",
        keywords=tuple(f"k{dice.randrange(variety)}" for _ in range(dice.randrange(4))),
        weight=dice.choice([1.0, 0.1, 0.7, 1e6, 0.0]),
    )


def made(
    key: Key, contributions: dict[str, Contribution], summaries: dict[str, str]
) -> tuple[Aggregate, Description]:
    """What the pure functions make of the whole set."""
    active = active_contributions(contributions.values())
    return aggregate(active), describe(key, fragments(active), summaries, LIMITS)


def kept(hub: IncrementalAggregate, summaries: dict[str, str]) -> tuple[Aggregate, Description]:
    """What the hub says once it has looked for the summaries it has not asked for."""
    while hashes := hub.fragments.pending_summaries():
        hub.fragments.apply_summaries(
            {hash: summaries[hash] for hash in hashes & summaries.keys()}, hashes
        )
    return hub.aggregate(), hub.fragments.description()


def step(
    dice: Random,
    key: Key,
    hub: IncrementalAggregate,
    contributions: dict[str, Contribution],
    summaries: dict[str, str],
) -> None:
    """Some chunks say something new, say it again or take it back; or a summary is put, or put
    anew.
    """
    lacking = made(key, contributions, summaries)[1].missing_summaries
    if lacking and dice.random() < 0.4:
        new_summaries = {group.hash: f"summary {dice.randrange(3)}" for group in lacking}
        if dice.random() < 0.3:
            new_summaries |= {
                hash: text + " first"
                for hash, text in dice.sample(sorted(summaries.items()), min(2, len(summaries)))
            }
        summaries |= new_summaries
        hub.apply_summaries(new_summaries)
        return
    changes = [
        contribution(dice, key, dice.randrange(60), dice.choice([3, 80]))
        for _ in range(dice.choice([1, 1, 8, 30]))
    ]
    if contributions and dice.random() < 0.4:
        chunks = dice.sample(sorted(contributions), dice.randint(1, len(contributions)))
        changes = [
            replace(contributions[chunk], is_retracted=True, description="", keywords=())
            for chunk in chunks
        ]
    elif contributions and dice.random() < 0.2:
        changes = list(contributions.values())
    hub.put(changes)
    for change in changes:
        contributions[change.chunk_id] = change


@pytest.mark.parametrize("key", [ENTITY, RELATION], ids=str)
@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.booleans())
def test_after_any_steps_a_hub_says_what_the_set_says(key: Key, dice: Random, reads: bool) -> None:
    hub = IncrementalAggregate(key, LIMITS)
    contributions = dict[str, Contribution]()
    summaries = dict[str, str]()
    for _ in range(25):
        step(dice, key, hub, contributions, summaries)
        if reads:
            assert kept(hub, summaries) == made(key, contributions, summaries)
    assert kept(hub, summaries) == made(key, contributions, summaries)


@pytest.mark.parametrize("key", [ENTITY, RELATION], ids=str)
def test_a_hub_of_thousands_grows_and_shrinks_through_all_levels(key: Key) -> None:
    dice = Random(1)
    hub = IncrementalAggregate(key, LIMITS)
    contributions = dict[str, Contribution]()
    summaries = dict[str, str]()
    chunks = dice.sample(range(9000), 9000)
    for start in range(0, 9000, 1500):
        batch = [contribution(dice, key, chunk, 100_000) for chunk in chunks[start : start + 1500]]
        hub.put(batch)
        contributions |= {contribution.chunk_id: contribution for contribution in batch}
        assert kept(hub, summaries) == made(key, contributions, summaries)
        while lacking := made(key, contributions, summaries)[1].missing_summaries:
            summaries |= {group.hash: f"summary {group.hash[:8]}" for group in lacking}
            hub.apply_summaries({group.hash: summaries[group.hash] for group in lacking})
        assert kept(hub, summaries) == made(key, contributions, summaries)
    assert len(hub.aggregate().keywords) == (
        MAX_KEYWORDS if len(key) == 2 else len(hub.aggregate().keywords)
    )
    for chunk in dice.sample(sorted(contributions), 8990):
        contributions[chunk] = replace(contributions[chunk], is_retracted=True)
        hub.put([contributions[chunk]])
    assert kept(hub, summaries) == made(key, contributions, summaries)
    hub.put(replace(contribution, is_retracted=True) for contribution in contributions.values())
    assert (hub.aggregate(), hub.fragments.description(), hub.size) == (
        Aggregate(),
        Description(""),
        EMPTY,
    )


def test_a_summary_that_came_while_it_did_not_matter_is_not_missed() -> None:
    dice = Random(2)
    key = ENTITY
    ends = [
        replace(contribution(dice, key, n, 9), kind="end", description=f"tie {n}") for n in range(4)
    ]
    hub = IncrementalAggregate(key, LIMITS)
    hub.put(ends)
    summaries: dict[str, str] = {}
    (group,) = kept(hub, summaries)[1].missing_summaries
    entity_contribution = replace(contribution(dice, key, 50, 9), kind="entity")
    hub.put([entity_contribution])
    summaries[group.hash] = "of the ties"
    hub.apply_summaries(summaries)
    hub.put([replace(entity_contribution, is_retracted=True)])
    assert kept(hub, summaries)[1] == Description("of the ties")
