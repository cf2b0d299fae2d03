"""Price lists, timetables and pairs whose columns blanks or dots keep apart."""

from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text)]


def test_dots_lead_from_a_name_to_its_price() -> None:
    text = "Drinks\n\nTea ........ 1.20\nMilk, cold ..... 0.90\nCider . . . . . . 2.50 a glass\n"
    assert texts(text) == ["Tea: 1.20", "Milk, cold: 0.90", "Cider: 2.50 a glass"]


def test_pages_of_chapters_are_no_values() -> None:
    text = "One ..... 3\nTwo ..... 9\nThree ..... 14\nFour ..... 21\n\nThe book is short.\n"
    assert "One: 3" not in texts(text)
    assert texts(text)[-1].endswith("The book is short.")


def test_pairs_in_two_columns_are_rows_with_and_without_names() -> None:
    assert texts("Oil lamp      4,50 €\nWick          0,80 €\nGlass        12,00 €\n") == [
        "Oil lamp: 4,50 €",
        "Wick: 0,80 €",
        "Glass: 12,00 €",
    ]
    assert texts("Rank      Days of leave\nKeeper    24\nMate      20 in all\n") == [
        "Rank: Keeper; Days of leave: 24",
        "Rank: Mate; Days of leave: 20 in all",
    ]


def test_lines_of_prose_that_are_set_to_a_width_are_no_pairs() -> None:
    text = (
        "The lamp of the X11 house  is lit at dusk by the\n"
        "keeper, who  climbs 200 steps and has a lamp, too\n"
    )
    assert texts(text)[0].startswith("The lamp of the X11 house is lit")


def test_a_timetable_needs_no_name_above_its_places() -> None:
    text = "          Weekdays  Sunday\nPier      7:10      9:00\nIsland    7:40      9:30\n"
    assert texts(text) == [
        "Pier; Weekdays: 7:10; Sunday: 9:00",
        "Island; Weekdays: 7:40; Sunday: 9:30",
    ]


def test_fields_whose_values_are_aligned_stay_fields() -> None:
    assert texts("Name:     Gull\nLength:   9 m\nBuilt:    1911\n") == [
        "Name: Gull",
        "Length: 9 m",
        "Built: 1911",
    ]
