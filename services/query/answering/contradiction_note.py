"""What an answer without a model says of sources that contradict what it quotes."""

from collections.abc import Sequence
from itertools import islice

from services.query.answering.citations import cited_ids
from services.query.retrieval.contradictions import (
    MAX_PASSAGES,
    PassageSentence,
    passage_sentences,
)
from services.query.retrieval.results import RetrievalResult

MAX_NOTES = 2
"""Contradictions that an answer tells."""


def with_contradiction_note(text: str, retrieval: RetrievalResult) -> str:
    """Return the answer, with a sentence for each statement of another document in force that seems
    to contradict what it quotes, and which of the two has the greater authority.
    """
    sentences = _sentences_in_force(retrieval)
    reference_ids = cited_ids(text, retrieval.references.values())
    quotes = [
        sentence
        for sentence in sentences
        if _reference(sentence, retrieval) in reference_ids and sentence.text in text
    ]
    notes: dict[frozenset[str], str] = {}
    for quote in quotes:
        for statement in sentences:
            if quote.contradicts(statement):
                pair = frozenset((quote.passage.document_id, statement.passage.document_id))
                notes.setdefault(
                    pair, _note(quote, statement, retrieval, is_quoted=statement in quotes)
                )
    return f"{text}\n\n({' '.join(islice(notes.values(), MAX_NOTES))})" if notes else text


def _note(
    quote: PassageSentence,
    statement: PassageSentence,
    retrieval: RetrievalResult,
    *,
    is_quoted: bool,
) -> str:
    sources = " and ".join(f"{_source(sentence, retrieval)}" for sentence in (quote, statement))
    contradiction = f"{sources} seem to contradict each other"
    contradiction += _greater_authority(quote, statement, retrieval)
    return f"{contradiction}." if is_quoted else f"{contradiction}: “{statement.text}”"


def _greater_authority(
    quote: PassageSentence, statement: PassageSentence, retrieval: RetrievalResult
) -> str:
    """Return which of both documents has the greater authority; empty for equal ones."""
    documents = frozenset((quote.passage.document_id, statement.passage.document_id))
    for precedence in retrieval.precedences:
        if precedence.documents == documents:
            weightier, lighter = precedence.weightier, precedence.lighter
            return (
                f", and {weightier.file_path} has the greater authority "
                f"({weightier.authority} against {lighter.authority})"
            )
    return ""


def _sentences_in_force(retrieval: RetrievalResult) -> Sequence[PassageSentence]:
    return passage_sentences(
        passage
        for reference, passage in retrieval.passages[:MAX_PASSAGES]
        if reference and passage.document_id not in retrieval.standings
    )


def _reference(sentence: PassageSentence, retrieval: RetrievalResult) -> str:
    return retrieval.references.get(sentence.passage.file_path, "")


def _source(sentence: PassageSentence, retrieval: RetrievalResult) -> str:
    """Return the document of a sentence as a reader finds it."""
    return f"{sentence.passage.file_path} [{_reference(sentence, retrieval)}]"
