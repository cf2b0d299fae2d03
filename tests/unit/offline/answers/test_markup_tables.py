"""Tables that reStructuredText, AsciiDoc and MediaWiki write in their own ways."""

from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text) if part.is_row]


def test_a_list_table_has_rows() -> None:
    text = (
        ".. list-table:: Lamps\n   :header-rows: 1\n\n   * - Lamp\n     - Oil\n   * - Big\n"
        "     - 3 litres\n       a night\n   * - Small\n     -\n\nAll burn.\n"
    )
    assert texts(text) == ["Lamp: Big; Oil: 3 litres a night", "Lamp: Small"]
    assert quotable(text)[1].caption == "Lamps:"


def test_a_csv_table_has_rows() -> None:
    text = (
        '.. csv-table::\n   :header: Lamp, "Oil, in litres"\n\n'
        '   Big, 3\n   "Small, old", "1, or 2"\n'
    )
    assert texts(text) == [
        "Lamp: Big; Oil, in litres: 3",
        "Lamp: Small, old; Oil, in litres: 1, or 2",
    ]


def test_a_table_of_asciidoc_has_rows_with_and_without_a_header() -> None:
    cells = "|===\n|Lamp |Oil\n\n|Big\n|3 litres\nor more\n\n|Small |1 litre\n|==="
    assert texts(cells) == ["Lamp: Big; Oil: 3 litres or more", "Lamp: Small; Oil: 1 litre"]
    assert texts('[cols="2*"]\n|===\n|Height |3 m\n|Width |2 m\n|===') == [
        "Height: 3 m",
        "Width: 2 m",
    ]
    assert texts("|====\n|Height |3 m\n|Width |2 m\n|====") == ["Height: 3 m", "Width: 2 m"]


def test_rows_between_bars_need_no_header_within_a_passage() -> None:
    text = "The house:\n\n| Height | 30 m |\n| Steps | 199 |\n\n| a |\n"
    assert texts(text) == ["Height: 30 m", "Steps: 199"]


def test_a_table_of_mediawiki_has_rows() -> None:
    text = (
        '{| class="wikitable"\n|+ Lamps\n! Lamp !! Oil\n|-\n| Big || style="x" | 3 litres\n'
        "a night\n|-\n! Small\n| 1 litre\n|}\n\nAll burn.\n"
    )
    assert texts(text) == ["Lamp: Big; Oil: 3 litres a night", "Lamp: Small; Oil: 1 litre"]
    assert texts("{|\n| Height\n| 30 m\n|-\n| Steps\n| 199\n|}") == ["Height: 30 m", "Steps: 199"]
    assert texts("{|\n| Height\n| 30 m\n") == []
