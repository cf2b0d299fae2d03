"""Rows of tables contradict each other only where their tables are about the same."""

from itertools import product

import pytest

from offline.answers.quotable_sentences import Quotable, quotable
from offline.answers.row_disagreements import parts_disagree


def disagree(first: str, second: str, names: tuple[str, str] = ("policy.md", "rules.md")) -> bool:
    """Whether a part of the one document contradicts a part of the other, either way."""
    parts, other_parts = quotable(first), quotable(second)

    def any_pair(left: tuple[Quotable, ...], right: tuple[Quotable, ...], files: list[str]) -> bool:
        return any(parts_disagree(one, other, *files) for one, other in product(left, right))

    result = any_pair(parts, other_parts, [*names])
    assert any_pair(other_parts, parts, [*reversed(names)]) is result
    return result


def table(above: str, *rows: str) -> str:
    head, *body = rows
    rule = "|".join(" --- " for _ in head.split("|"))
    return "\n".join([above, "", *(f"| {row} |" for row in (head, rule, *body)), ""])


TARIFF = ("Pier | Fee", "Grey Gull Pier | {} pence", "Heron Pier | 7 pence")


def tariff(above: str, fee: int) -> str:
    return table(above, *(row.format(fee) for row in TARIFF))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # a tariff in two books, below the same caption
        (tariff("# Harbour rules\n\n## Berth fees", 10), tariff("# Handbook\n\n## Berth fees", 12)),
        (tariff("## 3.1 Berth fees", 10), tariff("Table 7: Berth fees", 12)),
        (tariff("", 10), tariff("", 12)),
        (tariff("## Fees of piers in Port Elm", 10), tariff("Fees of piers in Port Elm:", 12)),
        (tariff("## Fees", 10), tariff("", 12)),
        # a contract and its summary
        (
            table("# Lease of Shed 4\n\n## Terms", "Term | Value", "Notice period | three months"),
            table("# Lease of Shed 4\n\n## Terms", "Term | Value", "Notice period | six weeks"),
        ),
        # two statements of the same account, total and all
        (
            table("# Accounts 1890\n\n## Expenses", "Item | Amount", "Coal | 40", "Total | 90"),
            table("# Accounts 1890\n\n## Expenses", "Item | Amount", "Coal | 40", "Total | 95"),
        ),
        # one product sheet twice
        (
            table("# Lamp AX-200", "Property | Value", "Net weight | 3 kg", "Range | 12 km"),
            table("# Lamp AX-200", "Property | Value", "Net weight | 4 kg", "Range | 12 km"),
        ),
        # results of one race
        (
            table("# Regatta 1891", "Boat | Skipper | Points", "Tern | Ada | 12", "Gull | Ida | 9"),
            table("# Regatta 1891", "Boat | Skipper | Points", "Tern | Ada | 15"),
        ),
        # one laboratory, rows told apart by a year
        (
            table("## Ships in port", "Port | Year | Ships", "Elm | 1890 | 40", "Elm | 1891 | 50"),
            table("## Ships in port", "Port | Year | Ships", "Elm | 1890 | 44"),
        ),
        # columns in another order, with one more, and remarks in other words
        (
            table(
                "## Staff", "Name | Pay | Remark", "Ruth Thorn | 90 | paid at the end of the month"
            ),
            table("## Staff", "Name | Since | Pay", "Ruth Thorn | 1888 | 95")
            .replace("Since | Pay", "Pay | Since")
            .replace("1888 | 95", "95 | 1888"),
        ),
        # German, and a list
        (
            table("## Gebühren im Hafen", "Boot | Gebühr", "Fischerboot | 3 Mark"),
            table("## Gebühren im Hafen", "Boot | Gebühr", "Fischerboot | 5 Mark"),
        ),
        ("# Lease\n\n- Notice period: three months", "# Lease\n\n- Notice period: six weeks"),
        # a row and a sentence
        (
            table("## Fees", "Pier | Fee of a berth", "Grey Gull Pier | 10 pence"),
            "## Fees\n\nThe fee of a berth at Grey Gull Pier is 12 pence.",
        ),
    ],
)
def test_rows_of_tables_about_the_same_contradict_each_other(first: str, second: str) -> None:
    assert disagree(first, second)


def minutes(day: str, yes: int) -> str:
    return table(
        f"# Minutes of {day}\n\n## Votes", "Motion | Yes | No", f"Repair the pier | {yes} | 3"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # financial report: total of other tables, years, units
        (
            table("## Revenue", "Item | 1890", "Fees | 60", "Total | 90"),
            table("## Expenses", "Item | 1890", "Fees | 20", "Total | 70"),
        ),
        (
            table("", "Item | Amount", "Coal | 40", "Total | 90"),
            table("", "Item | Amount", "Rope | 41", "Total | 95"),
        ),
        (tariff("## Fees 1890", 10), tariff("## Fees 1891", 12)),
        (
            table("## Sales", "Region | in 1,000 EUR", "North | 40"),
            table("## Sales", "Region | in EUR", "North | 40,000"),
        ),
        (
            table("## Sales", "Region | Sales (€)", "North | 40"),
            table("## Sales", "Region | Sales ($)", "North | 44"),
        ),
        # invoices
        (
            table("# Invoice 1001\n\n## Positions", "Position | Price", "Rope | 3", "Total | 10"),
            table("# Invoice 1002\n\n## Positions", "Position | Price", "Rope | 4", "Total | 12"),
        ),
        # product sheets
        (
            table("# Lamp Gull", "Property | Value", "Net weight | 3 kg"),
            table("# Lamp Tern", "Property | Value", "Net weight | 4 kg"),
        ),
        (
            table("# Gull\n\n## Technical data", "Feature | Value", "Net weight | 3 kg"),
            table("# Tern\n\n## Technical data", "Feature | Value", "Net weight | 4 kg"),
        ),
        ("# Gull\n\n- Net weight: 3 kg", "# Tern\n\n- Net weight: 4 kg"),
        # pages about towns
        (
            table("# Elm\n\n## Climate", "Month | Rain in mm | Days", "January | 50 | 12"),
            table("# Ash\n\n## Climate", "Month | Rain in mm | Days", "January | 70 | 15"),
        ),
        # contracts of other parties, tariffs of other harbours
        (tariff("# Port Elm\n\n## Berth fees", 10), tariff("# Port Ash\n\n## Berth fees", 12)),
        (tariff("Table 2. Fees of Port Elm", 10), tariff("Table 2. Fees of Port Ash", 12)),
        (
            table("## Fees", "Pier | Fee", "Pier 1 | 10 pence"),
            table("## Fees", "Pier | Fee", "Pier 2 | 20 pence"),
        ),
        # minutes and regattas
        (minutes("3 May", 9), minutes("7 June", 4)),
        (
            table("## Results", "Boat | Skipper | Points", "Tern | Ada | 12"),
            table("## Results", "Boat | Skipper | Points", "Tern | Ida | 15"),
        ),
        (
            table("## Ships in port", "Port | Year | Ships", "Elm | 1890 | 40"),
            table("## Ships in port", "Port | Year | Ships", "Elm | 1891 | 44"),
        ),
        (
            table("## Stock", "Article | No. | Price | Colour", "Rope | 17 | 3 | red"),
            table("## Stock", "Article | No. | Price | Colour", "Rope | 18 | 4 | blue"),
        ),
        (
            table("## Rope", "Kind | Price | Colour", "Hemp rope | 3 | red"),
            table("## Rope", "Kind | Price | Colour", "Hemp rope | 4 | blue"),
        ),
        # manuals: parameters of other commands
        (
            table("# `list`\n\n## Options", "Option | Default", "`--limit` rows | 10"),
            table("# `search`\n\n## Options", "Option | Default", "`--limit` rows | 20"),
        ),
        # the same number in other forms
        (tariff("## Fees", 1200), tariff("## Fees", 1200).replace("1200", "1,200")),
        (
            table("## Rope", "Kind | Length", "Hemp rope | 10.50 m"),
            table("## Rope", "Kind | Length", "Hemp rope | 10,5 m"),
        ),
        (
            table("## Ways", "Way | Length", "Harbour road | 10 km"),
            table("## Ways", "Way | Length", "Harbour road | 6 miles"),
        ),
        # a row and a sentence of another section
        (
            table("## Port Elm", "Pier | Fee of a berth", "Grey Gull Pier | 10 pence"),
            "## Port Ash\n\nThe fee of a berth at Grey Gull Pier is 12 pence.",
        ),
        ("", ""),
    ],
)
def test_rows_of_other_tables_do_not(first: str, second: str) -> None:
    assert not disagree(first, second)


@pytest.mark.parametrize(
    ("names", "result"),
    [
        (("berth fees.csv", "berth_fees.csv"), True),
        (("policy.csv", "rules.csv"), True),
        (("elm.csv", "ash.csv"), False),
        (("fees-1890.csv", "fees-1891.csv"), False),
    ],
)
def test_the_file_names_a_table_where_nothing_else_does(
    names: tuple[str, str], result: bool
) -> None:
    assert disagree(tariff("", 10), tariff("", 12), names) is result


def test_a_block_of_a_long_table_is_about_what_the_table_is_about() -> None:
    rows = table("Rows 9 to 20:", "Name | Pay", "Ruth Thorn | 90")
    first = f"# Port Elm\n\n## Staff\n\n{rows}"
    second = table("# Port Elm\n\n## Staff, rows 3 to 8", "Name | Pay", "Ruth Thorn | 95")
    assert disagree(first, second)
    assert not disagree(first, second.replace("Elm", "Ash"))
