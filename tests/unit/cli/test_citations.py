"""Sources of an answer on the terminal are numbered as they appear."""

from cli.citations import number_citations
from lightstream_rag.models import Reference


def references(*ids: str) -> list[Reference]:
    return [Reference(reference_id=id, file_path=f"{id}.md") for id in ids]


def test_sources_are_numbered_as_they_appear_and_those_not_cited_come_last() -> None:
    text, sources = number_citations("Ships came [7]. They left [4, 7].", references("4", "5", "7"))
    assert text == "Ships came [1]. They left [2, 1]."
    assert [(number, source.file_path) for number, source in sources] == [
        (1, "7.md"),
        (2, "4.md"),
        (3, "5.md"),
    ]


def test_what_cites_nothing_stays() -> None:
    answer = "See `a[2]`, [2](page.md), [9] and\n```\nb[2]\n```\nbut harbours [2]."
    text, _ = number_citations(answer, references("2"))
    assert text == answer.replace("harbours [2]", "harbours [1]")


def test_an_answer_without_sources_stays() -> None:
    assert number_citations("The documents do not say [1].", []) == (
        "The documents do not say [1].",
        [],
    )
