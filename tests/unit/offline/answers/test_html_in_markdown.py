"""HTML within Markdown is written as Markdown before it is quoted."""

import time

import pytest

from offline.answers.html_in_markdown import without_html
from offline.answers.quotable_sentences import quotable


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.heading, part.text) for part in quotable(text)]


def test_what_folds_away_stands_below_its_summary() -> None:
    text = (
        "## Sails\n\n<details open>\n  <summary class='b'>How are they <b>washed</b>?</summary>\n\n"
        "  <p>In May,\n      with soap.</p>\n\n<h4>Old ones</h4>\nNever.\n</details>\n\n"
        "They are red.\n"
    )
    assert parts(text) == [
        ("How are they washed?", "In May, with soap."),
        ("Old ones", "Never."),
        ("Sails", "They are red."),
    ]


def test_items_definitions_and_paragraphs_stand_alone() -> None:
    text = (
        "<ul>\n  <li>First <em>fold</em> it.</li>\n  <li>Then store it.\n</ul>\n"
        "<dl><dt>Boom</dt><dd>A spar.</dd></dl>\n"
        '<p align="center">It is red.</p><p>It is old.</p>\n'
    )
    assert [part for _, part in parts(text)] == [
        "- First fold it.",
        "- Then store it.",
        "A spar.",
        "It is red.",
        "It is old.",
    ]


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            "<tr><th>Size</th><th>Price</th></tr><tr>\n <td>Small</td>\n <td><b>3</b> €</td></tr>",
            ["Size: Small; Price: 3 €"],
        ),
        (
            "<tr><td></td><td><b>Price</b></td></tr><tr><td>Small</td><td>3 €</td></tr>",
            ["Small; Price: 3 €"],
        ),
        ("<tr><td>Small</td><td>3 €</td></tr>", ["Small: 3 €"]),
        ("<tr><td>Only <i>this</i> is told.</td></tr>", ["Only this is told."]),
    ],
)
def test_rows_of_tables_are_quoted_as_those_of_markdown(rows: str, lines: list[str]) -> None:
    text = f'Sails:\n\n<table class="t">\n<tbody>{rows}</tbody>\n</table>\n'
    assert [part for _, part in parts(text)][-len(lines) :] == lines


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("10 m<sup>2</sup> of CO<sub>2</sub>", "10 m² of CO₂"),
        ("code<sup>[US](#us)</sup>, the 1<sup>st</sup>", "code [US](#us), the 1st"),
        ("Press <kbd>F1</kbd>, see <a href='x.md'>there</a>.", "Press F1, see there."),
        ("Bo &amp; Ann&nbsp;Mast &#8212; &lt;here&gt;", "Bo & Ann Mast — <here>"),
        ('<span style="x">cut here', "cut here"),
        ("<td>Small</td><td>3 €</td></tr></table>", "Small 3 € \n\n\n\n"),
        ("<Tabs>\n<Tab label='a'>\nText.", "\n\nText."),
        ("a <style>p { color: red }</style>b", "a b"),
    ],
)
def test_tags_say_how_words_look(text: str, expected_text: str) -> None:
    assert without_html(text) == expected_text


@pytest.mark.parametrize(
    "text",
    [
        "Give a <file> or a <section>, as in List<a>.",
        "Write `<b>bold</b>` and ``&amp;``.",
        "```html\n<p>code</p>\n```\n",
        "1 < 2 and 3 > 2, R&D at AT&T; <https://sails.example>",
        "<script>never ends",
    ],
)
def test_what_is_no_html_stays(text: str) -> None:
    assert without_html(text) == text


ODDITIES = ("<h1>a\n", "<details>", "</details>\n", "<table>", "<script>", "</script>", "<a ")
MORE_ODDITIES = ("<summary>a</summary>\n", "`<b>", "```", "&amp", "<p>\n", "<tr><td>", "<Tab x=''>")


@pytest.mark.parametrize("unit", [*ODDITIES, *MORE_ODDITIES])
def test_oddities_take_linear_time(unit: str) -> None:
    begin = time.process_time()
    without_html(unit * (300_000 // len(unit)) + "x")
    assert time.process_time() - begin < 10
