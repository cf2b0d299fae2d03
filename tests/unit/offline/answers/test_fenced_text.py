"""What stands between fences and is no code: notes, settings with comments, tables; and what only
looks like a fence.
"""

import time

import pytest

from offline.answers.fenced_text import with_fenced_text
from offline.answers.quotable_sentences import quotable


def parts(text: str) -> list[str]:
    return [part.plain for part in quotable(text)]


@pytest.mark.parametrize(
    "note",
    [
        "```{note}\nOil it in May.\n```",
        "~~~{warning} \n:class: tip\n:name: oil\nOil it in May.\n~~~",
        "````{important}\nOil it in May.\n\n```sh\noil --all\n```\n````",
        ":::{tip}\nOil it in May.\n:::",
        ":::caution\n\nOil it in May.\n\n:::",
        "::: {.note}\nOil it in May.\n:::",
        "{: .note }\nOil it in May.",
        "{% hint style='info' %}\nOil it in May.\n{% endhint %}",
        "{{< note >}}\nOil it in May.\n{{< /note >}}",
        "```{note}\nOil it in May.",
    ],
)
def test_notes_are_text(note: str) -> None:
    assert parts(f"The lamp is brass.\n\n{note}\n") == ["The lamp is brass.", "Oil it in May."]


def test_notes_stand_in_notes_however_many() -> None:
    text = "````{note}\nOil it in May.\n```{tip}\nUse a cloth.\n```\nWipe it.\n````\nIt shines.\n"
    assert parts(text) == ["Oil it in May.", "Use a cloth.", "Wipe it.", "It shines."]
    assert parts(5_000 * "```{note}\n" + "Oil it in May.\n") == ["Oil it in May."]


def test_the_mark_of_a_note_that_is_quoted_is_left_out() -> None:
    assert parts("> [!NOTE]\n> Oil it in May.\n") == ["Oil it in May."]
    assert parts("> [!tip]- Before winter\n> Oil it.\n") == ["Oil it."]


@pytest.mark.parametrize(
    "note",
    [
        "```{admonition} Before winter\n:class: tip\nOil it.\n```",
        ":::danger[Before winter]\nOil it.\n:::",
        "::: tip Before winter\nOil it.\n:::",
        '!!! tip "Before winter"\n\n    Oil it.',
        '??? warning inline end "Before winter"\n    Oil it.',
    ],
)
def test_the_title_of_a_note_stands_above_it(note: str) -> None:
    (part,) = [part for part in quotable(f"# Lamp\n\n{note}\n") if part.plain == "Oil it."]
    assert part.heading == "Before winter"


def test_the_title_of_an_indented_note_heads_its_content_alone() -> None:
    text = '!!! tip "Before winter"\n\n    Oil it.\n\n    - Wipe it.\n\nIt shines.\n'
    assert [(part.key, part.text) for part in quotable(text)] == [
        ("Before winter", "Oil it."),
        ("Before winter", "- Wipe it."),
        ("", "It shines."),
    ]
    assert parts("!!! note\n    Oil it in May.\nIt shines.\n") == ["Oil it in May.", "It shines."]
    title = "Before winter, spring and autumn, and wherever it has stood in the rain"
    (part,) = quotable(f'!!! tip "{title}"\n    Oil it.\n')
    assert (part.heading, part.text) == (title, "Oil it.")


def test_indented_notes_stand_in_notes_however_many() -> None:
    text = "\n".join(f"{' ' * depth}!!! note" for depth in range(1_500))
    assert parts(f"{text}\n\nOil it in May.\n")[-1] == "Oil it in May."


@pytest.mark.parametrize(
    "line", ["!!! a" + 90_000 * " " + "!", "!!! " + 40_000 * "a ", "[!a]" * 9_000]
)
def test_long_lines_that_begin_like_notes_take_linear_time(line: str) -> None:
    begin = time.process_time()
    with_fenced_text(f"{line}\n{line}\n")
    assert time.process_time() - begin < 10


def test_a_glossary_and_a_table_of_myst_are_read() -> None:
    glossary = "```{glossary}\nWick\n   What burns.\n\nMantle\n   What glows.\n```\n"
    assert [(part.key, part.text) for part in quotable(glossary)] == [
        ("Wick", "What burns."),
        ("Mantle", "What glows."),
    ]
    table = (
        "```{list-table} Fees\n:header-rows: 1\n\n* - Boat\n  - Fee\n* - Punt\n  - 2 euro\n```\n"
    )
    assert [part.text for part in quotable(table) if part.is_row] == ["Boat: Punt; Fee: 2 euro"]


def test_columns_of_a_grid_are_no_heading() -> None:
    (part,) = quotable("````{grid} 1 2\n```{grid-item-card} Lamps\nThey are lit.\n```\n````\n")
    assert (part.heading, part.text) == ("Lamps", "They are lit.")


def test_code_stays_code() -> None:
    text = (
        "Run this:\n\n```sh\noil --all\n# twice\n```\n\n```{code-block} sh\noil --all\n```\n\n"
        "```yaml\nlamp:\n  colour: white\n  period: 12\n```\n\nIt takes an hour.\n"
    )
    assert with_fenced_text(text) == text
    assert parts(text)[-1] == "It takes an hour."


def test_settings_with_comments_are_quoted_from_a_block() -> None:
    text = (
        "The settings:\n\n```env\n# Seconds between two flashes.\nLAMP_PERIOD=12\n\n"
        "# Colour of the lamp.\n# Default = white. Setting it to red warns ships.\n"
        '# LAMP_COLOUR="white"\n```\n'
    )
    assert parts(text)[1:] == [
        "LAMP_PERIOD = 12 (Seconds between two flashes.)",
        '# LAMP_COLOUR = "white" (Colour of the lamp. Default = white. Setting it to red warns '
        "ships.)",
    ]


def test_a_table_of_columns_is_read_from_a_block() -> None:
    text = (
        "1. See what there is:\n\n    ```\n    plan      what it has                price\n"
        "    small-1   1 lamp, 2 keepers, brass   free\n"
        "    large-1   2 lamps, 3 keepers         paid\n"
        "    large-2   2 lamps, 5 keepers         paid\n    ```\n"
    )
    assert "plan: small-1; what it has: 1 lamp, 2 keepers, brass; price: free" in parts(text)


def test_backticks_that_end_in_their_line_begin_no_block() -> None:
    text = "It says:\n\n```Made by Ann for the club.```\n\nThe lamp is brass.\n\n- Oil it in May.\n"
    assert parts(text)[-2:] == ["The lamp is brass.", "- Oil it in May."]
