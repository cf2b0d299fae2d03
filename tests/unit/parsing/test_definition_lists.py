"""Definition lists of HTML: each term stands right above its definition."""

import pytest

from offline.answers.layout import sections
from runtime.parsing import html


def markdown(page: str) -> str:
    return html.text(page).text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<dl><dt>Keel</dt><dd>A long beam.</dd></dl>", "Keel\n: A long beam."),
        ("<dl><dt>Keel<dd>A beam.<dt>Mast<dd>A pole.</dl>", "Keel\n: A beam.\n\nMast\n: A pole."),
        ("<DL CLASS='a>b'><DT ID=x>Keel<DD>A beam.</DL>", "Keel\n: A beam."),
        (
            "<dl><dt>Keel</dt><dd><p>A beam.</p><p>Of oak.</p></dd></dl>",
            "Keel\n: A beam.\n\n  Of oak.",
        ),
        ("<dl><dt>Keel</dt><dd>One.</dd><dd>Two.</dd></dl>", "Keel\n: One.\n\n: Two."),
        ("<dl>\n<dt>Keel\n<dt> Beam\n<dd> Of oak.\n</dl>", "Keel\nBeam\n: Of oak."),
        ("<dl><dt>Wood</dt><dd><ul><li>oak</li></ul></dd></dl>", "Wood\n\n  - oak"),
        ("<dl><dt>Run</dt><dd><pre>a\nb</pre></dd></dl>", "Run\n\n  ```\n  a\n  b\n  ```"),
        ("<dl><dt><h3>Keel</h3></dt><dd>A beam.</dd></dl>", "### Keel\n\nA beam."),
        (
            "<dl><dt>Ship</dt><dd>A boat.<dl><dt>Keel</dt><dd>Part.</dd></dl></dd></dl><p>End.</p>",
            "Ship\n: A boat.\n\n  Keel\n  : Part.\n\nEnd.",
        ),
        ("<ul><li>x<dl><dt>Keel</dt><dd>A beam.</dd></dl></li></ul>", "- x\n\n  Keel\n  : A beam."),
        ("<p>text</p></dl><dd>alone", "text\n\nalone"),
        ("<p>a</p><!-- <dl><dt>no</dt></dl> --><p>b</p>", "a\n\nb"),
        ("<p>\ufdd0a&#xFDD1;</p><dl><dt>k<dd>v</dl>", "a\n\nk\n: v"),
        ("<p>&lt;dl&gt; is a tag</p>", "<dl> is a tag"),
    ],
)
def test_a_definition_list_is_written_as_markdown_writes_one(page: str, expected: str) -> None:
    assert markdown(page) == expected


def test_a_definition_list_in_a_table_stays_in_its_row() -> None:
    page = "<table><tr><td><dl><dt>Keel</dt><dd>beam</dd></dl></td><td>x</td></tr></table>"
    row = markdown(page).splitlines()[0]
    assert row.split() == ["|", "Keel", "beam", "|", "x", "|"]


def test_the_terms_of_a_page_are_keys_of_their_definitions() -> None:
    page = (
        "<h1>Ships</h1><p>Words of sailors.</p>"
        "<dl><dt><a href='#keel'>Keel</a></dt><dt>backbone</dt>"
        "<dd><p>A long beam.</p><p>It is of oak.</p></dd><dt>Mast</dt><dd>A pole.</dd></dl>"
        "<p>The end.</p>"
    )
    assert [(part.keys, part.text.split()) for part in sections(markdown(page))] == [
        ((), ["#", "Ships", "Words", "of", "sailors."]),
        (("Keel, backbone",), ["A", "long", "beam.", "It", "is", "of", "oak."]),
        (("Mast",), ["A", "pole."]),
        ((), ["The", "end."]),
    ]


def test_lists_within_lists_take_text_in_proportion() -> None:
    def page(depth: int) -> str:
        return "<dl><dt>a<dd>b" * depth + "</dl>" * depth

    assert len(markdown(page(400))) < 3 * len(markdown(page(200)))
