"""Names between quotation marks: titles of works, and nicknames inside names."""

import pytest

from offline.language.names import names


def found(text: str) -> list[tuple[str, str]]:
    return [(name.text, name.kind) for name in names(text)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('They played "It\'ll Be Me" there.', "It'll Be Me"),
        ("They watched “Due South” there.", "Due South"),
        ("They read « Le Temps » there.", "Le Temps"),
        ('They saw "The Road to Nowhere," too.', "The Road to Nowhere"),
    ],
)
def test_a_title_between_quotation_marks_is_one_name(text: str, title: str) -> None:
    assert found(text) == [(title, "work")]


@pytest.mark.parametrize(
    "text",
    [
        'They said "we are ready" there.',
        'They said "No" there.',
        'They said "It was so long ago" there.',
        'a 6" pipe and a 7" one',
        'They found it "Over\nThere',
        '```\nprint("It Is Over Now")\n```\n',
    ],
)
def test_what_is_said_measured_or_printed_is_no_title(text: str) -> None:
    assert found(text) == []


def test_a_run_of_capitalised_words_between_quotation_marks_stays_a_name() -> None:
    assert found('They call it "Port Elm" there.') == [("Port Elm", "name")]


@pytest.mark.parametrize(
    "name", ['David "Tarw" Jones', 'Benjamin Andrew "Ben" Stokes', "Ada “Sparrow” Marsh"]
)
def test_a_nickname_is_a_part_of_the_name_around_it(name: str) -> None:
    text = f"They met {name} there."
    assert [
        (found_name.text, text[found_name.start : found_name.end]) for found_name in names(text)
    ] == [(name, name)]


def test_quotation_marks_beside_one_name_join_nothing() -> None:
    assert found('They saw the "Titan" Ada Marsh made.') == [
        ("Titan", "name"),
        ("Ada Marsh", "name"),
    ]
    assert found('In Ada Marsh\'s "Titan" Otto Brandt sings.') == [
        ("Ada Marsh", "name"),
        ("Titan", "name"),
        ("Otto Brandt", "name"),
    ]
