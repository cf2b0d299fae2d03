"""Sentences: they cover the text, end where readers see an end, and take linear time."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.language.sentences import LONGEST, sentences

MARKS = [
    "Dr. Smith ",
    "went. ",
    "Home! ",
    "\n",
    "\n\n",
    "- item\n",
    "```\n",
    "```py\n",
    "# Head\n",
    "中国。",
    "e.g. ",
]
PIECES = st.lists(st.sampled_from(MARKS) | st.text(max_size=5)).map("".join)


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


@given(st.text() | PIECES)
def test_sentences_cover_every_character_that_is_not_blank(text: str) -> None:
    result = sentences(text)
    assert all(sentence.text == text[sentence.start : sentence.end] for sentence in result)
    assert all(sentence.end <= following.start for sentence, following in pairwise(result))
    assert "".join("".join(s.text.split()) for s in result) == "".join(text.split())
    assert all(sentence.text.strip() == sentence.text != "" for sentence in result)


def test_english_sentences_end_at_their_marks() -> None:
    assert texts('He came. "Did she?" She did! Nobody (at all) saw it.') == [
        "He came.",
        '"Did she?"',
        "She did!",
        "Nobody (at all) saw it.",
    ]


def test_abbreviations_initials_and_numbers_end_nothing() -> None:
    for text in (
        "Dr. Smith met J. R. R. Tolkien at 3.15 p.m. yesterday.",
        "It costs 3.14 dollars, e.g. Paris.",
        "1. First",
    ):
        assert texts(text) == [text]


def test_an_abbreviation_before_a_common_opener_ends_a_sentence() -> None:
    assert texts("She moved to the U.S. The city was Boston.") == [
        "She moved to the U.S.",
        "The city was Boston.",
    ]


def test_wrapped_lines_are_one_sentence_and_blank_lines_end_one() -> None:
    assert texts("one line\nand its rest\n\nanother") == ["one line\nand its rest", "another"]


def test_the_mark_of_a_footnote_ends_its_sentence() -> None:
    assert texts("It costs 4 euros.[^1] Children pay half.[12] The rest is free.²") == [
        "It costs 4 euros.[^1]",
        "Children pay half.[12]",
        "The rest is free.²",
    ]
    assert texts("票价四元。[1]儿童半价。[^kids]") == ["票价四元。[1]", "儿童半价。[^kids]"]


def test_chinese_sentences_need_no_blank() -> None:
    assert texts("北京是首都。上海很大！“好吗？”好。") == [
        "北京是首都。",
        "上海很大！",
        "“好吗？”",
        "好。",
    ]


def test_bullets_headings_and_tables_stand_alone() -> None:
    text = "# Title\nIntro text\n- first\n- second\n2) third\n| a | b |\nend"
    assert texts(text) == [
        "# Title",
        "Intro text",
        "- first",
        "- second",
        "2) third",
        "| a | b |",
        "end",
    ]
    assert [sentence.heading for sentence in sentences(text)][:2] == [True, False]


def test_lines_of_code_stand_alone_and_say_so() -> None:
    result = sentences("Before.\n```python\nx = 1. \ny = x.z\n```\nAfter.")
    assert [(s.text, s.code) for s in result] == [
        ("Before.", False),
        ("```python", True),
        ("x = 1.", True),
        ("y = x.z", True),
        ("```", True),
        ("After.", False),
    ]


def test_a_passage_cut_out_of_code_is_understood() -> None:
    result = sentences("x = 1\n```\nProse here.\n```python\ny = 2\n```\n")
    assert [sentence.text for sentence in result if not sentence.code] == ["Prose here."]


def test_long_sentences_are_cut_at_blanks() -> None:
    result = texts("word " * 2_000)
    assert max(map(len, result)) <= LONGEST
    assert all(part.startswith("word") and part.endswith("word") for part in result)


@pytest.mark.parametrize(
    "unit", [".", ". ", "a.", "! ?", "\n", " ", "```\n", "- \n", "(", "。", "A. ", "\u2028", '."']
)
def test_oddities_take_linear_time(unit: str) -> None:
    text = unit * (150_000 // len(unit)) + "x"
    begin = time.process_time()
    sentences(text)
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    "text",
    [
        "महात्मा गांधी थे। वे आए।",
        "هل جاء؟ نعم.",
        "یہ ہے۔ وہ تھا۔",
        "Он работал. Это важно.",
        "¿Quién vino? ¡Nadie!",
        "Ela veio. Ção não é nada.",
        "这是一。那是二！",
        "Er kam am 3. Mai an. Dann ging er.",
        "Das gilt z.B. für Hunde. Katzen auch.",
        "Elle a vu M. Hugo hier. Il dormait.",
    ],
)
def test_sentences_of_many_languages_end_where_their_readers_end_them(text: str) -> None:
    assert len(sentences(text)) == 2


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Wildcard Patterns\n*****************\n\nThey match all.", ["Wildcard Patterns"]),
        ("Early life\n\nShe was born in Elm.", ["Early life"]),
        ("# Title\ntext", ["# Title"]),
        ("It ends.\n\nThis is a sentence.\n\nMore.", []),
        ("one line only", []),
        ("- Ada Lovelace\n\n- Zoe\n", []),
        ("Preise\n\nGültig ab 1. Mai\n\nVier Euro.", ["Preise"]),
        ("Exit values\n\npermission denied\n\nmast\n\nA pole.", ["Exit values", "mast"]),
        ("Цены\n\nДети платят половину.¹\n\nИ всё.", ["Цены"]),
    ],
)
def test_headings_are_marked_underlined_or_short_lines_that_stand_alone(
    text: str, headings: list[str]
) -> None:
    assert [sentence.text for sentence in sentences(text) if sentence.heading] == headings


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (">>> import Foo\nprose", [">>> import Foo"]),
        ("rule ::= Foo\n\nprose", ["rule ::= Foo"]),
        ("like this::\n\n   Foo bar\n   more\n\nprose", ["Foo bar", "more"]),
        ("for example:\n\n   x = Foo()\n\n   y\n\nprose", ["x = Foo()", "y"]),
        ("they are:\n\n   only words here\n", []),
        ("They say:\n\nx = 1", []),
    ],
)
def test_code_without_fences_is_told_by_prompts_rules_and_indents(
    text: str, code: list[str]
) -> None:
    assert [sentence.text for sentence in sentences(text) if sentence.code] == code


@pytest.mark.parametrize(
    "text",
    [
        "Nach § 9 Abs. 2 oder Abs. 3 zahlt niemand.",
        "Смотри ф. 577, оп. 9, д. 188 в архиве.",
        "Ruhe ist (Mo. – Sa.) in der Zeit von 13 bis 15 Uhr und So. 8 bis 20 Uhr.",
        "Wir öffnen am 3. Dezember im 2. Stock.",
        "Es gibt z. B. Brot und i. d. R. Milch.",
        "Siehe §§ 13 u. 15, vgl. oben.",
        "It is asked by M.G.L. c. 90 (Ord. 95-28), incl. the annex.",
        "Viaja a los EE. UU. con su perro.",
        "Voir l'art. L. 12 du Code.",
        "Он живёт в г. Тверь на ул. Садовой, д. 5.",
        "— Куда? — спросил он.",
        "## 9.2. Must it be so?",
        "# It is torn. What now?",
        "We take **U.S. Passports** and Non-U.S. IDs.",
        "Some (e. g. NFS) have it, i. e. Most of them.",
        "See 52 Stat. 100 and par. 3.",
        'It is, they say, "well off." "and happy".',
    ],
)
def test_abbreviations_of_many_languages_and_numbers_of_headings_end_nothing(text: str) -> None:
    assert texts(f"{text}\nEnde.")[0].splitlines()[0] == text


def test_a_year_and_an_abbreviation_without_a_number_may_end_a_sentence() -> None:
    assert texts("Это было в 1990 г. Потом он уехал.") == ["Это было в 1990 г.", "Потом он уехал."]
    assert texts("Close the tab. Then it rings.") == ["Close the tab.", "Then it rings."]


def test_a_line_with_the_value_of_a_field_is_a_sentence_and_no_heading() -> None:
    text = "Date: 3 March\nPlace: the old barn\n\n时间：三月三日\n\nPart 2: The sea\n\nIt is wide."
    assert [(sentence.text, sentence.heading) for sentence in sentences(text)] == [
        ("Date: 3 March", False),
        ("Place: the old barn", False),
        ("时间：三月三日", False),
        ("Part 2: The sea", True),
        ("It is wide.", False),
    ]


def test_a_chinese_sentence_without_a_full_stop_is_no_heading() -> None:
    sentence = "孩子们每天早上八点以前必须把湿衣服挂在门口，然后才可以进来"
    assert not sentences(f"开头。\n\n{sentence}\n\n结尾。")[1].heading


def test_an_underlined_title_begins_no_code() -> None:
    text = "GUI\n~~~\n\nPress the key.\n\nsails.ini\n~~~~~~~~~\n\nSet it there."
    assert [s.text for s in sentences(text) if not s.code and s.text.endswith(".")] == [
        "Press the key.",
        "Set it there.",
    ]


def test_a_directive_for_code_holds_code_and_a_list_below_a_list_does_not() -> None:
    text = (
        "Run this.\n\n.. code-block:: sh\n   :linenos:\n\n   sail --up\n\nIt sails.\n\n"
        "- Signs:\n\n    * fever (38 degrees)\n"
    )
    assert [s.text for s in sentences(text) if not s.code] == [
        "Run this.",
        "It sails.",
        "- Signs:",
        "* fever (38 degrees)",
    ]
