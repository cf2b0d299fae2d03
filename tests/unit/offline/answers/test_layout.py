"""Which lines of a passage head which."""

from hypothesis import given
from hypothesis import strategies as st

from offline.answers.layout import Section, sections
from offline.answers.quotable_sentences import quotable


def keys(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(section.keys, " ".join(section.text.split())) for section in sections(text)]


def test_the_name_of_an_option_heads_the_lines_that_are_indented_below_it() -> None:
    text = """OPTIONS
       -q, --quiet
           Print nothing.

       timeout:n
           Wait n seconds.  The default is 5.

       Colour=
              The colour of the sail.

              It may be left out.

FILES
       /etc/sails
"""
    assert keys(text) == [
        (("OPTIONS", "-q, --quiet"), "Print nothing."),
        (("OPTIONS", "timeout:n"), "Wait n seconds. The default is 5."),
        (("OPTIONS", "Colour="), "The colour of the sail. It may be left out."),
        (("FILES",), "/etc/sails"),
    ]


def test_a_key_may_stand_in_the_first_line_of_its_text() -> None:
    text = "    sail    A cloth that\n            catches wind.\n\n    mast    It holds the sail."
    assert keys(text)[0] == (("sail",), "A cloth that catches wind.")


def test_a_short_line_right_above_its_sentences_heads_them() -> None:
    text = "1. Quiet\nFrom 22 to 6 nobody may sing on deck.\n\nNobody sang.\n"
    assert keys(text) == [
        (("1. Quiet",), "From 22 to 6 nobody may sing on deck."),
        ((), "Nobody sang."),
    ]
    assert keys("The mate said\nshe would never sing on deck.\n")[0][0] == ()


def test_a_section_of_numbered_paragraphs_is_headed_by_the_line_above_them() -> None:
    text = "§ 4 Ermäßigungen\n(1) 50 Prozent erhalten Kinder.\n(2) Gruppen erhalten 10 Prozent.\n"
    assert keys(text)[0][0] == ("§ 4 Ermäßigungen",)


def test_an_entry_of_a_dictionary_heads_its_paragraphs() -> None:
    text = "SAIL, n. A cloth.\n\nIt catches wind.\n\nMAST, n. A pole.\n"
    assert keys(text) == [
        (("SAIL, n.",), "A cloth. It catches wind."),
        (("MAST, n.",), "A pole."),
    ]


def test_pronunciation_and_part_of_speech_belong_to_the_headword() -> None:
    text = "sail\n /seil/, n.\n\n    A cloth that catches wind.\n"
    assert keys(text) == [(("sail /seil/, n.",), "A cloth that catches wind.")]


def test_a_term_of_markdown_heads_its_definition() -> None:
    assert keys("Sail\n: A cloth.\n\nMast\n: A pole.\n") == [
        (("Sail",), "A cloth."),
        (("Mast",), "A pole."),
    ]


def test_a_numbered_section_heads_its_indented_text() -> None:
    text = "2. Sails\n\n        They are of cloth.\n\n2.1. Colours\n\n        They are red.\n"
    assert keys(text) == [
        (("2. Sails",), "They are of cloth."),
        (("2.1. Colours",), "They are red."),
    ]


def test_a_question_that_is_marked_heads_all_its_answer() -> None:
    text = (
        "Q: May I sail? I am ten.\n   My brother is nine.\n\nA: Yes.\n\n   Bring a vest.\n\n"
        "Frage: Und im Winter?\nAntwort: Nein.\n"
    )
    first, second = sections(text)
    assert first.question == "May I sail? I am ten. My brother is nine."
    assert first.text.split() == ["Yes.", "Bring", "a", "vest."]
    assert (second.question, second.text) == ("Und im Winter?", "Nein.")


def test_marks_of_questions_and_answers_may_be_bold_or_end_in_a_dot() -> None:
    text = "**Q: Where is it?**\nA: Downstairs.\n\n**问：**几点开门？\n\n**答：**九点。\n\n"
    text += "Q. Is it warm?\nA. Yes.\n"
    assert [(section.question, section.text.strip()) for section in sections(text)] == [
        ("Where is it?", "Downstairs."),
        ("几点开门？", "九点。"),
        ("Is it warm?", "Yes."),
    ]


def test_an_answer_may_stand_right_below_its_question() -> None:
    assert sections("Q: Is it open on Sundays?\nYes, until noon.") == [
        Section("Yes, until noon.", (), "Is it open on Sundays?")
    ]


def test_a_field_heads_nothing() -> None:
    text = "Place: Old Barn\nThe meeting began late because of the snow."
    assert keys(text) == [((), " ".join(text.split()))]


def test_sentences_bullets_and_full_lines_are_no_keys() -> None:
    wrapped = (
        "The first line of this paragraph is less indented than the others, as in a\n"
        "    list of books, and it is as long as they are, so it heads nothing here."
    )
    for text in (
        "It rains.\n    We sail.",
        "- sails\n  and masts",
        "1. sails\n   and masts",
        wrapped,
    ):
        assert [section.keys for section in sections(text)] == [()]


def test_words_that_a_line_break_cut_are_whole() -> None:
    assert sections("The configu\u2010\n    ration is soft-\nware.") == [
        Section("The configuration is soft-\nware.")
    ]


@given(st.text(alphabet="ab:.-1 \n\t|=", max_size=200))
def test_no_letter_is_lost(text: str) -> None:
    read = "".join(
        "".join((*section.keys, section.question, section.text)) for section in sections(text)
    )
    assert set("ab") & set(text) <= set(read) | set("ab") - set("".join(text.split()))


def test_terms_one_below_the_other_head_their_definition_together() -> None:
    text = "keel\nbackbone\n: A long beam.\n\n  Of oak.\n\nmast\n: A pole.\n\nThe rest."
    assert keys(text) == [
        (("keel, backbone",), "A long beam. Of oak."),
        (("mast",), "A pole."),
        ((), "The rest."),
    ]


def test_a_key_is_named_without_the_address_of_its_link() -> None:
    assert keys("[keel](ships.html#keel)\n: A long beam.") == [(("keel",), "A long beam.")]


def test_names_of_settings_in_two_lines_head_what_they_share() -> None:
    names = ("SailColour=, SailHeight=, SailWidth=, SailsAltogether=,", "MastHeight=, MastWidth=")
    text = f"       {names[0]}\n       {names[1]}\n           Limit what is hoisted.\n"
    assert keys(text) == [((" ".join(names),), "Limit what is hoisted.")]


def test_the_rest_of_a_line_heads_nothing() -> None:
    text = "ly at sea. See\n           the chart.\n\n       Depth=\n           In metres.\n"
    parts = quotable(text, begins_inside=True)
    assert [(part.text, part.key) for part in parts] == [
        ("See the chart.", ""),
        ("In metres.", "Depth="),
    ]
    (part,) = quotable("Depth=\n           In metres.\n", begins_inside=True)
    assert part.key == "Depth="


def test_an_option_at_the_beginning_of_a_line_of_a_paragraph_heads_nothing() -> None:
    text = "  The name is lamp.png, or for\n  --format  jpeg lamp.jpg, and it is kept.\n"
    assert keys(text) == [((), " ".join(text.split()))]


def test_an_option_heads_the_text_in_its_line() -> None:
    text = "  -r        Turn the lamp back.\n\n  -q, --quiet  Ring no bell.\n\n  --help\n"
    assert keys(text)[:2] == [(("-r",), "Turn the lamp back."), (("-q, --quiet",), "Ring no bell.")]


def test_words_in_capitals_head_the_entries_of_a_dictionary() -> None:
    text = (
        "ARK. A boat, and a word of those who row it on rivers. Let us\n  take an ark.\n\n"
        "ARCH ROGUE, or UPRIGHT MAN. The chief of thieves.\n\n"
        "KNAR, signifies the same in all the towns of the northern\n  coast.\n\n"
        "WICK.--What burns.\n"
    )
    assert [(part.key, part.text) for part in quotable(text)] == [
        ("ARK", "A boat, and a word of those who row it on rivers."),
        ("ARK", "Let us take an ark."),
        ("ARCH ROGUE, or UPRIGHT MAN", "The chief of thieves."),
        (
            "ARCH ROGUE, or UPRIGHT MAN",
            "KNAR, signifies the same in all the towns of the northern coast.",
        ),
        ("WICK", "What burns."),
    ]


def test_chapters_and_single_notes_in_capitals_are_no_headwords() -> None:
    chapters = "CHAPTER I. The boat.\n\nCHAPTER II. The oar.\n\nCHAPTER III. The sea.\n"
    assert not any(part.key for part in quotable(chapters))
    assert not any(part.key for part in quotable("NOTE. Oil it in May.\n\nIt shines.\n"))
    notes = "WARNING. It burns.\n\nNOTE. Oil it in May.\n\nTIP. Use a cloth.\n"
    assert not any(part.key for part in quotable(notes))
    long_lines = "A" * 50_000 + "\n\n" + "ARK " * 20_000
    assert [section.keys for section in sections(long_lines)] == [()]


def test_the_first_line_of_a_hanging_paragraph_heads_nothing() -> None:
    text = "An estate that is held by a man\n  during the life of his wife.\n\nA boat.\n"
    assert [(part.key, part.text) for part in quotable(text)] == [
        ("", "An estate that is held by a man during the life of his wife."),
        ("", "A boat."),
    ]
    assert quotable("tls = no | may | must | verify\n   verify also checks the name.\n")[0].key
