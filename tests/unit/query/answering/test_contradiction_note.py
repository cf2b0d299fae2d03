"""An answer without a model says where documents in force contradict what it quotes."""

from datetime import UTC, datetime

from contracts.graph import Generations
from contracts.values import Validity
from services.query.answering.ask import ask
from services.query.partitions import Partitions
from services.query.question import Question
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())
TODAY = datetime(2026, 7, 1, tzinfo=UTC)
POLICY = "The notice period of a tenant of the harbour sheds is three months."
RULES = "The notice period of a tenant of the harbour sheds is six weeks."
QUESTION = Question("What is the notice period of a tenant?", "naive", valid_at=TODAY)
NOTE = "seem to contradict each other"


async def answer_over(**documents: tuple[str, Validity | None]) -> str:
    harness = QueryHarness()
    for number, (name, (text, validity)) in enumerate(documents.items(), start=1):
        await harness.index(name, text, version=1000 * number, validity=validity)
    return (await ask(QUESTION, PARTITIONS, harness.deps())).text


async def test_two_documents_in_force_that_say_different_things_are_named() -> None:
    text = await answer_over(policy=(POLICY, None), rules=(RULES, None))
    assert NOTE in text
    assert "policy.txt [" in text
    assert "rules.txt [" in text


async def test_what_is_superseded_contradicts_nothing() -> None:
    text = await answer_over(policy=(POLICY, None), rules=(RULES, Validity(supersedes=("policy",))))
    assert NOTE not in text
    assert "supersedes" in text


async def test_documents_that_agree_are_not_named() -> None:
    same = POLICY.replace("is three", "is at least three")
    assert NOTE not in await answer_over(policy=(POLICY, None), rules=(same, None))
