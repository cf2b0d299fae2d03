"""Of an answer that rested on an erased document its receipt stays, without a word of the
document.
"""

from dataclasses import replace
from typing import Any, cast

import pytest

from contracts import subjects
from contracts.events import AnswerGiven, DocumentErased, ErasedEvent
from contracts.ids import sha256
from operations.erasure.answers import answered_words
from runtime.bus.chain import erased_by
from runtime.bus.codec import decode, encode
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.records import Record
from runtime.receipts.reading import ReceiptFilter, find_receipt, newest_receipts
from services.query.question import Turn
from tests.support.events import NOON, sealed
from tests.support.querying import CURIE, QueryHarness, library_of_two
from tests.support.questions import local_questions, question, receipts_of

WORDS = ("Curie", "radium", "watches", "curie.txt")
KEYS = frozenset({("Marie Curie",), ("Radium",), ("Watch",), ("Marie Curie", "Radium")})


async def answered(forms: str, **fields: Any) -> tuple[QueryHarness, str]:
    """A log with the receipt of one answer."""
    harness = await library_of_two()
    receipts = receipts_of(harness, forms)
    id = (await local_questions(harness, receipts).ask(question(**fields))).receipt
    await receipts.publish()
    return harness, id


async def rewritten(harness: QueryHarness, document: str = "curie", keys: Any = KEYS) -> list[str]:
    """Publish what takes the place of receipts with words of the document; return their ids."""
    answers = await answered_words(harness.log, "w", document, keys, 0)
    for envelope in answers.rewritten():
        await harness.log.publish(envelope)
    for sequence in answers.leaves:
        gone = harness.log.messages[sequence - 1]
        harness.log.messages[sequence - 1] = replace(gone, subject="gone", data=b"")
    return [receipt.event.receipt for receipt in answers.receipts]


@pytest.mark.parametrize("forms", ["full", "hashes"])
async def test_its_words_go_and_the_receipt_stays(forms: str) -> None:
    harness, id = await answered(forms, query="Who discovered radium?", mode="mix")
    assert await rewritten(harness) == [id]
    text = harness.log.messages[-1].data.decode()
    assert not [word for word in WORDS if word in text]
    assert sha256(CURIE[0]) not in text
    receipt = await find_receipt(harness.log, "w", id)
    assert receipt is not None
    event = receipt.event
    assert (event.form, event.erased_documents) == ("erased", ("curie",))
    assert event.question.sha256 == sha256("Who discovered radium?")
    resting = await newest_receipts(
        MemoryEventFeed(harness.log), "w", ReceiptFilter(document="curie"), 0, 9
    )
    assert [receipt.event.receipt for receipt in resting] == [id]
    assert await rewritten(harness) == []


async def test_what_does_not_rest_on_it_stays_as_it_is() -> None:
    harness, _ = await answered("full", query="Who sells honey cakes?", mode="naive", top_k=1)
    before = harness.log.messages[0].data
    event = cast("AnswerGiven", decode(before, harness.log.messages[0].subject).data)
    assert event.evidence.documents == ("baker",)
    assert await rewritten(harness) == []
    assert harness.log.messages[0].data == before


async def test_what_rests_on_something_that_it_describes_goes_too() -> None:
    harness, id = await answered("full", query="Who discovered radium?", mode="local")
    assert await rewritten(harness, "another", frozenset({("Radium",)})) == [id]
    text = harness.log.messages[-1].data.decode()
    assert '"Radium"' not in text


async def test_a_conversation_may_have_repeated_it() -> None:
    history = (Turn("user", "Who was Marie Curie?"), Turn("assistant", "She discovered radium."))
    fields: dict[str, Any] = {
        "query": "And who sells honey cakes?",
        "mode": "naive",
        "history": history,
    }
    harness, id = await answered("full", **fields)
    assert await rewritten(harness, "unrelated", frozenset()) == [id]
    assert "honey" not in harness.log.messages[-1].data.decode()


def test_an_erased_receipt_keeps_its_place_in_the_chain_of_questions() -> None:
    of_document = ErasedEvent(sequence=1, sha256="a" * 64)
    of_answer = ErasedEvent(sequence=2, sha256="b" * 64, is_apart=True)
    tombstone = sealed(DocumentErased(document_id="d", erased=(of_document, of_answer)))
    record = Record(9, NOON, "kb.v1.w.d.DocumentErased", {}, encode(tombstone))
    assert [(erased.sequence, erased.chain) for erased in erased_by([record])] == [
        (1, "w"),
        (2, subjects.QUESTIONS),
    ]
