"""Words of about the same meaning: the table, how it is made, and what it does to the evidence for
a question.
"""

import numpy as np
import pytest

from benchmarks.similar_words import MAX_SIMILAR, MIN_LIKENESS, lines, vocabulary
from offline.language.stems import stem
from services.query.passage import Passage
from services.query.retrieval.multihop.evidence import Evidence, gather_evidence, with_similar_words
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.similar_words import TABLE, similar_words
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.passage_words import words_of

TEXTS = (
    "Otto Brandt married Ada Marsh.",
    "Otto Brandt painted harbours.",
    "Otto Brandt had a wife.",
)


def evidence_of(question: str, *texts: str) -> Evidence:
    names = NameIndex()
    names.add([("Otto Brandt", "person"), ("Ada Marsh", "person")])
    passages = [
        Passage(str(number), f"d{number}", 0, text, "a.txt") for number, text in enumerate(texts)
    ]
    index = IndexBuilder(names).add(map(words_of, passages)).build()
    terms = QueryTerms.of(question, [])
    allowed = index.allowed(None)
    evidence = gather_evidence(index, terms, {}, allowed)
    return with_similar_words(index, terms, evidence, allowed)


def test_words_of_about_the_same_meaning_are_known_and_others_are_not() -> None:
    assert {stem("husband"), stem("married")} <= similar_words(stem("wife")).keys()
    assert stem("harbour") not in similar_words(stem("wife"))
    assert similar_words("tavkoslhol") == {}


def test_each_line_of_the_table_is_of_stems_with_their_likeness() -> None:
    stems = vocabulary().keys()
    for line in TABLE.read_text("ascii").splitlines():
        own, *rest = line.split()
        likeness = [int(percent) for percent in rest[1::2]]
        assert {own, *rest[::2]} <= stems and own not in rest[::2], line
        assert len(likeness) <= 2 * MAX_SIMILAR and likeness == sorted(likeness, reverse=True), line
        assert all(100 * MIN_LIKENESS <= percent <= 100 for percent in likeness), line


def test_a_line_lists_what_is_alike_enough_the_most_alike_first() -> None:
    vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    assert (
        lines(["a", "b", "c", "d"], vectors)
        == "a b 80 c 60\nb c 96 a 80 d 60\nc b 96 d 80 a 60\nd c 80 b 60\n"
    )


def test_what_is_similar_to_one_word_is_similar_both_ways() -> None:
    near = [(np.cos(angle), np.sin(angle), 0.0) for angle in np.radians(range(1, MAX_SIMILAR + 1))]
    vectors = np.array([(1.0, 0.0, 0.0), (0.6, 0.0, 0.8), *near])
    first, far, *_ = lines(
        ["first", "far", *(f"near{n}" for n in range(MAX_SIMILAR))], vectors
    ).splitlines()
    assert far.startswith("far first 60") and first.endswith("far 60")


def test_a_passage_with_a_similar_word_is_evidence_but_less_than_one_with_the_word() -> None:
    similar, other, same = evidence_of("wife", *TEXTS).passages[0]
    assert 0.5 <= similar < same == 1.0 and other == 0.0


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:2]])
def test_a_word_is_as_rare_as_it_is_itself_or_else_as_what_is_similar(
    texts: tuple[str, ...],
) -> None:
    # Either way about one of the passages has it, as one has "painted".
    wife, painted = evidence_of("wife painted", *texts).weights
    assert wife == pytest.approx(painted, rel=0.25)


def test_sentences_and_mentions_have_the_word_itself_before_a_similar_one() -> None:
    result = evidence_of(
        "wife", "Otto Brandt married. His wife was Ada Marsh.", "Ada Marsh married Otto Brandt."
    )
    assert result.sentences[0, 1] == 1.0 and 0.5 <= result.sentences[0, 0] < 1.0
    assert result.mentions[0].max() == 1.0 and (result.mentions[0] >= 0.5).all()
