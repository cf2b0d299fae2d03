"""The reader: which sentence answers, in six languages and across two, and what its files hold."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offline.embeddings.minilm import multiplies_signed_bytes
from offline.embeddings.onnx_sessions import session
from offline.errors import DamagedFile
from offline.reading import weights
from offline.reading.excerpt import Excerpt
from offline.reading.pieces import pieces_of_english, pieces_of_languages
from offline.reading.reader import INPUT, Reader, encoder_graph

ANSWERED = [
    (
        "Can I get my money back if it rains?",
        "Tickets are refunded when the boats cannot leave because of the weather.",
        "Tickets are sold at the pier from nine o'clock.",
    ),
    (
        "Wie lange darf ich die Bücher behalten?",
        "Die Leihfrist beträgt vier Wochen.",
        "Die Bücher stehen im ersten Stock.",
    ),
    (
        "À qui faut-il s'adresser quand on a perdu sa clé ?",
        "En cas de perte d'une clé, prévenez le gardien.",
        "Deux clés sont remises à chaque locataire.",
    ),
    (
        "¿Cuánto cuesta para los mayores?",
        "Los mayores de 65 años tienen entrada gratuita.",
        "La entrada se compra en la taquilla.",
    ),
    (
        "Когда нельзя шуметь?",
        "С 22 до 7 часов в доме соблюдается тишина.",
        "О шуме сообщают коменданту.",
    ),
    ("借书超期要罚多少钱?", "逾期每天每册收取两角。", "借书须出示读者证。"),
    (
        "How long may I keep the books?",
        "Die Leihfrist beträgt vier Wochen.",
        "Die Bücher stehen im ersten Stock.",
    ),
]


@pytest.mark.parametrize(("question", "answer", "other"), ANSWERED)
def test_the_sentence_that_answers_is_preferred(question: str, answer: str, other: str) -> None:
    judgements = Reader().judgements(question, [Excerpt(answer), Excerpt(other)])
    assert judgements[0] > judgements[1]


def test_headings_count() -> None:
    """A price says what it is the price of by what stands above it."""
    question = "What does a boat for the whole day cost?"
    day, hour = Reader().judgements(
        question,
        [Excerpt("30 euros.", "Boats > Whole day"), Excerpt("30 euros.", "Boats > One hour")],
    )
    assert day > hour


def test_a_judgement_does_not_depend_on_its_company() -> None:
    excerpts = [
        Excerpt("The pool opens at nine."),
        Excerpt("Dogs stay outside. " * 200),
        Excerpt(""),
    ]
    together = Reader().judgements("When does the pool open?", excerpts)
    alone = [Reader().judgements("When does the pool open?", [excerpt])[0] for excerpt in excerpts]
    assert together == alone
    assert np.isfinite(together).all()
    assert Reader().judgements("When?", []) == []


def test_english_sentences_are_judged_by_weights_of_their_own() -> None:
    question, excerpts = "When does the pool open?", [Excerpt("The pool opens at nine.")]
    (judgement,) = Reader().judgements(question, excerpts)
    (judgement_in_english,) = Reader().judgements(question, excerpts, "english")
    assert judgement != judgement_in_english


def test_a_foreign_sentence_is_judged_by_the_weights_of_all_languages() -> None:
    sentence = "Das Schwimmbad ist für alle Kinder der Stadt von neun bis zwölf Uhr geöffnet."
    question, excerpts = "When does the pool open?", [Excerpt(sentence)]
    expected = Reader().judgements(question, excerpts)
    assert Reader().judgements(question, excerpts, "english") == expected


def test_the_pieces_of_a_pair_are_bounded() -> None:
    excerpt = Excerpt("wax " * 5_000, "Lamps > " * 500, "oil " * 5_000)
    for pieces in (pieces_of_english(), pieces_of_languages()):
        pair = pieces.pair("why " * 5_000, excerpt)
        assert (len(pair.pieces), pair.question) == (238 + 2 + (2 + 2 * len(pieces.joint)), 58)


def test_of_english_the_question_is_told_from_the_rest() -> None:
    """The same pieces are another text where the question ends elsewhere."""
    english, others = weights.english_weights(), weights.weights()
    assert not np.array_equal(english.embeddings([7, 8], 1), english.embeddings([7, 8], 2))
    assert np.array_equal(others.embeddings([7, 8], 1), others.embeddings([7, 8], 2))


@pytest.mark.skipif(
    not multiplies_signed_bytes(),
    reason="without VNNI signed bytes overflow: they are not used here",
)
@pytest.mark.parametrize("load", [weights.weights, weights.english_weights])
def test_weights_of_both_formats_give_the_same_state(load: Callable[[], weights.Weights]) -> None:
    known_weights = load()
    embeddings = known_weights.embeddings([0, 17, 900, 2], 2)[None]
    signed_state, unsigned_state = (
        session(encoder_graph(known_weights, signed=kind)).run(None, {INPUT: embeddings})[0]
        for kind in (True, False)
    )
    assert np.array_equal(signed_state, unsigned_state)


@pytest.mark.parametrize(
    ("name", "load"), [("WEIGHTS", weights.weights), ("ENGLISH", weights.english_weights)]
)
def test_another_file_is_refused(
    name: str, load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged_file = tmp_path / "other.npz"
    damaged_file.write_bytes(b"other")
    monkeypatch.setattr(weights, name, damaged_file)
    with pytest.raises(DamagedFile, match=r"other\.npz has another SHA-256"):
        load.__wrapped__()  # what it caches is of the known file
