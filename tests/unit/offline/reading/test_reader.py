"""The reader: which sentence answers, in six languages and across two, and what its files hold."""

from pathlib import Path

import numpy as np
import pytest

from offline.embeddings.minilm import multiplies_signed_bytes
from offline.embeddings.onnx_sessions import session
from offline.errors import DamagedFile
from offline.reading import reader, weights
from offline.reading.excerpt import Excerpt
from offline.reading.reader import Reader, encoder_graph

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


@pytest.mark.skipif(
    not multiplies_signed_bytes(),
    reason="without VNNI signed bytes overflow: they are not used here",
)
def test_weights_of_both_formats_give_the_same_state() -> None:
    known_weights = weights.weights()
    embeddings = known_weights.embeddings([0, 17, 900, 2])[None]
    signed_state, unsigned_state = (
        session(encoder_graph(known_weights, signed=kind)).run(None, {"embeddings": embeddings})[0]
        for kind in (True, False)
    )
    assert np.array_equal(signed_state, unsigned_state)


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged_file = tmp_path / "reader.npz"
    damaged_file.write_bytes(b"other")
    monkeypatch.setattr(weights, "WEIGHTS", damaged_file)
    monkeypatch.setattr(reader, "_model", reader._model.__wrapped__)  # pyright: ignore
    with pytest.raises(DamagedFile, match=r"reader\.npz has another SHA-256"):
        Reader().judgements("When?", [Excerpt("Now.")])
