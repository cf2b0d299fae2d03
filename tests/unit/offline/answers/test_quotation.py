"""Which parts of passages are quoted together, and how."""

import pytest

from offline.answers.quotable_sentences import quotable
from offline.answers.quotation import LONGEST_READ, candidates, quotation

STEPS = (
    "## How do I get a card?\n\nPlease do as follows:\n\n1. Fill in the long form at the "
    "desk.\n2. Show a passport.\n\n"
    "It costs nothing at all."
)


def quoted(question: str, text: str, *words: str) -> str:
    """The quotation for the sentences with these words, in this order."""
    result = candidates([("1", quotable(text))])
    return quotation(
        question, [next(each for each in result if word in each.part.text) for word in words]
    )


def test_steps_are_whole_and_in_order_with_what_announces_them() -> None:
    assert quoted("How do I get a card?", STEPS, "passport") == (
        "Please do as follows:\n1. Fill in the long form at the desk.\n2. Show a passport. [1]"
    )
    assert quoted("How do I get a card?", STEPS, "do as follows") == (
        "Please do as follows:\n1. Fill in the long form at the desk.\n2. Show a passport. [1]"
    )


def test_a_question_about_one_item_gets_that_item() -> None:
    text = (
        "These are served:\n\n- Bread with honey from the village.\n- Fish from the harbour of "
        "the town."
    )
    assert quoted("Where does the fish come from?", text, "Fish") == (
        "These are served:\n- Fish from the harbour of the town. [1]"
    )


def test_a_yes_or_no_comes_with_its_reason_and_a_short_field_alone() -> None:
    text = "## May I smoke there?\n\nNo. The curtains of the hall burn easily.\n\nWeight: 6 kg"
    assert quoted("May I smoke in the hall?", text, "curtains") == (
        "No. The curtains of the hall burn easily. [1]"
    )
    assert quoted("How heavy is it?", text, "6 kg") == "Weight: 6 kg [1]"


def test_a_sentence_that_refers_back_comes_with_the_one_before() -> None:
    text = (
        "The Grey Gull is a ship of the north.\n\nThe lamp was built by Ilse. It shines at night "
        "in winter."
    )
    assert quoted("When does the lamp shine?", text, "shines") == (
        "The lamp was built by Ilse. It shines at night in winter. [1]"
    )


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("- Do not capitalize titles of persons.", "For example, the master got approval."),
        ("Vorher zahlen Sie am Automaten.", "Dann öffnet sich die Schranke zum Hof."),
        ("Le jardin ferme à la nuit tombée.", "Dans ce cas, la clé est chez le gardien."),
        ("La pista se reserva por teléfono.", "Además, se paga con tarjeta en la entrada."),
        ("Залог возвращается в тот же день.", "Например, за дрель вернут тысячу рублей."),
        ("会员可以借五本书。", "例如，学生可以借三本小说。"),
    ],
)
def test_what_goes_on_comes_with_what_it_goes_on_from(before: str, sentence: str) -> None:
    text = f"{before} {sentence}"
    answer = quoted("?", text, sentence[:12])
    assert before in answer
    assert answer.index(before) < answer.index(sentence)


def test_an_item_does_not_come_with_the_item_before_it() -> None:
    text = "These are served:\n\n- Bread with honey.\n- This week fish from the harbour."
    assert "honey" not in quoted("Where does the fish come from?", text, "fish")


def test_the_first_choice_brings_the_sentence_after_it_and_no_other_does() -> None:
    text = (
        "The log is the backup of all. Stop and copy the folder.\n\nWolves howl in the hills. "
        "Bears sleep in caves."
    )
    assert quoted("What is the backup?", text, "backup", "Wolves") == (
        "The log is the backup of all. Stop and copy the folder. Wolves howl in the hills. [1]"
    )


def test_rows_stand_alone() -> None:
    text = (
        "| Ship | Master |\n|---|---|\n| Grey Gull of the North | Ruth |\n| White Gull of the "
        "South | Ivan |\n"
    )
    assert (
        quoted("Who is master of the Grey Gull?", text, "Grey")
        == "Ship: Grey Gull of the North; Master: Ruth [1]"
    )


def test_passages_keep_the_order_of_the_choice_and_overlaps_are_quoted_once() -> None:
    both = "The first ship is slow and old.\n\nThe second ship is fast and new."
    result = candidates(
        [
            ("1", quotable("The third ship is lost at sea.")),
            ("2", quotable(both)),
            ("", quotable(both)),
        ]
    )
    assert len(result) == 3
    third, first, second = result
    assert quotation("Which ship?", [second, third, first]) == (
        "The first ship is slow and old. The second ship is fast and new. [2]\n\nThe third "
        "ship is lost at sea. [1]"
    )


def test_a_passage_without_a_file_has_no_reference() -> None:
    (only,) = candidates([("", quotable("The third ship is lost at sea."))])
    assert quotation("Which ship?", [only]) == "The third ship is lost at sea."


def test_scraps_and_endless_sentences_are_no_candidates() -> None:
    assert candidates([("1", quotable("Yes, it is.\n\n" + "word " * 300))]) == []


def readings(text: str, word: str) -> list[str]:
    """What is compared with a question for the first part that has this word."""
    return next(
        each for each in candidates([("1", quotable(text))]) if word in each.part.text
    ).readings


def test_a_sentence_is_read_alone_below_its_heading_and_after_the_one_before() -> None:
    text = "## The harbour\n\nAda Marsh leads the harbour. She was a pilot for many years."
    before = "Ada Marsh leads the harbour."
    own = "She was a pilot for many years."
    assert readings(text, "pilot") == [own, f"The harbour. {own}", f"{before} {own}"]


def test_an_item_is_read_after_what_announces_its_list() -> None:
    announced = "Please do as follows: 2. Show a passport."
    assert announced in readings(STEPS, "passport")


def test_the_question_above_a_sentence_is_a_reading_of_it() -> None:
    assert readings(STEPS, "nothing")[3:] == ["How do I get a card?"]
    asked = "May I bring my dog?\n\nOnly guide dogs may come in."
    assert readings(f"## Rules\n\n{asked}", "guide")[3:] == ["May I bring my dog?"]


def test_what_comes_before_is_cut_and_never_the_sentence() -> None:
    own = "She was a pilot for many years."
    _, _, after = readings(f"{'A long and winding tale ' * 40}of the sea. {own}", "pilot")
    assert len(after) == LONGEST_READ
    assert after.endswith(f"of the sea. {own}")


def test_a_sentence_that_the_beginning_of_a_passage_cuts_is_left_out() -> None:
    whole = quotable("The PEP editors may reject a proposal. They are quite lenient about it.")
    cut = quotable("EP editors may reject a proposal. They are quite lenient about it.")
    texts = [candidate.part.text for candidate in candidates([("1", cut), ("1", whole)])]
    assert texts == ["They are quite lenient about it.", "The PEP editors may reject a proposal."]


def test_the_second_sentence_of_an_item_comes_with_the_first() -> None:
    parts = quotable("- **ATO** - Authority to Operate. It is a sign-off.\n- **Dev** - A coder.")
    answer = quotation("What is an ATO?", candidates([("1", parts)])[:1])
    assert answer == "- **ATO** - Authority to Operate.\nIt is a sign-off. [1]"


def test_what_several_documents_say_in_equal_words_is_cited_with_all_of_them() -> None:
    text = "The ferry sails at nine."
    passages = [
        ("1", f"{text} Dogs travel free."),
        ("2", text),
        ("2", f"Note.\n\n{text}"),
        ("3", "x"),
    ]
    result = candidates((reference, quotable(of)) for reference, of in passages)
    best = [candidate for candidate in result if candidate.part.text == text]
    assert quotation("When does the ferry sail?", best) == (
        "The ferry sails at nine. [1] [2] Dogs travel free. [1]"
    )


def test_a_row_of_a_table_stands_on_a_line_of_its_own() -> None:
    text = "| ship | tons |\n| --- | --- |\n| Elm Star | 12 |\n\nThe Elm Star sails to Grey Island."
    assert quoted("How heavy is the Elm Star?", text, "tons", "sails") == (
        "ship: Elm Star; tons: 12\nThe Elm Star sails to Grey Island. [1]"
    )


def test_a_field_comes_alone_and_two_stand_on_lines_of_their_own() -> None:
    text = "Received on: 3 May\nReceived by: Ann Mast\nPaid: yes\n"
    assert quoted("When was it received?", text, "3 May") == "Received on: 3 May [1]"
    assert quoted("Who received it?", text, "Ann", "3 May") == (
        "Received on: 3 May\nReceived by: Ann Mast [1]"
    )
