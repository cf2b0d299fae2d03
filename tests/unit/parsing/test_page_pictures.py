"""Where a passage stands on a page whose text differs from it in spaces, breaks and signs."""

from runtime.parsing.page_child import found_parts


def found(text: str, passage: str) -> list[str]:
    return [text[start:end] for start, end in found_parts(text, passage)]


def test_a_passage_is_found_whole_whatever_stands_between_its_words() -> None:
    text = "thelongpierwasbuiltin1898byclaravoss"
    assert found(text, "Built in\n1898 by Cla- ra Voss.") == ["builtin1898byclaravoss"]


def test_of_a_table_its_cells_are_found() -> None:
    assert found("shiptonselmstar12", "| Elm Star | 12 |\n| Oak Queen | 90 |") == ["elmstar", "12"]


def test_of_a_sentence_over_two_pages_each_has_its_part() -> None:
    sentence = "Clara Voss built the long pier in the year of the great storm."
    assert found("page1claravossbuiltthelongpierin7", sentence) == ["claravossbuiltthelongpierin"]
    assert found("8theyearofthegreatstormdora", sentence) == ["theyearofthegreatstorm"]


def test_nothing_is_found_where_nothing_of_it_stands() -> None:
    assert found("donquixotewenthome", "Clara Voss built the long pier.") == []
