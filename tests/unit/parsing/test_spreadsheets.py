"""Spreadsheets as people see them: formats, merged cells, formulas without values, comments, what
is hidden.
"""

import datetime as dt
from io import BytesIO
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment

from runtime.parsing import xlsx
from runtime.parsing.number_formats import shown


def book() -> tuple[Any, Any]:
    workbook: Any = Workbook()
    return workbook, workbook.active


def read(workbook: Any) -> Any:
    out = BytesIO()
    workbook.save(out)
    return xlsx.text(out.getvalue())


def table(workbook: Any) -> list[list[str]]:
    lines = [
        line
        for line in read(workbook).text.split("\n")
        if line.startswith("|") and "---" not in line
    ]
    return [[words.strip() for words in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(
    ("value", "number_format", "expected_text"),
    [
        (0.125, "0.0%", "12.5%"),
        (0.3, "0%", "30%"),
        (1234.5, '#,##0.00 "€"', "1,234.50 €"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (1234.5, "_-* #,##0.00 $_-", "1,234.50 $"),
        (-5, "0.00;(0.00)", "(5.00)"),
        (-5, "0.00;[Red]-0.00", "-5.00"),
        (-5, "0.0", "-5.0"),
        (0, '0;-0;"none"', "none"),
        (1_234_567, "#,##0,", "1,235"),
        (1 / 3, "General", "0.333333333333333"),
        (2.5, "0.##", "2.5"),
        (2, "0.##", "2"),
        (12345, "0.00E+00", "1.23E+04"),
        (5, "00000", "00005"),
        (1, '0" kg"', "1 kg"),
        (0.5, "# ?/?", "0.5"),
        (7, "@", "7"),
        (7, "", "7"),
        (7, ";;;", "7"),
        (7, "\\", "7"),
        (7, '"', "7"),
        (3, "x" * 10_000, "3"),
    ],
)
def test_a_number_is_shown_in_its_format(
    value: float, number_format: str, expected_text: str
) -> None:
    assert shown(value, number_format) == expected_text


def test_dates_and_durations_are_read_as_such() -> None:
    workbook, sheet = book()
    sheet.append(["what", "value"])
    sheet.append(["day", dt.date(2027, 5, 3)])
    sheet.append(["long", dt.timedelta(hours=26, minutes=30)])
    sheet["B3"].number_format = "[h]:mm"
    sheet.append(["hour", dt.time(9, 15)])
    assert table(workbook)[1:] == [["day", "2027-05-03"], ["long", "26:30"], ["hour", "09:15:00"]]


def test_each_row_of_a_merged_range_has_its_department_and_a_merged_title_stands_once() -> None:
    workbook, sheet = book()
    for row in (
        ["Staff", None, None],
        ["Department", "Name", "Since"],
        ["Pilotage", "Ada", 1],
        [None, "Bruno", 2],
    ):
        sheet.append(row)
    sheet.merge_cells("A3:A4")
    sheet.merge_cells("A1:C1")
    assert read(workbook).text.count("Staff") == 1
    assert table(workbook)[1:] == [["Pilotage", "Ada", "1"], ["Pilotage", "Bruno", "2"]]


def test_a_formula_without_a_value_stands_there_itself_and_is_counted() -> None:
    workbook, sheet = book()
    sheet.append(["Post", "Half", "Year"])
    sheet.append(["Rent", 1200, "=B2*2"])
    content = read(workbook)
    assert "| Rent | 1200 | =B2*2 |" in content.text
    assert content.warnings == (
        (
            "1 cell whose value the file does not have stands as a formula: open the file in its "
            "program and save it anew"
        ),
    )


def test_comments_stand_in_their_cells() -> None:
    workbook, sheet = book()
    sheet.append(["Name", "Role"])
    sheet.append(["Bruno", "deckhand"])
    sheet["A2"].comment = Comment("on leave\nuntil June", "Ada")
    assert table(workbook)[1] == ["Bruno [Comment: on leave until June]", "deckhand"]


def test_what_is_hidden_is_read_and_said() -> None:
    workbook, sheet = book()
    for row in (["Name", "Role"], ["Bruno", "deckhand"], ["Clara", "clerk"]):
        sheet.append(row)
    sheet.row_dimensions[2].hidden = True
    sheet.column_dimensions["B"].hidden = True
    notes = workbook.create_sheet("Notes")
    notes.append(["a", "b"])
    notes.sheet_state = "hidden"
    content = read(workbook)
    assert "deckhand" in content.text
    assert "## Notes (hidden)" in content.text
    assert set(content.warnings) == {
        "1 hidden row was read",
        "1 hidden column was read",
        "1 hidden sheet was read",
    }


def test_a_chart_is_read_as_a_table() -> None:
    workbook, sheet = book()
    for row in (["Year", "Tonnes"], [1921, 40], [1922, 55]):
        sheet.append(row)
    chart = BarChart()
    chart.title = "Catch of herring"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    assert "Chart: Catch of herring" in read(workbook).text
