"""Sheets and separated values: rows stay with the header that explains them."""

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import csv, tables
from runtime.parsing.files import parse
from runtime.parsing.tables import blocks, markdown, with_headers
from tests.support import office_files as office


async def test_a_sheet_is_a_heading_and_a_table_of_what_its_program_shows() -> None:
    assert (await parse(office.xlsx(), "staff.xlsx")).text == (
        "## Staff\n\nStaff of the Harbour Office\n\n"
        "| Name | Since | Seen | Share | Pay | On duty |\n| --- | --- | --- | --- | --- | --- |\n"
        "| Ada \\| Marlow | 1921-05-03 | 1921-05-03 14:30:00 | 0.3 | 1200 | TRUE |\n"
        "| Hector Vane | 1922-01-01 |  | 0.5 | 1e+15 | FALSE |"
    )


async def test_a_hidden_sheet_is_read_and_called_hidden_and_an_empty_one_is_not_there() -> None:
    data = office.xlsx(
        {"A": [["x", "y"], [1, 2]], "Empty": [], "Prices": [["x", "y"], [3, 4]]}, hidden="Prices"
    )
    text = (await parse(data, "a.xlsx")).text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## A",
        "## Prices (hidden)",
    ]


async def test_the_values_that_formulas_had_are_read_and_percentages_look_like_it() -> None:
    data = office.changed(
        office.xlsx({"A": [["what", "share"], ["salt", 0.125], ["corn", 5]]}),
        lambda name, part: (
            part.replace(b"<v>5</v>", b"<f>SUM(1,2)</f><v>3</v>").replace(
                b'r="B2"', b'r="B2" s="1"'
            )
            if name.endswith("sheet1.xml")
            else part.replace(b"</cellXfs>", b'<xf numFmtId="10"/></cellXfs>')
        ),
    )
    assert (await parse(data, "a.xlsx")).text.splitlines()[-2:] == [
        "| salt | 12.50% |",
        "| corn | 3 |",
    ]


async def test_a_sheet_is_read_whole_whatever_size_it_claims() -> None:
    data = office.changed(
        office.xlsx(),
        lambda _, part: part.replace(b'<dimension ref="A1:F5"', b'<dimension ref="A1:A1"'),
    )
    assert "Hector Vane" in (await parse(data, "a.xlsx")).text


def test_a_long_table_repeats_its_header_and_says_which_rows_a_block_has() -> None:
    rows = [(number, [f"name {number}", "x" * 80]) for number in range(2, 60)]
    result = list(blocks([(1, ["Name", "Text"]), *rows], "## Staff"))
    texts = [block for block in result if block.startswith("|")]
    assert all(text.startswith("| Name | Text |\n| --- | --- |\n| name ") for text in texts)
    assert max(map(len, texts)) < 700
    assert [block for block in result if block.startswith("#")][:2] == [
        "## Staff",
        "## Staff, rows 8 to 13",
    ]
    assert "".join(texts).count("| name ") == 58


def test_a_gap_between_rows_keeps_their_numbers() -> None:
    rows = [(1, ["a", "b"]), (2, ["", ""]), (900, ["1", "2" * 1000]), (901, ["3", "4"])]
    assert list(blocks(rows, "## S"))[-2:] == [
        "## S, rows 901 to 901",
        "| a | b |\n| --- | --- |\n| 3 | 4 |",
    ]


@pytest.mark.parametrize(
    ("first", "header"),
    [
        (["Name", "2024", "2025"], "| Name | 2024 | 2025 |"),
        (["17.5", "3", "Ada"], "| A | B | C |"),
        (["1", "-2e5", "1 000,5"], "| A | B | C |"),
        (["Ada", "", "Vane"], "| Ada |  | Vane |"),
    ],
)
def test_a_header_is_told_from_data(first: list[str], header: str) -> None:
    assert list(blocks([(1, first), (2, ["x", "y", "z"])]))[-1].startswith(header + "\n")


def test_columns_without_a_header_have_the_letters_of_a_spreadsheet() -> None:
    assert list(blocks([(1, ["7"] * 28)]))[-1].splitlines()[0].endswith("| Z | AA | AB |")


def test_a_table_of_one_column_has_its_first_row_as_header() -> None:
    assert list(blocks([(1, ["name"]), (2, ["Ada"])]))[-1] == "| name |\n| --- |\n| Ada |"


def test_rows_of_different_lengths_make_one_table() -> None:
    assert markdown([["a"], ["b", "c"]]) == "| a |  |\n| --- | --- |\n| b | c |"
    assert markdown([]) == ""


def test_a_table_has_a_bounded_number_of_rows_and_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 50)
    monkeypatch.setattr(tables, "MAX_CELLS", 200)
    assert list(blocks((number, ["a"]) for number in range(50)))
    assert list(blocks((number, [""]) for number in range(500))) == []
    for rows in (
        ((n, ["a"]) for n in range(51)),
        ((n, ["a", "", "b", "c", "d", "e"]) for n in range(41)),
    ):
        with pytest.raises(InvalidInput, match="more than 50 rows or 200 cells: split it"):
            list(blocks(rows))


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("a,b\n1,2\n", ["| a | b |", "| 1 | 2 |"]),
        ("a;b\nx;1,5\ny;2,5\n", ["| a | b |", "| x | 1,5 |", "| y | 2,5 |"]),
        ("a\tb, c\n1\t2\n", ["| a | b, c |", "| 1 | 2 |"]),
        ("a|b\r\n1|2\r\n", ["| a | b |", "| 1 | 2 |"]),
        ('a,b\n"x, ""y""\nz",2\n', ["| a | b |", '| x, "y" z | 2 |']),
        ("name\nAda\n\nHector\n", ["| name |", "| Ada |", "| Hector |"]),
        ("Grüße,Öl\nx,y", ["| Grüße | Öl |", "| x | y |"]),
    ],
)
def test_separated_values_are_read_with_the_delimiter_they_have(
    source: str, rows: list[str]
) -> None:
    head, _, *body = csv.text(source).text.splitlines()
    assert [head, *body] == rows


def test_a_wide_record_is_read_though_no_other_delimiter_fits() -> None:
    record = ",".join(f"column{number}" for number in range(200_000))
    assert csv.text(f"{record}\n").text.startswith("| column0 | column1 |")


async def test_a_quote_that_is_never_closed_is_refused_when_it_takes_too_much() -> None:
    with pytest.raises(
        InvalidInput, match=r"a.csv: not readable as a table \(field larger .*: save it anew"
    ):
        await parse(b'a,b\n"x,' + b"y,z\n" * 300_000, "a.csv")


@pytest.mark.parametrize(
    ("name", "data"), [("a.csv", b""), ("a.csv", b"\n,,\n"), ("a.xlsx", office.xlsx({"A": []}))]
)
async def test_a_table_without_text_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(InvalidInput, match=f"{name}: has no text in it"):
        await parse(data, name)


async def test_one_long_string_many_times_is_refused_before_it_fills_the_memory() -> None:
    data = office.shared(office.xlsx({"A": [["x"] * 40] * 40}), "y" * 30_000)
    assert len(data) < 10_000
    with pytest.raises(
        InvalidInput, match=r"a.xlsx: gives more than 20,971,520 characters of text: split it"
    ):
        await parse(data, "a.xlsx")


async def test_too_many_sheets_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"a.xlsx: has 257 sheets, at most 256 are read"):
        await parse(office.xlsx({f"s{number}": [] for number in range(257)}), "a.xlsx")


def test_a_long_table_of_a_text_has_its_header_in_each_block() -> None:
    rows = [["Harbour", "Keeper"], *([f"Port {number}", "Oda " * 10] for number in range(40))]
    tables = list(with_headers(rows))
    assert len(tables) > 3
    assert all(table.startswith("| Harbour | Keeper |\n| --- | --- |\n") for table in tables)
    lines = [line for table in tables for line in table.splitlines()[2:]]
    assert [line.split(" | ")[0] for line in lines] == [f"| Port {number}" for number in range(40)]
    assert list(with_headers(rows[:3])) == [markdown(rows[:3])], "a short one stays as it was"
    assert list(with_headers(rows[:1])) == [markdown(rows[:1])]
    long_header = [["name " * 400, "b"], *rows[1:]]
    assert sum(map(len, with_headers(long_header))) < 3 * len(markdown(long_header))


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
async def test_two_rows_that_name_the_columns_are_one_header(suffix: str) -> None:
    rows: list[list[str | int]] = [["Port", 2024, "", 2025], ["", "Spring", "Autumn", "Spring"]]
    for number in range(200):
        rows.append([f"port {number}", number, 2 * number, 3 * number])
    if suffix == "csv":
        data = "\n".join(",".join(map(str, row)) for row in rows).encode()
    else:
        data = office.xlsx({"Ships": [[value or None for value in row] for row in rows]})
    texts = (await parse(data, f"ships.{suffix}")).text.split("\n\n")
    heads = {text.split("\n")[0] for text in texts if text.startswith("|")}
    assert heads == {"| Port | 2024 Spring | 2024 Autumn | 2025 Spring |"}


def test_words_in_a_gap_of_a_header_are_a_row_where_no_numbers_are_below() -> None:
    rows = [["Name", "Town", ""], ["Ada", "Elm", "a note"], ["Ben", "Ash", "5"], ["Cy", "Oak", ""]]
    assert next(with_headers(rows)).startswith("| Name | Town |  |\n")
