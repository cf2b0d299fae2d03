"""What an answer without a model says of sources that contradict what it quotes."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from offline.answers.disagreements import disagree
from offline.answers.quotable_sentences import quotable
from services.query.answering.citations import cited_ids
from services.query.passage import Passage
from services.query.retrieval.results import RetrievalResult

MAX_PASSAGES = 20
"""Passages, the best first, in which a contradiction is looked for."""

MAX_NOTES = 2
"""Contradictions that an answer tells."""

BEGINNING = 5
"""Letters by which two forms of a word are taken for the same before sentences are compared."""

SHARED_WORDS = 2


@dataclass(frozen=True)
class _Statement:
    """A sentence of a passage, under the reference of its document."""

    reference: str
    passage: Passage
    text: str

    @property
    def source(self) -> str:
        """Return its document as a reader finds it."""
        return f"{self.passage.file_path} [{self.reference}]"


def with_contradiction_note(text: str, retrieval: RetrievalResult) -> str:
    """Return the answer, with a sentence for each statement of another document in force that seems
    to contradict what it quotes.
    """
    statements = list(_statements_in_force(retrieval))
    reference_ids = cited_ids(text, retrieval.references.values())
    quotes = [item for item in statements if item.reference in reference_ids and item.text in text]
    notes: dict[frozenset[str], str] = {}
    for quote in quotes:
        for other in statements:
            if _may_speak_of_the_same(quote, other) and disagree(quote.text, other.text):
                pair = frozenset((quote.reference, other.reference))
                notes.setdefault(pair, _note(quote, other, is_quoted=other in quotes))
    return f"{text}\n\n({' '.join(islice(notes.values(), MAX_NOTES))})" if notes else text


def _note(quote: _Statement, other: _Statement, *, is_quoted: bool) -> str:
    sources = f"{quote.source} and {other.source} seem to contradict each other"
    return f"{sources}." if is_quoted else f"{sources}: “{other.text}”"


def _statements_in_force(retrieval: RetrievalResult) -> Iterator[_Statement]:
    for reference, passage in retrieval.passages[:MAX_PASSAGES]:
        if reference and passage.document_id not in retrieval.standings:
            begins_inside = passage.order > 0
            for part in quotable(passage.content, passage.headings, begins_inside=begins_inside):
                yield _Statement(reference, passage, part.plain)


def _may_speak_of_the_same(quote: _Statement, other: _Statement) -> bool:
    """Return whether the sentences are of two documents and share words: a comparison of their
    stems costs a hundred times as much.
    """
    if quote.passage.document_id == other.passage.document_id:
        return False
    beginnings = {word[:BEGINNING] for word in quote.text.split() if len(word) >= BEGINNING}
    if not beginnings:
        return True
    return sum(word in other.text for word in beginnings) >= min(SHARED_WORDS, len(beginnings))
