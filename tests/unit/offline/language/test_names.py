"""Names without a model: found where readers find them, never an error, linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.language.names import names
from offline.language.terms import without_addresses

ALPHABET = st.text(alphabet="AbC d.'’_-&\n#12马云《》“”的ア`/:@(", max_size=80)


def found(text: str) -> list[str]:
    return [name.text for name in names(text)]


@given(st.text() | ALPHABET)
def test_any_text_gives_names_in_order_that_do_not_overlap(text: str) -> None:
    end = 0
    for name in names(text):
        assert end <= name.start < name.end <= len(text)
        assert name.text.strip() == name.text != ""
        end = name.end


@pytest.mark.parametrize(
    ("text", "expected_names"),
    [
        ("She met Marie Curie in Paris.", ["Marie Curie", "Paris"]),
        ("He reads The Lord of the Rings there.", ["Lord of the Rings"]),
        ("They heard Ludwig van Beethoven.", ["Ludwig van Beethoven"]),
        ("It is Einstein's Theory of Relativity.", ["Einstein", "Theory of Relativity"]),
        ("He met Dr. J. R. Smith on Monday in May.", ["J. R. Smith"]),
        ("They fly with Apollo 11 and use GPT-4.", ["Apollo 11", "GPT-4"]),
        ("We asked Johnson & Johnson and AT&T.", ["Johnson & Johnson", "AT&T"]),
        ("It was a French idea.", []),
        ("see commit f797e11 and utf8 there", ["utf8"]),
        ("the plain words of a sentence", []),
        ("", []),
    ],
)
def test_capitalised_runs_are_names(text: str, expected_names: list[str]) -> None:
    assert found(text) == expected_names


def test_a_sentence_opener_that_occurs_in_lower_case_is_no_name() -> None:
    assert found("Glass is brittle. People melt glass in Murano.") == ["Murano"]


def test_a_sentence_opener_seen_nowhere_else_in_lower_case_is_a_name() -> None:
    assert found("Microsoft acquired a company.") == ["Microsoft"]
    assert found("However, nobody came. Quickly they left.") == []


def test_place_words_stay_with_their_names_at_the_beginning() -> None:
    assert found("New York has a new mayor.") == ["New York"]


def test_code_like_terms_are_found_in_prose_and_in_code() -> None:
    text = (
        "Call document_id or runtime.models.tokens.\n```py\nvalue = make_name(DocumentAdded)\n```\n"
    )
    assert [(name.text, name.kind) for name in names(text)] == [
        ("document_id", "code"),
        ("runtime.models.tokens", "code"),
        ("make_name", "code"),
        ("DocumentAdded", "code"),
    ]


def test_camel_case_stays_in_the_names_of_companies() -> None:
    assert found("He opened YouTube Music and asked Ronald McDonald.") == [
        "YouTube Music",
        "Ronald McDonald",
    ]


def test_a_forgotten_blank_and_an_abbreviation_are_no_code() -> None:
    assert [name.kind for name in names("the end.Next we saw it, e.g. in the U.S. today")] != [
        "code"
    ]
    assert "e.g" not in found("see e.g. this")


def test_addresses_hold_no_names() -> None:
    text = (
        "See https://Example.com/Foo_Bar?x=A, [here](https://A.B/C_D) or mail "
        "Jane.Doe@Example.org now"
    )
    assert found(text) == []
    assert len(without_addresses(text)) == len(text)


def test_headings_hold_names_only_when_the_text_bears_them_out() -> None:
    assert found("# Getting Started\n\nrun it") == []
    assert found("# Marie Curie\n\nHer name was Curie.") == ["Marie Curie", "Curie"]


def test_chinese_names_are_found_by_marks_endings_and_surnames() -> None:
    text = "阿里巴巴集团由马云创立。《红楼梦》的作者是曹雪芹。他使用Python写程序。"
    assert [(name.text, name.kind) for name in names(text)] == [
        ("阿里巴巴集团", "han"),
        ("马云", "han"),
        ("红楼梦", "work"),
        ("曹雪芹", "han"),
        ("Python", "name"),
    ]


def test_each_name_knows_its_sentence_and_title() -> None:
    president = names("It rained. Then President Lincoln spoke.")[0]
    assert (president.text, president.sentence, president.title) == ("Lincoln", 1, "president")


@pytest.mark.parametrize(
    "text",
    [
        "Consumes `x` and emits y.",
        "Names refer to objects.",
        "Implements the rest. Reading it helps. Applied twice.",
        "Changed in version 3.8: Support for more.",
        "| Kind | Meaning |",
        "1. **Decode.** bytes become events",
        "True is not False, see Traceback.",
        "THE AUTHORS MAKE NO WARRANTY OF ANY KIND",
        "the target is here, a TARGET there",
        "User-defined things and Multi-threaded ones",
        "the values x1d, u2028, p-1-exp and a8098c1a-f86e-11da",
        r"the byte \x08ar and \Users",
        "attributes A.x, self.Name and __init__Foo",
        "Les deux vont. Und er kommt. Pero nada. Это да.",
    ],
)
def test_capitals_that_mean_nothing_give_no_names(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "expected_names"),
    [
        ("Milvus stores vectors.", ["Milvus"]),
        ("Milvus, a database, is fast.", ["Milvus"]),
        ("Milvus (new) is fast.", ["Milvus"]),
        ("Milvus and Neo4j work.", ["Milvus", "Neo4j"]),
        ("Milvus' speed counts.", ["Milvus"]),
        ("Often fast. Milvus of old, so Milvus it is.", ["Milvus", "Milvus"]),
        ("Paris in spring.", ["Paris"]),
        ("Contains MSVCCompiler, sort of.", ["MSVCCompiler"]),
        ("Charles Darwin wrote. James Watt built.", ["Charles Darwin", "James Watt"]),
        ("The WHO met in May.", ["WHO"]),
        ("Python是一种语言", ["Python"]),
    ],
)
def test_a_word_at_a_beginning_is_a_name_when_something_bears_it_out(
    text: str, expected_names: list[str]
) -> None:
    assert found(text) == expected_names


def test_a_name_with_an_office_behind_it_is_two_when_it_also_stands_alone() -> None:
    text = "They met Ada Marlow of the Harbour Office. Ada Marlow left the University of Elm."
    assert found(text) == ["Ada Marlow", "Harbour Office", "Ada Marlow", "University of Elm"]
    assert found("He reads The Lord of the Rings.") == ["Lord of the Rings"]


def test_in_german_a_noun_is_no_name_by_its_capital() -> None:
    text = (
        "Der Hund läuft mit dem Ball durch den Garten und ist nicht müde, als Emmanuel Macron "
        "nach Berlin kommt."
    )
    assert found(text) == ["Emmanuel Macron", "Berlin"]


UNITS = [
    "A ",
    "A",
    "Aa.",
    "A of ",
    "a_",
    "a.b",
    "'s",
    "A's ",
    "@",
    "a@",
    "](",
    "https://",
    "《",
    "“A",
    "马",
    "马云",
]
UNITS += ["A&", "# A\n", "A. ", "Aa-", "1 ", "\u3000", "ア", "_", "`A` ", "Dr. ", "A & "]


@pytest.mark.parametrize("unit", UNITS)
def test_oddities_take_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + "x"
    begin = time.process_time()
    names(text)
    assert time.process_time() - begin < 30
