"""The tokenizer of the local embedder, against pieces that BERT's own tokenizer gives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.embeddings.wordpiece import VOCABULARY, WordPiece
from offline.errors import DamagedFile

PIECES = WordPiece()
NAMES = VOCABULARY.read_text("utf-8").rstrip("\n").split("\n")


def pieces(text: str) -> list[str]:
    return [NAMES[number] for number in PIECES.encode(text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("unaffable", ["una", "##ffa", "##ble"]),
        ("Café naïve", ["cafe", "naive"]),
        ("中国 ok", ["中", "国", "ok"]),
        ("a\u200bb\x00c\tx", ["abc", "x"]),
        ("x" * 101, ["[UNK]"]),
        ("$5^2", ["$", "5", "^", "2"]),
        ("\ud800", []),
        ("", []),
    ],
)
def test_text_is_cut_into_the_pieces_of_bert(text: str, tokens: list[str]) -> None:
    assert pieces(text) == tokens


@given(st.text(alphabet=st.characters()))
def test_any_text_gives_ids_of_the_vocabulary(text: str) -> None:
    assert all(0 <= number < len(NAMES) for number in PIECES.encode(text))


def test_the_vocabulary_is_the_known_one(tmp_path: Path) -> None:
    assert len(NAMES) == 30_522
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_bytes(VOCABULARY.read_bytes() + b"more\n")
    with pytest.raises(DamagedFile, match="changed"):
        WordPiece(vocabulary)
