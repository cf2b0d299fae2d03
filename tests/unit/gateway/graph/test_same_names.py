"""Names that differ by case, article, plural and punctuation alone are joined as a whole, whatever
came in which order; what only looks so stays apart; and a person takes it back.
"""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.events import GraphEdited
from services.gateway.graph.name_forms import Named
from services.gateway.graph.same_names import same_names
from tests.support.events import delivered, document, entity, extracted, relation
from tests.support.graph_editing import merger
from tests.support.merging import Merger
from tests.support.querying import QueryHarness
from tests.support.shares import share
from tests.unit.gateway.test_api import client
from tests.unit.merger.test_any_order import Log, picture

PRIMES = ("prime numbers", "Prime Number", "The Prime Numbers", "PRIME NUMBERS")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (("the harbour office", "organization"), ("Harbour Office", "organization")),
        (("The Beatles", "organization"), ("Beatles", "organization")),
        (("U.S.", "location"), ("US", "location")),
        (("Tide-Mill", "location"), ("Tide Mill", "location")),
        (("tide mill", "other"), ("Tide Mill", "location")),
        (("Collatz conjecture", "method"), ("Collatz Conjecture", "concept")),
        (("Batteries", "concept"), ("battery", "concept")),
        (("Language Models", "concept"), ("Language Model", "method")),
        (("Euler’s Theorem", "concept"), ("Eulers Theorem", "concept")),
    ],
)
def test_what_differs_in_form_alone_is_the_same(
    name: tuple[str, str], target: tuple[str, str]
) -> None:
    assert list(same_names([Named(*name), Named(*target)])) == [(name[0], target[0])]


@pytest.mark.parametrize(
    "names",
    [
        [("US", "location"), ("us", "concept")],
        [("US", "location"), ("us", "location")],
        [("IT", "concept"), ("it", "concept")],
        [("Apple", "organization"), ("apple", "concept")],
        [("Harbour Office", "organization"), ("harbour office", "concept")],
        [("C", "concept"), ("C++", "concept"), ("C#", "concept")],
        [("The Who", "organization"), ("Who", "organization")],
        [("The Times", "organization"), ("Times", "concept")],
        [("Beatle", "person"), ("Beatles", "organization")],
        [("Adam", "person"), ("Adams", "person")],
        [("Physics", "concept"), ("Physic", "concept")],
        [("Python 3.11", "other"), ("Python 311", "other")],
        [("3-4", "data"), ("34", "data"), ("3.4", "data")],
        [("Zürich", "location"), ("Zurich", "location")],
        [("new", "concept"), ("news", "concept")],
        [("北京", "location"), ("南京", "location")],
    ],
    ids=lambda names: " ".join(name for name, _ in names),
)
def test_what_may_mean_two_things_stays_apart(names: list[tuple[str, str]]) -> None:
    assert list(same_names(Named(*values) for values in names)) == []


def test_a_plural_that_loses_its_singular_is_joined_once_more() -> None:
    entities = [Named("numbers", "method"), Named("The number", "method")]
    entities.append(Named("The numbers", "other"))
    assert list(same_names(entities)) == [("The number", "numbers"), ("The numbers", "numbers")]


word = st.sampled_from(["prime", "number", "numbers", "Prime", "Number", "PRIME", "C", "C++", "us"])


def name_of(named: Named) -> str:
    return named.name


def spelt(article: str, words: list[str], mark: str) -> str:
    return article + mark.join(words)


spelling = st.builds(
    spelt,
    st.sampled_from(["", "The ", "the "]),
    st.lists(word, min_size=1, max_size=3),
    st.sampled_from([" ", "-", ". "]),
)
some_entities = st.lists(
    st.builds(Named, spelling, st.sampled_from(["concept", "method", "person", "other", ""])),
    max_size=12,
    unique_by=name_of,
)


@given(some_entities, st.randoms(use_true_random=False))
def test_groups_are_of_the_set_and_once_joined_nothing_is_left(
    entities: list[Named], dice: Random
) -> None:
    joined = list(same_names(entities))
    dice.shuffle(entities)
    assert list(same_names(entities)) == joined
    names = [name for name, _ in joined]
    assert len(names) == len(set(names))
    assert not {target for _, target in joined} & set(names)
    left = [named for named in entities if named.name not in names]
    assert list(same_names(left)) == []


def joined_log(dice: Random) -> tuple[Log, Log]:
    """Documents that use all spellings, and the rule's decisions on them at later places."""
    says: Log = []
    for place, name in enumerate(dice.sample(PRIMES, len(PRIMES)), 1):
        of = document(f"d{place}", place * 10)
        facts = [entity(name, "concept", f"{name} said"), entity("Sieve", "method")]
        ties = [relation(name, "Sieve", f"{name} are sieved")]
        says.append(delivered(extracted(of, 0, facts, ties), place * 10))
    pairs = list(same_names(Named(name, "concept") for name in PRIMES))
    decisions: Log = [
        delivered(
            GraphEdited(
                operation="accept_alias", names=(name,), target=target, proposed_by="rule:same"
            ),
            100 + place,
        )
        for place, (name, target) in enumerate(dice.sample(pairs, len(pairs)))
    ]
    return says, decisions


def taken_back(decisions: Log) -> Log:
    return [
        delivered(
            GraphEdited(
                operation="undo_alias", names=decision.event.names, target=decision.event.target
            ),
            200 + place,
        )
        for place, decision in enumerate(decisions)
    ]


@pytest.mark.parametrize("seed", share(range(12), daily=5))
async def test_joined_in_any_order_it_is_one_graph_and_taken_back_the_one_of_before(
    seed: int,
) -> None:
    says, decisions = joined_log(Random(seed))
    arrivals = [*says, *decisions]
    in_order = await picture(Merger(), [arrivals])
    Random(seed).shuffle(arrivals)
    assert await picture(Merger(), [arrivals[::2], arrivals[1::2]]) == in_order
    merged = Merger()
    await picture(merged, [arrivals])
    assert set(await merged.entities()) == {"Prime Number", "Sieve"}
    assert set(await merged.relations()) == {("Prime Number", "Sieve")}
    undone = [*arrivals, *taken_back(decisions)]
    Random(seed).shuffle(undone)
    assert await picture(Merger(), [undone]) == await picture(Merger(), [says])


async def test_the_rule_joins_over_http_and_a_person_takes_one_back() -> None:
    harness = QueryHarness()
    for place, name in enumerate(PRIMES, 1):
        says: Any = (([entity(name, "concept")], []),)
        await harness.index(f"d{place}", f"{name} are sieved.", version=place * 1000, says=says)
    rule = {"rule": "same"}
    async with merger(harness), client(harness.app()) as api:
        proposals = (await api.get("/graph/aliases/proposals", params=rule)).json()
        assert {proposal["entity"] for proposal in proposals} == {"Prime Number"}
        for proposal in proposals:
            body = {"decision": "accept", "names": [proposal["name"]], "entity": "Prime Number"}
            answer = await api.post("/graph/aliases", json={**body, "proposed_by": "rule:same"})
            assert answer.json()["status"] == "success"
        assert (await api.get("/graph/label/list")).json() == ["Prime Number"]
        assert (await api.get("/graph/aliases/proposals", params=rule)).json() == []
        back = {"decision": "reject", "names": ["PRIME NUMBERS"], "entity": "Prime Number"}
        assert (await api.post("/graph/aliases", json=back)).status_code == 200
        assert (await api.get("/graph/label/list")).json() == ["PRIME NUMBERS", "Prime Number"]
        assert (await api.get("/graph/aliases/proposals", params=rule)).json() == []
