"""Reasoning that a model writes into its answer is told from the answer's text."""

import time

import pytest

from runtime.text.reasoning import ReasoningFilter, split_reasoning
from runtime.text.reasoning_marks import may_hold_reasoning

D = "<|#|>"
DELIMITED_CHANNELS = (
    "<|start|>assistant<|channel|>analysis<|message|>d<|end|><|start|>assistant"
    "<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}<|call|>"
    "<|start|>assistant<|channel|>final<|message|>Ada leads.<|return|>"
)

REASONED = [
    ("<think>SECRET</think>{}", "{}"),
    ("\n <THINK>SECRET\nb</THINK>\n{}", "{}"),
    ("<think>SECRET, cut off", ""),
    ("SECRET, the opening tag is missing\n</think>\n{}", "{}"),
    ("[THINK]SECRET[/THINK]Ada leads.", "Ada leads."),
    ("◁think▷SECRET◁/think▷Ada leads.", "Ada leads."),
    ("<seed:think>SECRET</seed:think>Ada leads.", "Ada leads."),
    ("<thinking mode='a'>SECRET</thinking>\nAda leads.", "Ada leads."),
    ("<thought>SECRET</thought>Ada leads.", "Ada leads."),
    ("<reasoning>SECRET</reasoning>Ada leads.", "Ada leads."),
    ("<scratchpad>SECRET</scratchpad>Ada leads.", "Ada leads."),
    (
        "<|begin_of_thought|>SECRET<|end_of_thought|><|begin_of_solution|>Ada.<|end_of_solution|>",
        "Ada.",
    ),
    ("<|START_THINKING|>SECRET<|END_THINKING|><|START_RESPONSE|>Ada.<|END_RESPONSE|>", "Ada."),
    ("<|channel>thought\nSECRET<channel|>Ada leads.", "Ada leads."),
    ("<unused94>thought\nSECRET<unused95>Ada leads.", "Ada leads."),
    ("<think>SECRET</think><answer>Ada leads.</answer>", "Ada leads."),
    ("Ada leads. <think>SECRET hmm</think> Bert follows.", "Ada leads. Bert follows."),
    ("Ada is <think>SECRET? no</think>led", "Ada is led"),
    ("Ada leads.\n\n<think>SECRET, unclosed", "Ada leads."),
    ("Okay, SECRET</think>Ada leads.", "Ada leads."),
    ("Okay, SECRET. </think> Ada leads.", "Ada leads."),
    ("<think>SECRET</think>Ada leads.</think>", "Ada leads."),
    ("<think>a\n<think>\nb\n</think>\nSECRET\n</think>Ada leads.", "Ada leads."),
    ("<think>\n<think>\nSECRET</think>Ada leads.", "Ada leads."),
    ("<think>\n<think>a</think>\nSECRET\n</think>\nAda leads.", "Ada leads."),
    ("<think>say\n<think>\nSECRET</think>Ada leads.", "Ada leads."),
    ("<think>SECRET: I close with `</think>` later</think>Ada leads.", "Ada leads."),
    (
        "<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Ada.",
        "Ada.",
    ),
    ("SECRET<|end|><|start|>assistant<|channel|>final<|message|>Ada leads.", "Ada leads."),
    (DELIMITED_CHANNELS, "Ada leads."),
    ("<|channel|>final<|message|>Ada leads.", "Ada leads."),
    ("<|channel|>analysis<|message|>SECRET only", ""),
    ("analysisWe need SECRET.assistantfinalAda leads.", "Ada leads."),
    ("Here is my thought process: SECRET. Here is my response: Ada leads.", "Ada leads."),
]

SPOKEN_OF = [
    "no thoughts",
    "a < b and c [1] `x` ``y`` [link](u) ~~~ [THINKING about",
    "The tag `<think>` opens it and `</think>` closes it.",
    "Write:\n```\n<think>\nwhat\n</think>\n```\nand then the answer.",
    "The tags <think> and </think> mark it.",
    "It writes <think>…</think> first.",
    '"<think>" and "</think>" are tags',
    '{"entities": [{"name": "<think>", "description": "Opens. The \\"</think>\\" tag closes."}]}',
    "Models emit <think> before they answer. Some do not.",
    (
        f"entity{D}<think>{D}Concept{D}The <think> tag opens.\nentity{D}Ada{D}Person{D}She ends "
        "with </think>\nrelation"
    ),
    "An answer. <answer>x</answer>",
    "analysis of the harbour",
    "Here is my thought process: it has no other part.",
    "It begins with <|channel|> and a name.",
    "The stream ends with </think>",
]


@pytest.mark.parametrize(("answer", "text"), REASONED)
def test_reasoning_is_no_part_of_the_text(answer: str, text: str) -> None:
    parts = split_reasoning(answer)
    assert parts.text.strip() == text
    assert "SECRET" in parts.reasoning or "SECRET" not in answer


@pytest.mark.parametrize("answer", SPOKEN_OF)
def test_a_tag_that_an_answer_speaks_of_stays(answer: str) -> None:
    assert split_reasoning(answer) == (answer, "", False)


@pytest.mark.parametrize("answer", [*SPOKEN_OF, *(answer for answer, _ in REASONED)])
@pytest.mark.parametrize("holds_text", [True, False])
def test_pieces_give_the_same_however_the_answer_is_torn(answer: str, holds_text: bool) -> None:
    at_once = split_reasoning(answer)
    for size in range(1, 14):
        parts = ReasoningFilter(holds_text=holds_text)
        pieces = [parts.feed(answer[start : start + size]) for start in range(0, len(answer), size)]
        pieces.append(parts.end())
        text = ""
        for piece in pieces:
            text = piece.text if piece.lacks_opening else text + piece.text
        assert text == at_once.text
        assert any(piece.lacks_opening for piece in pieces) == at_once.lacks_opening


def test_text_without_its_opening_tag_is_taken_back() -> None:
    parts = ReasoningFilter()
    assert parts.feed("Okay, the user wants it.\n").text
    piece = parts.feed("</think>\n\nAda leads.")
    assert piece == ("Ada leads.", "", True)
    holding = ReasoningFilter(holds_text=True)
    assert holding.feed("Okay, the user wants it.\n") == ("", "", False)
    assert holding.feed("</think>\n\nAda leads.").text == "Ada leads."


def test_a_thought_that_is_cut_within_a_sentence_is_no_text() -> None:
    answer = "Ada leads. <think>SECRET and so"
    assert split_reasoning(answer, truncated=True).text == "Ada leads. "
    assert split_reasoning(answer).text == answer


def test_reasoning_that_the_provider_gives_apart_leaves_the_text_as_it_is() -> None:
    parts = ReasoningFilter()
    parts.note_reasoning()
    assert parts.feed("It is closed.\n</think>\nAda").lacks_opening is False


UNITS = [
    "<",
    "<think>",
    "</think>",
    "`",
    "\n<",
    "[",
    "<|channel|>",
    "a <think> ",
    "<think a",
    "<|start|>",
    "~~~\n",
    "<|channel|>x<|message|>",
    f"x <think> {D} </think>",
    "<think>\n<think>\n",
    " \n",
    "◁",
    "analysis",
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    def seconds(count: int) -> float:
        text = unit * count
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            parts = ReasoningFilter()
            for start in range(0, len(text), 64):
                parts.feed(text[start : start + 64])
            parts.end()
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(16_000) < 12 * seconds(4_000) + 0.02


@pytest.mark.parametrize(("answer", "text"), REASONED)
def test_every_answer_with_reasoning_is_read_for_it(answer: str, text: str) -> None:
    assert may_hold_reasoning(answer)
    rows = f"entity{D}Ada{D}person{D}Ada leads.\n<|COMPLETE|>"
    assert not may_hold_reasoning(rows)
    assert split_reasoning(rows) == (rows, "", False)
