"""Tables that are drawn with characters are read as tables of Markdown."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.answers.drawn_tables import with_markdown_tables
from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text)]


def test_a_grid_has_a_row_between_two_borders() -> None:
    text = """Die Zeiten:

  +----------+----------------+
  | Tag      | Zeit           |
  +==========+================+
  | Montag   | 9 bis 12,      |
  |          | außer im Juli  |
  +----------+----------------+
  | Dienstag | geschlossen    |
  +----------+----------------+

Danach.
"""
    assert texts(text) == [
        "Die Zeiten:",
        "Tag: Montag; Zeit: 9 bis 12, außer im Juli",
        "Tag: Dienstag; Zeit: geschlossen",
        "Danach.",
    ]
    assert texts(text.replace("=", "-")) == texts(text)


def test_a_box_is_a_grid() -> None:
    text = """
       ┌─────┬──────────────┐
       │Day  │ Hours        │
       ├─────┼──────────────┤
       │Mon  │ nine to      │
       │     │ noon         │
       └─────┴──────────────┘
"""
    assert texts(text) == ["Day: Mon; Hours: nine to noon"]


def test_a_grid_of_a_database_has_a_row_in_each_line() -> None:
    text = """+----+--------+------+
| id | 名称   | note |
+----+--------+------+
|  1 | 面包   | NULL |
|  2 | 苹果汁 | cold |
+----+--------+------+
"""
    assert texts(text) == ["id: 1; 名称: 面包; note: NULL", "id: 2; 名称: 苹果汁; note: cold"]


def test_cells_of_a_grid_may_span_columns_and_rows() -> None:
    text = """+--------+-----------+--------+
| Boat   | Hire      | Crew   |
+========+===========+========+
| Kayak  | Ask the harbour.   |
+--------+-----------+--------+
| Gull   | With a    | Ruth   |
+--------+ skipper.  |--------+
| Tern   |           | Ivan   |
+--------+-----------+--------+
"""
    assert texts(text) == [
        "Boat: Kayak; Hire: Ask the harbour.",
        "Boat: Gull; Hire: With a skipper.; Crew: Ruth",
        "Boat: Tern; Crew: Ivan",
    ]


@pytest.mark.parametrize(
    ("top", "rule", "bottom"),
    [
        ("=========  ======  =========\n",) * 3,
        ("", "---------  ------  ---------\n", ""),
        ("", "---------  ------  ---------\n", "----------------------------\n"),
    ],
)
def test_pieces_of_a_rule_show_the_columns(top: str, rule: str, bottom: str) -> None:
    text = (
        f"It costs:\n\n{top}Ticket     Price   Valid\n{rule}Day        6 €     one day\n"
        f"Ten times  50 €    two\n                   years\n{bottom}\nIt ends."
    )
    assert texts(text) == [
        "It costs:",
        "Ticket: Day; Price: 6 €; Valid: one day",
        "Ticket: Ten times; Price: 50 €; Valid: two years",
        "It ends.",
    ]


def test_a_table_of_markdown_needs_no_outer_bars() -> None:
    text = "Услуга | Цена\n:-- | --:\nОсмотр | 500 руб.\nПрививка | 900 руб.\n\nНа этом всё."
    assert texts(text) == [
        "Услуга: Осмотр; Цена: 500 руб.",
        "Услуга: Прививка; Цена: 900 руб.",
        "На этом всё.",
    ]


@pytest.mark.parametrize("rule", ["", "-" * 30 + "\n"])
def test_blanks_keep_three_columns_apart(rule: str) -> None:
    text = (
        f"Boat           Hour     Day\n{rule}Kayak          8.00   30.00\n"
        "Rowing boat   10.00   40.00\nPedal boat    12.00       -\nDeposits are paid in cash."
    )
    assert texts(text) == [
        "Boat: Kayak; Hour: 8.00; Day: 30.00",
        "Boat: Rowing boat; Hour: 10.00; Day: 40.00",
        "Boat: Pedal boat; Hour: 12.00; Day: -",
        "Deposits are paid in cash.",
    ]


def test_tabs_and_wide_blanks_keep_columns_apart() -> None:
    rows = ("项目", "价格", "时间"), ("洗衣", "10元", "1天"), ("干洗", "25元", "3天")
    for gap in ("\t", "\u3000\u3000", "      "):
        text = "\n".join(gap.join(row) for row in rows)
        assert texts(text) == [
            "项目: 洗衣; 价格: 10元; 时间: 1天",
            "项目: 干洗; 价格: 25元; 时间: 3天",
        ]


@pytest.mark.parametrize(
    "text",
    [
        "a | b\nand no rule\n",
        "It rains.  We sail.  They sing.\nOne rains.  2 sail.  Three sing.\nA.  B.  C.\n",
        "2021   45   46\n2022   48   49\n2023   50   51\n",
        "Title\n-----\n\nText -- and more -- follows.\n",
        "====  ====\nTwo   3\n====  ====\n",
        "+---+\n| a |\n+---+\n",
        "Bit   Mask   Use\n 0    0x0F   one of:\n        ID   Size   Name\n        1    4      -\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert with_markdown_tables(text) == text


@given(st.text(alphabet="|+-= \n\t\u3000a1中:", max_size=200))
def test_no_letter_is_lost(text: str) -> None:
    def letters(text: str) -> list[str]:
        return sorted(character for character in text if character in "a1中")

    assert letters(with_markdown_tables(text)) == letters(text)


@pytest.mark.parametrize(
    "line", ["+---+", "| a", "--- ---", "== ==", "a | b", "Aa   Bb   Cc", "a\t\tb", "|-|-|"]
)
def test_time_is_linear(line: str) -> None:
    text = f"{line}\n" * 20_000
    begin = time.process_time()
    with_markdown_tables(text)
    assert time.process_time() - begin < 5
