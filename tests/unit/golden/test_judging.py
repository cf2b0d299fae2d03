"""What counts as found in an answer, and what as an answer that says nothing is there."""

import pytest

from contracts.events import GoldenExpectation, GoldenResult
from offline.answers import extractive_answer
from runtime.golden.judging import NO_CONTEXT, NOT_SAID, GivenAnswer, declines, judge, reasons
from services.query.answering import ask


def answered(text: str, *passages: str, documents: tuple[str, ...] = ()) -> GivenAnswer:
    return GivenAnswer(text, passages, documents)


@pytest.mark.parametrize(
    ("fact", "text", "is_found"),
    [
        ("Ada Marlow", "It is led by **Ada\n  Marlow**. [1]", True),
        ("ada marlow", "It is led by ADA MARLOW", True),
        ("12", "since 312 days", False),
        ("12", "since 12 days", True),
        ("the harbour", "led from the [harbour](http://example.com/a)", True),
        ("1907", "in 1907[2], when", True),
        ("don't", "they don’t", True),
        ("艾达", "由艾达领导", True),
        ("Straße", "in der STRASSE", True),
        ("[1]", "anything [1]", False),
    ],
)
def test_a_fact_is_found_however_it_is_written(fact: str, text: str, is_found: bool) -> None:
    expectation = GoldenExpectation(facts=(fact,))
    assert judge("q", expectation, answered(text)).passed is is_found
    assert judge("q", expectation, answered("Something else.", text)).passed is is_found


def test_a_document_is_named_by_its_id_its_path_or_its_file() -> None:
    answer = answered("See there.", documents=("doc-1", "archive/1987/Port.md"))
    for name in ("doc-1", "archive/1987/port.md", "PORT.md"):
        assert judge("q", GoldenExpectation(documents=(name,)), answer).passed
    result = judge("q", GoldenExpectation(documents=("doc-1", "ort.md")), answer)
    assert (result.passed, result.missing_documents) == (False, (1,))


def test_what_is_missing_is_said_in_words_and_recorded_in_numbers() -> None:
    expectation = GoldenExpectation(facts=("radium", "1898"), documents=("curie.txt",))
    result = judge("q", expectation, answered("She discovered radium."))
    assert (result.missing_facts, result.missing_documents) == ((1,), (0,))
    assert reasons(expectation, result) == ["missing fact: 1898", "document not found: curie.txt"]
    assert "1898" not in result.model_dump_json()
    failed_result = GoldenResult(id="q", passed=False, error="the chat model does not answer now")
    assert reasons(expectation, failed_result) == [
        "it could not be asked: the chat model does not answer now"
    ]


@pytest.mark.parametrize(
    "text",
    [
        ask.NO_CONTEXT,
        NOT_SAID,
        f"{NOT_SAID}\n\n{extractive_answer.NEAREST}\n\nThe harbour freezes. [1]",
        "The excerpts do not tell how deep the harbour is.",
        "There is no information about that in the documents.",
        "Die Auszüge sagen dazu nichts.",
        "文档中没有提到港口的深度。",
    ],
)
def test_an_unanswerable_question_passes_where_the_answer_declines(text: str) -> None:
    expectation = GoldenExpectation(unanswerable=True)
    assert declines(text)
    assert judge("q", expectation, answered(text)).passed
    invented_result = judge("q", expectation, answered("The harbour is twelve metres deep. [1]"))
    assert (invented_result.passed, invented_result.invented) == (False, True)
    assert reasons(expectation, invented_result) == ["answered although it is not in the documents"]


def test_the_sentences_of_answers_without_a_model_are_those_that_are_known() -> None:
    assert extractive_answer.NOT_SAID == NOT_SAID
    assert NO_CONTEXT in ask.NO_CONTEXT


@pytest.mark.parametrize(
    "fields",
    [{}, {"facts": ("a",), "unanswerable": True}, {"facts": ("",)}, {"facts": ("a",) * 33}],
)
def test_an_expectation_that_cannot_be_met_or_missed_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="GoldenExpectation"):
        GoldenExpectation.model_validate(fields)
