"""What an answer without a model may quote: sentences, items of lists, and rows of tables with
their columns.
"""

from hypothesis import given
from hypothesis import strategies as st

from offline.answers.quotable_sentences import quotable


def texts(text: str) -> list[str]:
    return [part.text for part in quotable(text)]


def test_sentences_are_quoted_without_headings_and_code() -> None:
    text = "# Ships\n\nThe Grey Gull is slow. She is old.\n\n```\ncode\n```\n- a bullet"
    assert texts(text) == ["The Grey Gull is slow.", "She is old.", "- a bullet"]


def test_prose_that_begins_like_a_line_of_code_is_quoted() -> None:
    prose = "The ::= sign must stand apart from whatever is written on both sides."
    assert texts(f"{prose}\n\nIt stands for is.\n\nNode ::= {{a, b}}") == [
        prose,
        "It stands for is.",
    ]


def test_a_row_says_what_its_cells_mean() -> None:
    text = (
        "Crew:\n\n| Sailor | Ship |\n| --- | :-: |\n| Ruth Thorn | Grey \\| Gull |\n"
        "| Dr. Ivan Pike. A mate. |  |\n\nEnd.\n\n| a | |\n|---|---|\n| 1 | 2 | 3 |\n"
    )
    assert texts(text) == [
        "Crew:",
        "Sailor: Ruth Thorn; Ship: Grey | Gull",
        "Sailor: Dr. Ivan Pike. A mate.",
        "End.",
        "a: 1; 2; 3",
    ]


def test_the_first_line_of_a_document_may_be_its_title() -> None:
    title = "Friends of the lake - what was said at the meeting of 12 March"
    text = f"{title}\n\nDogs stay outside. Doors close at ten."
    assert texts(text) == ["Dogs stay outside.", "Doors close at ten."]
    assert quotable(text)[0].title == title
    assert quotable(text, begins_inside=True)[0].text == title
    assert texts(f"{title}.\n\nDoors close at ten.")[0] == f"{title}."


def test_rows_without_their_header_are_left_out() -> None:
    assert texts("258 | Stall 258 |\n| 259 | Stall 259 |\n\nAll sold. None left.") == [
        "All sold.",
        "None left.",
    ]


def test_a_part_knows_its_headings_its_paragraph_and_what_announces_its_list() -> None:
    first, lead, one, two, last = quotable(
        "# Manual\n\nIt is short.\n\n## Start\n\nDo this:\n\n1. Open it.\n2. Turn\n   the "
        "key.\n\nDone."
    )
    assert (first.heading, first.title) == ("Manual", "Manual")
    assert (lead.heading, lead.title) == ("Start", "Manual")
    assert [one.text, two.text] == ["1. Open it.", "2. Turn the key."]
    assert (one.lead, two.lead, one.item, two.item) == ("Do this:", "Do this:", True, True)
    assert one.block == two.block
    assert len({first.block, lead.block, one.block, last.block}) == 4
    assert (last.item, last.lead) == (False, "")


def test_boxes_roman_and_chinese_numbers_begin_items() -> None:
    for items in (
        ["- [ ] Strom abmelden", "- [x] Post umleiten"],
        ["☐ Close all windows.", "☑ Turn off the gas", "[ ] Take the keys"],
        ["i. the right to copy a work;", "ii. moral rights;", "iii. rights of a person;"],
        ["（一）关好窗户；", "（二）关闭煤气；", "（三）带上钥匙。"],
        ["① 关好窗户", "② 关闭煤气"],
    ):
        lead, *parts = quotable("出发前：\n\n" + "\n".join(items))
        assert [part.text for part in parts] == items
        assert {(part.item, part.lead, part.block) for part in parts} == {(True, lead.text, 1)}


def test_an_indented_paragraph_goes_on_with_its_item() -> None:
    for item, next_item in (
        ("1. Откройте крышку.\n\n   Она горячая.\n", "2. Налейте воды."),
        ("  - Откройте крышку.\n\n    Она горячая.", "  - Налейте воды."),
    ):
        text = f"# Ход\n\nСделайте так:\n\n{item}\n{next_item}\n\nГотово."
        lead, *items, ending = quotable(text)
        assert [(part.item, part.lead) for part in items] == [(True, lead.text)] * 3
        assert len({part.block for part in items}) == 1
        assert (ending.item, ending.lead) == (False, "")


def test_headings_above_a_passage_count_until_it_has_its_own() -> None:
    before, after = quotable("It is old.\n\n# Crew\n\nThey sing.", ("Ships", "Grey Gull"))
    assert (before.heading, before.title) == ("Grey Gull", "Ships Grey Gull")
    assert (after.heading, after.title) == ("Crew", "Ships Grey Gull")


def test_a_question_is_not_quoted_but_explains_what_follows() -> None:
    answer, other = quotable("May dogs come in?\n\nOnly guide dogs.\n\nThe end comes later.")
    assert (answer.text, answer.lead) == ("Only guide dogs.", "May dogs come in?")
    assert other.lead == ""


def test_a_question_in_bold_type_explains_its_paragraph_or_the_next() -> None:
    text = (
        "**¿Cuánto cuesta?** Dos euros. Los niños no pagan.\n\nCierra a las cinco.\n\n"
        "**要多少钱？**\n\n每天两元。学生免费。\n\n1. **Wo ist sie?** Im Keller.\n2. Sie ist warm."
    )
    assert [(part.text, part.lead) for part in quotable(text)] == [
        ("Dos euros.", "**¿Cuánto cuesta?**"),
        ("Los niños no pagan.", "**¿Cuánto cuesta?**"),
        ("Cierra a las cinco.", ""),
        ("每天两元。", "**要多少钱？**"),
        ("学生免费。", "**要多少钱？**"),
        ("Im Keller.", "1. **Wo ist sie?**"),
        ("2. Sie ist warm.", ""),
    ]


def test_a_heading_ends_what_a_question_explains() -> None:
    answer, sentence = quotable("Q: Is it open?\nA: Until noon.\n\n# Address\n\nIt is on the lake.")
    assert (answer.lead, sentence.lead) == ("Is it open?", "")


def test_a_question_that_somebody_asks_in_a_story_is_quoted() -> None:
    assert texts("The miller asked her, “Who let the goat in?” Nobody knew.") == [
        "The miller asked her, “Who let the goat in?”",
        "Nobody knew.",
    ]
    assert texts("Er rief: „Wer ist da?“ Dann schwieg er.")[0] == "Er rief: „Wer ist da?“"


def test_a_heading_keeps_its_number_its_second_sentence_and_no_address() -> None:
    parts = quotable('## 2.1. It is torn. [What now?](#id3 "Link") {#torn}\n\nBring it back.')
    assert [(part.text, part.heading) for part in parts] == [
        ("Bring it back.", "2.1. It is torn. What now?")
    ]


def test_fields_in_capitals_are_quoted() -> None:
    assert texts("# Minutes\n\nOrt: Alte Scheune\n\nLeitung: Ruth Thorn\n") == [
        "Ort: Alte Scheune",
        "Leitung: Ruth Thorn",
    ]


def test_titles_in_capitals_are_headings() -> None:
    (part,) = quotable(
        "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June\n\nEveryone is permitted to copy."
    )
    assert (part.text, part.heading) == (
        "Everyone is permitted to copy.",
        "GNU GENERAL PUBLIC LICENSE Version 3, 29 June",
    )


def test_indented_prose_is_quoted_and_indented_code_is_not() -> None:
    prose = (
        "It has parts:\n\n    a) The work must carry notices (with a date)\n    stating that you "
        "changed it.\n"
    )
    assert texts(prose) == [
        "It has parts:",
        "a) The work must carry notices (with a date) stating that you changed it.",
    ]
    assert texts("Write this:\n\n    if x == y:\n        return {x: foo(y)}\n") == ["Write this:"]


def test_rules_are_not_quoted() -> None:
    assert texts("It begins here.\n\n-----\n\n* * *\n\nIt ends there.") == [
        "It begins here.",
        "It ends there.",
    ]


def test_a_passage_that_begins_inside_a_sentence_loses_that_part() -> None:
    text = "and 18 others. The ship sailed."
    assert [part.text for part in quotable(text, begins_inside=True)] == ["The ship sailed."]
    assert texts(text) == ["and 18 others.", "The ship sailed."]


def test_addresses_of_links_are_no_words() -> None:
    (part,) = quotable("See [the manual](https://example.org/2014/07) first.")
    assert part.plain == "See the manual first."


def test_a_linked_footnote_ends_a_sentence() -> None:
    text = 'The [keel](/w/Keel "Keel") broke in 1901.[[4]](#note-4) It was mended.[[5]](#note-5) '
    assert [part.plain for part in quotable(f"{text}Nobody sailed.")] == [
        "The keel broke in 1901.",
        "It was mended.",
        "Nobody sailed.",
    ]


def test_a_table_of_contents_is_not_quoted() -> None:
    text = "- [1 Sails](#sails)\n  * [What colour?](#colour)\n- [The club](https://club.example)\n"
    assert texts(text) == ["- [The club](https://club.example)"]


def test_footnotes_are_not_quoted() -> None:
    text = (
        "It sank in 1901.\n\n## References[[edit](/edit)]\n\n"
        '1. **[↑](#ref-1)** ["The keel"](https://k.example). Retrieved 2013-06-10.\n'
        "2. ^ [a](#ref-2) Masts and sails.\n\nLast paragraph here."
    )
    assert texts(text) == ["It sank in 1901.", "Last paragraph here."]
    (part,) = quotable("It sank in 1901.", ("History[[edit](/w/index?a=b)]",))
    assert part.heading == "History"


def test_a_picture_above_a_table_names_no_column() -> None:
    text = '| [](/wiki/File:Boat.png) | |\n| --- | --- |\n| Length | [9 m](/wiki/Metre "Metre") |\n'
    assert texts(text) == ['Length: [9 m](/wiki/Metre "Metre")']


@given(st.text(alphabet="|- \n#ab.`\\?:1)", max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    assert all(part.text.strip() for part in quotable(text))


def test_provisions_head_all_their_paragraphs() -> None:
    parts = quotable(
        "Mooring rules\n\n§ 3\n\nBoats are tied at both ends.\n\nRopes are checked in spring.\n\n"
        "§ 4\n\nGuests\n\nGuests moor at pier two."
    )
    assert [(part.text, part.path) for part in parts] == [
        ("Boats are tied at both ends.", ("Mooring rules", "§ 3")),
        ("Ropes are checked in spring.", ("Mooring rules", "§ 3")),
        ("Guests moor at pier two.", ("Mooring rules", "§ 4 Guests")),
    ]


def test_a_heading_with_a_day_of_a_year_is_quoted_for_that_day() -> None:
    day, item, *_, letter_day, letter = quotable(
        "# Log\n\n## [2.0.1] - 2024-05-06\n\n### Fixed\n\n- Sails furl again.\n\n"
        "Hull, 9 May 1871\n\nDear Ann, the sails furl again.\n"
    )
    assert (day.text, day.is_heading, day.heading) == ("[2.0.1] - 2024-05-06", True, "Log")
    assert item.path == ("Log", "[2.0.1] - 2024-05-06", "Fixed")
    assert (letter_day.text, letter.heading) == ("Hull, 9 May 1871", "Hull, 9 May 1871")
    assert not any(part.is_heading for part in quotable("# Log of 2024\n\nIt is empty.\n"))


def test_a_line_in_bold_type_heads_a_part_of_its_section() -> None:
    parts = quotable(
        "Camp\n====\n\nStay\n----\n\n**Dogs**\n\nOn a lead.\n\n**Cats?**\n\nYes.\n\nIn."
    )
    assert [part.path for part in parts] == [
        ("Camp", "Stay", "Dogs"),
        ("Camp", "Stay", "Cats?"),
        ("Camp", "Stay", "Cats?"),
    ]


def test_a_message_of_a_chat_is_quoted_whole_with_its_time_and_speaker() -> None:
    text = (
        "[21:03] Ann: Who has the key?\n[21:04] Bo: It is behind the door. Take the\nsmall one.\n"
        "[21:05] Ann: Thanks. I lock up later.\n\n[21:09] Cy: it is raining\n\n[21:10] Bo: yes\n"
    )
    assert [(part.text, part.lead) for part in quotable(text)] == [
        (
            "[21:04] Bo: It is behind the door. Take the small one.",
            "[21:03] Ann: Who has the key?",
        ),
        ("[21:05] Ann: Thanks. I lock up later.", ""),
        ("[21:09] Cy: it is raining", ""),
        ("[21:10] Bo: yes", ""),
    ]


def test_a_number_behind_an_item_is_not_of_the_next() -> None:
    text = "- It has tabs. (#12)\n- It is new. 7\n1. It is fast.\n\nIt is lit. (#13)\n\nIt rings.\n"
    assert [part.text for part in quotable(text)] == [
        "- It has tabs.",
        "- It is new.",
        "1. It is fast.",
        "It is lit. (#13)",
        "It rings.",
    ]


def test_lines_in_chinese_are_joined_without_a_blank() -> None:
    text = "故乡\n\n我冒了严寒，回到相隔二千余里，别了二十余年的\n故乡去。参会人员有\n张三\n"
    assert [part.text for part in quotable(text)] == [
        "我冒了严寒，回到相隔二千余里，别了二十余年的故乡去。",
        "参会人员有 张三",
    ]
