"""Markup of other kinds than Markdown, and what documents say of themselves."""

import pytest

from offline.answers.quotable_sentences import quotable


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.heading, part.text) for part in quotable(text)]


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: 'Mending sails'\nauthors:\n  - Ann Mast\n  - Bo Keel\ndraft: false\n"
        "order: 12\nlayout: page\nfeature-img: a.png\n"
        "menu:\n  docs:\n    weight: 30\n    parent: user\n"
        "summary: >-\n  How it is done\n  at sea.  \n# hidden\nurl: /sails\n---\n",
        '+++\ntitle = "Mending sails"\nauthors = ["Ann Mast", "Bo Keel"]\ndraft = false\n'
        'summary = "How it is done at sea."\n+++\n\n',
        "---\ntitle: Mending sails\nauthors: [Ann Mast, Bo Keel]\nsummary: How it is done at sea.\n"
        "...\n",
    ],
)
def test_front_matter_gives_a_title_and_fields(front: str) -> None:
    assert parts(f"{front}Use wax.\n") == [
        ("Mending sails", "authors: Ann Mast, Bo Keel"),
        ("Mending sails", "summary: How it is done at sea."),
        ("Mending sails", "Use wax."),
    ]


def test_pages_that_were_joined_have_each_its_front_matter() -> None:
    text = (
        "---\ntitle: Sails\n---\nUse wax.\n\n"
        "---\nlayout: page\ntitle: Masts\nauthor: Bo Keel\n---\nThey are brown.\n\n"
        "```\n\n---\ntitle: Example\n---\n```\n\n---\nNote: all of it holds.\n---\n"
    )
    assert parts(text) == [
        ("Sails", "Use wax."),
        ("Masts", "author: Bo Keel"),
        ("Masts", "They are brown."),
        ("Masts", "Note: all of it holds."),
    ]


@pytest.mark.parametrize("line", ["A sail is red.", "Note: all of it holds.\nA sail is red."])
def test_a_rule_at_the_beginning_is_no_front_matter(line: str) -> None:
    text = f"---\n{line}\n\n---\n\nA mast is brown.\n"
    assert [part for _, part in parts(text)][-2:] == ["A sail is red.", "A mast is brown."]


def test_fields_of_restructuredtext_stand_alone_with_all_their_lines() -> None:
    text = (
        "Sails\n=====\n\n:Editor: Bo Keel\n:In force: 3 May\n:Scope: all boats\n"
        "        of the club\n        and its guests\n\n"
        "They are red.\n\n.. index:: single: Sails\n\n.. warning::\n\n   Keep dry.\n"
    )
    assert [part for _, part in parts(text)] == [
        "Editor: Bo Keel",
        "In force: 3 May",
        "Scope: all boats of the club and its guests",
        "They are red.",
        "Warning:",
        "Keep dry.",
    ]


def test_asciidoc_has_headings_an_author_and_terms() -> None:
    text = (
        "= Sails\nBo Keel <bo@sails.example>\nv2.1, 2023-04-05\n:lang: en\n\n"
        "== Care\n\n[NOTE]\nThey are washed in May.\n\nWax:: It keeps water out.\n"
    )
    assert parts(text) == [
        ("Sails", "author: Bo Keel <bo@sails.example>"),
        ("Sails", "revision: v2.1, 2023-04-05"),
        ("Sails", "lang: en"),
        ("Care", "They are washed in May."),
        ("Wax", "It keeps water out."),
    ]


def test_org_has_headings_keywords_and_tables() -> None:
    text = (
        "#+TITLE: Sails\n#+DATE: 2023-04-05\n#+STARTUP: overview\n\n* Kinds\n** Jib\n"
        "It is small.\n\n| Sail | Size |\n|------+------|\n| Jib  | 9 m²  |\n"
    )
    assert parts(text) == [
        ("Sails", "date: 2023-04-05"),
        ("Jib", "It is small."),
        ("Jib", "Sail: Jib; Size: 9 m²"),
    ]


def test_code_and_words_with_colons_stay_as_they_are() -> None:
    text = "Use std::move here.\n\n```\n== Care\n:a: b\n```\n\nIt is:: odd\n\n- a == b holds.\n"
    assert next(part.text for part in quotable(text)) == "Use std::move here."
    assert not any("Care" in f"{part.text} {part.heading}" for part in quotable(text))


def test_fields_of_a_form_stand_alone_also_behind_another_line() -> None:
    text = "Filled in by the office\nReceived on: 5 June\nReceived by: Bo Keel\nNo.: 12\n\nEnd.\n"
    assert [part for _, part in parts(text)] == [
        "Filled in by the office",
        "Received on: 5 June",
        "Received by: Bo Keel",
        "No.: 12",
        "End.",
    ]


def test_prose_with_a_colon_behind_its_first_words_is_no_field() -> None:
    text = (
        "The club has decided in its meeting after the storm of last\n"
        "May: boats stay in the harbour until it is over."
    )
    assert [part for _, part in parts(text)] == [" ".join(text.split())]


def test_headings_in_html_are_headings() -> None:
    text = (
        '<p align="center">\n  <img src="sail.png">\n</p>\n\n<h2>Sails</h2>\nThey are red.\n\n'
        '<h3 name="old">\nMay <code>old</code> ones\nbe mended?\n</h3>\n\nYes, with wax.\n'
    )
    assert parts(text) == [
        ("Sails", "They are red."),
        ("May old ones be mended?", "Yes, with wax."),
    ]
