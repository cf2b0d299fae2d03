"""Conversations: the prefix of a message, what is kept of what was said before, the files below an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.api.compat.conversation import (
    MODES,
    Wish,
    cited,
    is_task,
    joined,
    kept,
    listed,
    parted,
    wish,
)
from services.query.api.compat.openai_model_names import Model, model, models, offered
from services.query.api.questions.models import LONGEST_TURN, MOST_TURNS
from services.query.question import Turn

TWO = {"curie.txt": "1", "baker.txt": "2"}
SEVEN = {f"{n}.txt": str(n) for n in range(1, 8)}
turns = st.builds(Turn, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=40))


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Who?", Wish("Who?")),
        ("/local Who?", Wish("Who?", "local")),
        ("/global Who?", Wish("Who?", "global")),
        ("/naive Who?", Wish("Who?", "naive")),
        ("/hybrid Who?", Wish("Who?", "hybrid")),
        ("/mix Who?", Wish("Who?", "mix")),
        ("/bypass Who?", Wish("Who?", "bypass")),
        ("/walk Who?", Wish("Who?", "walk")),
        ("/auto Who?", Wish("Who?", "auto")),
        ("/context Who?", Wish("Who?", "mix", context=True)),
        ("/localcontext Who?", Wish("Who?", "local", context=True)),
        ("/globalcontext Who?", Wish("Who?", "global", context=True)),
        ("/hybridcontext Who?", Wish("Who?", "hybrid", context=True)),
        ("/naivecontext Who?", Wish("Who?", "naive", context=True)),
        ("/mixcontext Who?", Wish("Who?", "mix", context=True)),
        ("/local[use a table] Who?", Wish("Who?", "local", instructions="use a table")),
        ("/mix[use a table]Who?", Wish("Who?", "mix", instructions="use a table")),
        ("/context[x] Who?", Wish("Who?", "mix", context=True, instructions="x")),
        ("/[use a table] Who?", Wish("Who?", "mix", instructions="use a table")),
        ("/[one\nline] Who?", Wish("Who?", "mix", instructions="one\nline")),
        ("/local[] Who?", Wish("Who?", "local")),
        ("/local   Who?", Wish("Who?", "local")),
        ("/local\nWho?", Wish("Who?", "local")),
        ("/local", Wish("", "local")),
        ("/local /global Who?", Wish("/global Who?", "local")),
        ("/bypasscontext Who?", Wish("/bypasscontext Who?")),
        ("/locale is set", Wish("/locale is set")),
        ("/contextual Who?", Wish("/contextual Who?")),
        ("/Local Who?", Wish("/Local Who?")),
        (" /local Who?", Wish(" /local Who?")),
        ("/local[open Who?", Wish("/local[open Who?")),
        ("/fast[x] Who?", Wish("/fast[x] Who?")),
        ("/ Who?", Wish("/ Who?")),
        ("/", Wish("/")),
        ("", Wish("")),
        ("What does /local do?", Wish("What does /local do?")),
    ],
)
def test_a_prefix_says_how_to_answer_and_everything_else_is_the_question(message: str, found: Wish) -> None:
    assert wish(message) == found


@given(
    st.sampled_from([*MODES]),
    st.booleans(),
    st.none() | st.text(st.characters(exclude_characters="]"), max_size=20),
    st.text(max_size=40).filter(lambda text: text == text.lstrip()),
)
def test_every_prefix_is_read_back(mode: str, context: bool, instructions: str | None, query: str) -> None:
    context = context and mode != "bypass"
    bracket = "" if instructions is None else f"[{instructions}]"
    found = wish(f"/{mode}{'context' if context else ''}{bracket} {query}")
    if not query.startswith("[") or bracket:
        assert found == Wish(query, MODES[mode], context, (instructions or "").strip())


@given(st.text(max_size=60))
def test_nothing_of_a_question_is_lost(message: str) -> None:
    found = wish(message)
    assert message.endswith(found.query)
    assert found.query == message or message.startswith("/")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("\n<chat_history>\nUSER: Who?", True),
        ("<chat_history>\nUSER: Who?", True),
        ("### Task:\nA title.\n### Chat History:\n<chat_history>\nUSER: Who?\n</chat_history>", True),
        ("What does <chat_history>\nUSER: mean?", False),
        ("<chat_history>\nASSISTANT: Hello", False),
        ("Who?", False),
    ],
)
def test_tasks_of_open_webui_are_told_from_questions(message: str, expected: bool) -> None:
    assert is_task(message) is expected


def test_what_the_system_says_first_is_instructions() -> None:
    system, user, late = Turn("system", "Be brief."), Turn("user", "Who?"), Turn("system", "Now long.")
    assert parted([system, Turn("system", " "), system, user, late]) == ("Be brief.\n\nBe brief.", [user, late])
    assert parted([user]) == ("", [user])
    assert parted([]) == ("", [])
    assert joined(["", "a", "b"]) == "a\n\nb"


def test_the_newest_turns_are_kept_and_none_is_left_out_between_them() -> None:
    said = [Turn("user", "a" * 10), Turn("assistant", "b" * 10), Turn("user", "c")]
    assert kept(said, 100) == tuple(said)
    assert kept(said, 20) == tuple(said[1:])
    assert kept(said, 5) == (said[2],)
    assert kept(said, 0) == kept([], 100) == ()
    long = [Turn("user", "a"), Turn("user", "x" * (LONGEST_TURN + 1)), Turn("user", "c")]
    assert kept(long, 10**9) == (long[2],)
    assert len(kept([Turn("user", "a")] * 1000, 10**9)) == MOST_TURNS


@given(st.lists(turns, max_size=12), st.integers(-5, 200))
def test_what_is_kept_fits_and_is_the_end_of_what_was_said(said: list[Turn], room: int) -> None:
    found = kept(said, room)
    assert sum(len(turn.content) for turn in found) <= max(room, 0)
    with_text = [turn for turn in said if turn.content]
    assert list(found) == with_text[len(with_text) - len(found) :]


@pytest.mark.parametrize(
    ("text", "references", "below"),
    [
        ("Radium [1].", TWO, "\n\n### References\n\n- [1] curie.txt\n"),
        ("Both [1, 2].", TWO, "\n\n### References\n\n- [1] curie.txt\n- [2] baker.txt\n"),
        ("Radium.", TWO, "\n\n### References\n\n- [1] curie.txt\n- [2] baker.txt\n"),
        ("Radium [9].", {"a\n b.txt": "1"}, "\n\n### References\n\n- [1] a b.txt\n"),
        ("Radium.", SEVEN, "\n\n### References\n\n" + "".join(f"- [{n}] {n}.txt\n" for n in range(1, 6))),
        ("All [1-7].", SEVEN, "\n\n### References\n\n" + "".join(f"- [{n}] {n}.txt\n" for n in range(1, 8))),
        ("Radium.", {}, ""),
    ],
)
def test_the_files_that_are_cited_stand_below_an_answer(text: str, references: dict[str, str], below: str) -> None:
    assert listed(text, references) == below


def test_what_stands_in_brackets_is_a_citation_as_it_is_in_answers() -> None:
    assert cited("a [1] b [^2], [3;4 5] and [7–9]", "123456789") == {*"12345789"}
    assert cited("in [1898], [x1], [] and 6", "12345689") == frozenset()
    assert cited("[1-999] " * 10_000, "12") == {"1", "2"}


@given(st.text(max_size=60), st.dictionaries(st.text(min_size=1, max_size=9), st.sampled_from([*"123"]), max_size=3))
def test_a_list_that_we_made_is_taken_out_of_what_was_said_before(text: str, references: dict[str, str]) -> None:
    below = listed(text, references)
    found = kept([Turn("assistant", text + below)], 10**6)
    assert found == kept([Turn("assistant", text)], 10**6)
    mine = Turn("user", text + below)
    assert kept([mine], 10**6) == ((mine,) if mine.content else ())


@pytest.mark.parametrize(
    ("id", "found"),
    [
        ("lightstream", Model("mix")),
        ("lightstream:walk", Model("walk")),
        ("lightstream:walk@team", Model("walk", "team")),
        ("lightstream@team", Model("mix", "team")),
        ("lightstream@a@b", Model("mix", "a@b")),
        ("lightstream:", None),
        ("lightstream@", None),
        ("lightstream:fast", None),
        ("Lightstream", None),
        ("lightstream:mix:walk", None),
        ("lightrag:latest", None),
        ("", None),
    ],
)
def test_the_name_of_a_model_says_mode_and_workspace(id: str, found: Model | None) -> None:
    assert model(id) == found


def test_every_model_that_is_offered_is_known_by_its_name() -> None:
    found = models(["", "a", "b.c"])
    assert len(found) == 3 * len(MODES)
    assert [model(one.id) for one in found] == found


@pytest.mark.parametrize(
    ("bound", "usual", "workspaces"),
    [
        ({"*"}, "default", [""]),
        ({"a"}, "a", [""]),
        ({"a", "b"}, "a", ["", "a", "b"]),
        ({"a", "b"}, None, ["a", "b"]),
        ({"*", "a"}, "default", ["", "a"]),
    ],
)
def test_models_are_offered_for_the_workspaces_of_the_credentials(
    bound: set[str], usual: str | None, workspaces: list[str]
) -> None:
    found = offered(frozenset(bound), usual)
    assert found == models(workspaces)
