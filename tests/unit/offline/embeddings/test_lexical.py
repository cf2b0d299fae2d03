"""The lexical embedder: deterministic, of length 1, near for shared words."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.embeddings.lexical import LexicalEmbedder, vector
from runtime.models.port import Embedder


def cosine(first: str, second: str) -> float:
    return sum(a * b for a, b in zip(vector(first, 384), vector(second, 384), strict=True))


@given(st.text())
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    result = vector(text, 384)
    assert len(result) == 384
    assert math.isclose(math.hypot(*result), 1.0, rel_tol=1e-9)


async def test_texts_are_embedded_in_order_alone_or_together() -> None:
    embedder: Embedder = LexicalEmbedder(64)
    together = await embedder.embed(["one text", "", "another"])
    assert together == [(await embedder.embed([text]))[0] for text in ("one text", "", "another")]
    assert await embedder.embed([]) == []
    assert embedder.dimension == 64
    await embedder.close()


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (
            "Who built the Eiffel Tower?",
            "The Eiffel Tower was built by Gustave Eiffel.",
            "Rice grows in wet fields.",
        ),
        ("indexing documents", "a document is indexed", "rain falls on mountains"),
        ("北京大学在哪里", "北京大学位于北京市。", "今天天气很好，适合出门。"),
        ("ＦＵＬＬ width", "full width letters", "empty boxes"),
    ],
)
def test_shared_words_are_near(question: str, near: str, far: str) -> None:
    assert cosine(question, near) > 0.2 > cosine(question, far)


def test_other_processes_compute_the_same_vector() -> None:
    code = (
        "from offline.embeddings.lexical import vector; print(vector('Marie Curie 居里夫人', 16))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{vector('Marie Curie 居里夫人', 16)}\n"}


def test_its_name_says_that_it_is_lexical() -> None:
    assert LexicalEmbedder().model == "lexical-hash-v1"
