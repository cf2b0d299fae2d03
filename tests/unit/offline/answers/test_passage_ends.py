"""Sentences that the end of a passage cuts."""

import pytest

from offline.answers.passage_ends import completed, without_cut_sentence
from offline.answers.quotable_sentences import quotable
from services.query.adapters.offline import source_passages
from services.query.passage import Passage


@pytest.mark.parametrize(
    ("text", "following", "expected"),
    [
        ("She is old. Her sail", " is red. It is big.", "She is old. Her sail is red."),
        ("She is old. Her sail", " is red", "She is old. Her sail is red"),
        ("She is old.", " Her sail is red.", "She is old."),
        ("She is old", "\n\n# Sails\n\nThey are red.", "She is old"),
        ("She is old", "", "She is old"),
        ("She is old, and", " on" * 300 + ".", "She is old, and"),
    ],
)
def test_a_sentence_is_completed_from_what_follows(
    text: str, following: str, expected: str
) -> None:
    assert completed(text, following) == expected


def test_a_cut_sentence_of_prose_is_left_out_and_notes_stay() -> None:
    prose = quotable("The ship is old. Her sail is red. Her mast is brown. Her captain is ca")
    assert [part.text for part in without_cut_sentence(prose)] == [
        "The ship is old.",
        "Her sail is red.",
        "Her mast is brown.",
    ]
    for notes in (
        "Sails: red\n\nMasts: brown",
        "A. B. C.\n\n- sails\n- masts",
        "| a |\n|---|\n| b |",
    ):
        assert list(without_cut_sentence(quotable(notes))) == list(quotable(notes))


def passage(order: int, content: str, start: int, tokens: int = 400) -> Passage:
    return Passage(
        f"d-{order}",
        "d",
        order,
        content,
        "ship.txt",
        tokens=tokens,
        start=start,
        end=start + len(content),
    )


def test_a_passage_knows_what_follows_it_without_their_overlap() -> None:
    first = passage(0, "She is old. Her sail", 0)
    second = passage(1, "Her sail is red.", 12)
    sources = source_passages([("1", second), ("1", first)])
    assert [source.following for source in sources] == ["", " is red."]
    assert [source.ends_inside for source in sources] == [True, True]
    assert [source.title for source in sources] == ["ship.txt", "ship.txt"]


def test_the_end_of_a_short_document_is_no_cut() -> None:
    (source,) = source_passages([("1", passage(0, "Sails: red", 0, tokens=4))])
    assert not source.ends_inside
