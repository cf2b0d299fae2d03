"""Two generations of vectors, asked the same: what both find counts, and what only one finds is
shown.
"""

import json
from pathlib import Path

import pytest

from cli.rebuild_output import print_summary
from contracts.graph import Partition, VectorRow
from offline.embeddings.lexical import LexicalEmbedder
from operations.question_comparison import (
    ComparedQuestion,
    PassageHit,
    compare_questions,
    read_questions,
)
from runtime.errors import InvalidInput
from runtime.projections.embedding import EmbeddedVectors
from runtime.stores.vectors.memory import MemoryVectors
from services.query.answering.comparison import ComparedAnswers

TEXTS = {
    "harbour": "Ada Marlow leads the Harbour Office.",
    "bell": "The bell of Port Elm rings at noon.",
    "bread": "The baker sells bread and honey cakes.",
}


async def side(
    dimension: int, generation: int, *left_out: str
) -> tuple[EmbeddedVectors, Partition]:
    """A generation of these texts, but for some, by a model of that dimension."""
    embedder = LexicalEmbedder(dimension)
    partition = Partition("w", generation)
    vectors = MemoryVectors(embedder.model, dimension)
    await vectors.prepare(generation)
    for id, text in TEXTS.items():
        if id not in left_out:
            (vector,) = await embedder.embed([text])
            row = VectorRow(
                id=id,
                text=text,
                text_hash=f"hash-{id}",
                vector=vector,
                names=(id,),
                document_id=id,
                file_path=f"{id}.txt",
            )
            await vectors.put(partition, "chunks", [row])
    return EmbeddedVectors(embedder, embedder, vectors), partition


async def test_what_both_find_is_the_overlap_and_each_side_keeps_its_order() -> None:
    live = await side(64, 1)
    candidate = await side(128, 2, "bell")
    (comparison,) = await compare_questions(["Who leads the Harbour Office?"], live, candidate)
    assert comparison.live[0].id == comparison.new[0].id == "harbour"
    assert (len(comparison.live), len(comparison.new), comparison.overlap) == (3, 2, 0.667)
    assert comparison.live[0].file_path == "harbour.txt"


async def test_of_the_best_one_only_those_count() -> None:
    live = await side(64, 1)
    candidate = await side(64, 2, "harbour")
    first, second = await compare_questions(
        ["honey cakes", "Who leads the Harbour Office?"], live, candidate, k=1
    )
    assert (first.overlap, second.overlap) == (1.0, 0.0)


async def test_sides_that_find_nothing_agree() -> None:
    empty_side = await side(64, 1, *TEXTS)
    assert [
        comparison.overlap
        for comparison in await compare_questions(["honey"], empty_side, empty_side)
    ] == [1.0]


def test_questions_are_the_lines_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("Who leads it?\n\n  When does it ring?  \n", "utf-8")
    assert read_questions(file) == ["Who leads it?", "When does it ring?"]
    file.write_text("\n", "utf-8")
    for path in (file, tmp_path / "nowhere.txt"):
        with pytest.raises(InvalidInput):
            read_questions(path)


def test_people_see_the_overlap_and_the_differences(capsys: pytest.CaptureFixture[str]) -> None:
    common_hit, live_hit, new_hit = (
        PassageHit(id, f"{id}.txt", 0.5, f"{id} is\nhere") for id in ("both", "gone", "new")
    )
    comparison = ComparedQuestion("Who?", 0.5, [common_hit, live_hit], [common_hit, new_hit])
    answers = vars(ComparedAnswers(False, "Tom\nElm.", "Ada Marlow."))
    hits = {
        "live": [vars(hit) for hit in comparison.live],
        "new": [vars(hit) for hit in comparison.new],
    }
    question = {**vars(comparison), **hits, "answers": answers}
    comparison_report = {"k": 10, "overlap": 0.5, "same_answers": 0, "questions": [question]}
    print_summary(
        json.loads(json.dumps({"generations": {"vectors": 2}, "compared": comparison_report})),
        "waits",
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "0.50  Who?",
        "      - 0.50 gone.txt: gone is here",
        "      + 0.50 new.txt: new is here",
        "      - answer: Tom Elm.",
        "      + answer: Ada Marlow.",
        "0 of 1 answers are the same",
        "0.50  overlap@10 of 1 questions",
    ]
