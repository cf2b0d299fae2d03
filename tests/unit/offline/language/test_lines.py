"""Lines that give the value of a field, or tell since or until when something holds."""

import pytest

from offline.language.lines import is_field, is_message, is_validity


@pytest.mark.parametrize(
    "line",
    [
        "Date: 3 March",
        "Datum: 3. März",
        "Date : 3 mars",
        "Fecha: 3 de marzo",
        "Цена: 3 €",
        "记录人：李明",
        "**Ort:** Scheune",
    ],
)
def test_a_label_with_a_value_is_a_field(line: str) -> None:
    assert is_field(line)


@pytest.mark.parametrize(
    "line",
    [
        "Prices:",
        "Part II: Use",
        "TOP 3: Kasse",
        "Chapter One: The Sea",
        "第一章：总则",
        "步骤二：洗菜",
        "https://sails.example",
        "He said to all of them: go",
        "It is late.",
    ],
)
def test_announcements_numbered_headings_and_sentences_are_none(line: str) -> None:
    assert not is_field(line)


@pytest.mark.parametrize(
    "line",
    [
        "Valid from 1 May",
        "Prices hold until December 31st, 2025",
        "Gültig ab 1. Mai",
        "Gültig bis zum 31.12.2025",
        "En vigueur depuis le 1er mai 2024",
        "Válido desde el 3 de marzo de 2024",
        "Действует с 1 мая 2024 г.",
        "自五月一日起施行",
        "有效期至：截至2025年12月31日",
        "Open since 2024-05-01",
    ],
)
def test_a_line_may_tell_since_or_until_when_something_holds(line: str) -> None:
    assert is_validity(line)


@pytest.mark.parametrize(
    "line",
    [
        "Minutes of the meeting of 12 March",
        "1 May",
        "From May",
        "Prices from 4 euros",
        "从前的故事",
    ],
)
def test_names_of_days_and_other_beginnings_tell_no_validity(line: str) -> None:
    assert not is_validity(line)


@pytest.mark.parametrize(
    "line",
    [
        "[21:03] Ann: Who has the key?",
        "[2024-06-02 21:03:11] <bo> it hangs behind the door",
        "9:04 PM - Cy Auk: Bring shoes.",
        "02.06.24, 21:05 - Ольга: приду в семь",
        "2024-06-02T21:06 Ann: Thanks. See you.",
    ],
)
def test_a_line_may_be_a_message_of_a_chat(line: str) -> None:
    assert is_message(line)


@pytest.mark.parametrize(
    "line", ["21:03 the ferry leaves", "Ann: at 21:03", "Open 9:00 - 17:00", "3:1 wins: none"]
)
def test_times_without_a_speaker_are_no_messages(line: str) -> None:
    assert not is_message(line)
