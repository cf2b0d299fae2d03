"""The benchmark of questions of several hops over sets of real text: what it asks, and what it says
of `auto`.
"""

from itertools import pairwise

from benchmarks.multihop_encyclopedia import encyclopedia
from benchmarks.multihop_sets import Answer, RealQuestion, shortfalls, summary, with_typing_errors

ASKED = RealQuestion("Who?", ("a", "b"), "2 hops")


def answer(*ranks: float) -> Answer:
    return Answer(ASKED, ranks, 0.0)


def test_a_slip_is_made_in_names_and_not_in_the_word_that_asks() -> None:
    question = with_typing_errors("Which harbour did Ada Marshall of Lowell Pictures build?")
    assert question != "Which harbour did Ada Marshall of Lowell Pictures build?"
    assert question.startswith("Which harbour did Ada ") and question.endswith(" build?")
    assert with_typing_errors("who built the harbour?") == "who built the harbour?"


def test_a_question_counts_as_found_with_all_its_passages_among_the_first_eight() -> None:
    assert summary([answer(0, 7)]) == (0.5, 0.5, 1.0)
    assert summary([answer(1, 8), answer(0, float("inf"))]) == (0.5, 0.5, 0.0)


def test_auto_falls_short_more_than_two_points_below_the_better_mode() -> None:
    good_answers, bad_answers = [answer(0, 1)] * 100, [*[answer(0, 1)] * 97, *[answer(8, 9)] * 3]
    assert shortfalls({"auto": good_answers, "walk": good_answers, "mix": bad_answers}) == []
    assert len(shortfalls({"auto": bad_answers, "walk": good_answers, "mix": bad_answers})) == 3
    assert shortfalls({"walk": good_answers}) == []


def test_a_fictional_encyclopedia_says_what_its_questions_need_and_is_the_same_for_a_seed() -> None:
    question_set = encyclopedia("clubs", 150, 3)
    assert question_set == encyclopedia("clubs", 150, 3) != encyclopedia("clubs", 150, 4)
    passages = question_set["passages"]
    chains = [question for question in question_set["questions"] if question["type"] == "3 hops"]
    assert len(question_set["questions"]) == 150 and len(chains) == 40
    for question in chains:
        needed_passages = [passages[number] for number in question["gold"]]
        assert needed_passages[0]["title"] in question["question"]
        for passage, following in pairwise(needed_passages):
            assert (
                following["title"] in passage["text"]
                and following["title"] not in question["question"]
            )
