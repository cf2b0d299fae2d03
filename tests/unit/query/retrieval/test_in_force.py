"""Passages of documents that are in force come before those that they supersede, and the answer
says so.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.events import DocumentDeleted, SupersessionStated
from contracts.graph import Generations
from contracts.values import Validity
from services.query.answer import Answer
from services.query.answering.ask import ask
from services.query.answering.evidence import combine
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.status.scope import Scope
from services.query.visibility.port import VisibleDocuments
from tests.support.events import delivered
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())
MAY = datetime(2026, 5, 1, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
POLICY = "The notice period of a tenant of the harbour sheds is three months."
AMENDMENT = "The notice period of a tenant of the harbour sheds is six weeks."
QUESTION = Question("What is the notice period of a tenant of the harbour sheds?", "naive")


async def amended(**fields: Any) -> QueryHarness:
    """A policy, and an amendment that supersedes it from May on."""
    harness = QueryHarness()
    await harness.index("policy", POLICY, version=1000)
    validity = Validity(valid_from=MAY, supersedes=("policy",), **fields)
    await harness.index("amendment", AMENDMENT, version=2000, validity=validity)
    return harness


async def asked(harness: QueryHarness, **changes: Any) -> Answer:
    question = replace(QUESTION, **{"valid_at": JULY, **changes})
    return await ask(question, PARTITIONS, harness.deps())


def sources(answer: Answer) -> list[str]:
    return [passage.document_id for _, passage in answer.retrieval.passages]


async def test_the_answer_is_that_in_force_and_names_what_it_supersedes() -> None:
    answer = await asked(await amended())
    assert sources(answer) == ["amendment", "policy"]
    assert answer.text.index("six weeks") < answer.text.index("three months")
    assert "amendment.txt [1] supersedes policy.txt [2] since 2026-05-01." in answer.text
    (standing,) = answer.retrieval.standings.values()
    assert [successor.document_id for successor in standing.successors] == ["amendment"]


async def test_before_the_amendment_holds_the_policy_does() -> None:
    answer = await asked(await amended(), valid_at=datetime(2026, 4, 1, tzinfo=UTC))
    assert sources(answer) == ["policy", "amendment"]
    assert answer.text.index("three months") < answer.text.index("six weeks")
    assert answer.retrieval.standings["amendment"].valid_from == MAY


async def test_an_amendment_that_has_ended_supersedes_nothing() -> None:
    answer = await asked(await amended(valid_until=datetime(2026, 6, 1, tzinfo=UTC)))
    assert list(answer.retrieval.standings) == ["amendment"]
    assert sources(answer) == ["policy", "amendment"]


async def test_an_amendment_that_the_search_does_not_find_is_added() -> None:
    answer = await asked(await amended(), chunk_top_k=1)
    assert sources(answer) == ["amendment"]


async def test_a_question_about_one_document_gets_no_other() -> None:
    answer = await asked(await amended(), scope=Scope(document_ids=("policy",)))
    assert sources(answer) == ["policy"]
    assert "supersedes" in answer.text


async def test_amendments_of_amendments_come_first() -> None:
    harness = await amended()
    third = AMENDMENT.replace("six weeks", "ten days")
    validity = Validity(valid_from=JULY, supersedes=("amendment",))
    await harness.index("second", third, version=3000, validity=validity)
    answer = await asked(harness)
    assert sources(answer) == ["second", "amendment", "policy"]


async def test_an_outweighed_document_is_quoted_before_what_it_supersedes() -> None:
    harness = await amended()
    rules = POLICY.replace("three months", "four weeks")
    validity = Validity(authority=10)
    await harness.index("rules", rules, version=3000, validity=validity)
    answer = await asked(harness)
    assert sources(answer) == ["rules", "amendment", "policy"]
    amounts = ("four weeks", "six weeks", "three months")
    assert sorted(amounts, key=answer.text.index) == [*amounts]
    assert [*answer.retrieval.levels.values()] == [1, 2]


async def test_successors_of_successors_are_added_where_the_search_finds_none() -> None:
    harness = QueryHarness()
    await harness.index("policy", POLICY, version=1000)
    for number, (name, superseded) in enumerate(
        [("first", "policy"), ("second", "first")], start=2
    ):
        validity = Validity(valid_from=MAY, supersedes=(superseded,))
        text = f"Resolution {number}: six weeks."
        await harness.index(name, text, version=1000 * number, validity=validity)
    question = replace(QUESTION, valid_at=JULY)
    answer = await ask(question, PARTITIONS, harness.deps(min_score=0.3))
    assert sources(answer) == ["second", "first", "policy"]
    assert set(answer.retrieval.standings) == {"first", "policy"}


async def test_documents_that_supersede_each_other_end_in_their_order() -> None:
    harness = await amended()
    statement = SupersessionStated(
        document_id="policy", validity=Validity(supersedes=("amendment",))
    )
    await harness.project(delivered(statement, 5000))
    assert sorted(sources(await asked(harness))) == ["amendment", "policy"]


async def test_a_statement_counts_in_place_of_the_document_until_it_is_taken_back() -> None:
    harness = await amended()
    await harness.project(
        delivered(SupersessionStated(document_id="amendment", validity=Validity()), 5000)
    )
    assert not (await asked(harness)).retrieval.standings
    await harness.project(delivered(SupersessionStated(document_id="amendment"), 5001))
    assert "policy" in (await asked(harness)).retrieval.standings


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_deletion_ends_what_the_document_superseded(order: tuple[int, ...]) -> None:
    harness = await amended()
    deliveries = (
        delivered(SupersessionStated(document_id="amendment", validity=Validity()), 5000),
        delivered(DocumentDeleted(document_id="amendment"), 5001),
    )
    for place in order:
        await harness.project(deliveries[place])
    assert not (await harness.documents.related_by_validity(PARTITIONS.status, ["policy"]))
    assert not (await asked(harness)).retrieval.standings


async def test_a_new_version_says_anew_what_it_supersedes() -> None:
    harness = await amended()
    await harness.index("amendment", AMENDMENT, version=4000)
    assert not (await asked(harness)).retrieval.standings


async def test_a_model_is_told_what_is_not_in_force() -> None:
    harness = await amended()
    question = replace(QUESTION, valid_at=JULY)
    prompt = await ask(question, PARTITIONS, harness.deps(), output="prompt")
    assert '"superseded_by": "[1] amendment.txt"' in prompt.text
    assert "superseded, or valid at another time" in prompt.text


async def test_without_any_validity_the_prompt_is_as_it_was() -> None:
    harness = QueryHarness()
    await harness.index("policy", POLICY)
    prompt = await ask(QUESTION, PARTITIONS, harness.deps(), output="prompt")
    assert "superseded" not in prompt.text


async def test_a_successor_that_the_viewer_does_not_see_is_not_told_of() -> None:
    visible = VisibleDocuments(frozenset({"policy"}), hides=True)
    answer = await asked(await amended(), visible=visible)
    assert sources(answer) == ["policy"]
    assert not answer.retrieval.standings
    assert "amendment" not in answer.text


async def disagreeing(policy: int, amendment: int) -> QueryHarness:
    """A policy and an amendment of these authorities, of which none supersedes the other."""
    harness = QueryHarness()
    texts = {"policy": (POLICY, policy), "amendment": (AMENDMENT, amendment)}
    for number, (name, (text, authority)) in enumerate(texts.items(), start=1):
        validity = Validity(authority=authority)
        await harness.index(name, text, version=1000 * number, validity=validity)
    return harness


@pytest.mark.parametrize(
    ("policy", "amendment", "order"),
    [(10, 0, ["policy", "amendment"]), (-5, 5, ["amendment", "policy"])],
)
async def test_of_two_that_contradict_each_other_the_greater_authority_comes_first(
    policy: int, amendment: int, order: list[str]
) -> None:
    answer = await asked(await disagreeing(policy, amendment))
    assert sources(answer) == order
    first, second = (POLICY, AMENDMENT) if order[0] == "policy" else (AMENDMENT, POLICY)
    assert answer.text.index(first) < answer.text.index(second)
    weights = f"({max(policy, amendment)} against {min(policy, amendment)})"
    assert f"and {order[0]}.txt has the greater authority {weights}" in answer.text
    (precedence,) = answer.retrieval.precedences
    assert (precedence.weightier.text, precedence.lighter.text) == (first, second)


async def test_equal_authorities_order_nothing() -> None:
    answer = await asked(await disagreeing(7, 7))
    assert not answer.retrieval.precedences
    assert "authority" not in answer.text


async def test_authority_does_not_order_what_agrees_or_is_superseded() -> None:
    agreeing = QueryHarness()
    await agreeing.index("policy", POLICY, version=1000)
    await agreeing.index("other", "Sheds have doors.", version=2000, validity=Validity(authority=9))
    assert not (await asked(agreeing)).retrieval.precedences
    harness = await amended()
    weighty = SupersessionStated(document_id="policy", validity=Validity(authority=100))
    await harness.project(delivered(weighty, 5000))
    answer = await asked(harness)
    assert sources(answer) == ["amendment", "policy"]
    assert not answer.retrieval.precedences


async def test_a_model_is_told_which_source_has_the_greater_authority() -> None:
    question = replace(QUESTION, valid_at=JULY)
    harness = await disagreeing(10, 0)
    prompt = await ask(question, PARTITIONS, harness.deps(), output="prompt")
    assert '"authority": "0", "contradicted_by": "[1] policy.txt"' in prompt.text
    assert "Between those do choose" in prompt.text


async def test_an_authority_that_the_viewer_does_not_see_orders_nothing() -> None:
    visible = VisibleDocuments(frozenset({"amendment"}), hides=True)
    answer = await asked(await disagreeing(10, 0), visible=visible)
    assert sources(answer) == ["amendment"]
    assert not answer.retrieval.precedences


async def test_what_several_searches_found_is_in_force_first_too() -> None:
    harness = await amended()
    of_question = (await asked(harness)).retrieval
    (first, amendment), (second, policy) = of_question.passages
    assert (amendment.document_id, policy.document_id) == ("amendment", "policy")
    # Further searches find the policy alone, which the fusion of their ranks prefers therefore.
    of_search = replace(of_question, passages=[(second, policy)])
    combined = combine([of_question, of_search, of_search], QUESTION, len)
    assert [passage.id for _, passage in combined.passages] == [amendment.id, policy.id]
    assert [id for id, _ in combined.passages] == [first, second]
