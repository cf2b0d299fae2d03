"""Conversations: the prefix of a message, what is kept of what was said before, the files below an
answer.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.compat.conversation import (
    MODES,
    ParsedMessage,
    is_task,
    join_instructions,
    parse_message,
    recent_turns,
    reference_section,
    split_instructions,
)
from services.gateway.compat.openai_model_names import (
    Model,
    available_models,
    models_of,
    parse_model,
)
from services.gateway.questions.models import MAX_TURN_LENGTH, MAX_TURNS
from services.query.answering.citations import cited_ids
from services.query.question import Turn
from services.query.retrieval.results import RetrievalResult

TWO = {"curie.txt": "1", "baker.txt": "2"}
SEVEN = {f"{n}.txt": str(n) for n in range(1, 8)}
turns = st.builds(Turn, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=40))


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Who?", ParsedMessage("Who?")),
        ("/local Who?", ParsedMessage("Who?", "local")),
        ("/global Who?", ParsedMessage("Who?", "global")),
        ("/naive Who?", ParsedMessage("Who?", "naive")),
        ("/hybrid Who?", ParsedMessage("Who?", "hybrid")),
        ("/mix Who?", ParsedMessage("Who?", "mix")),
        ("/bypass Who?", ParsedMessage("Who?", "bypass")),
        ("/walk Who?", ParsedMessage("Who?", "walk")),
        ("/auto Who?", ParsedMessage("Who?", "auto")),
        ("/context Who?", ParsedMessage("Who?", context=True)),
        ("/localcontext Who?", ParsedMessage("Who?", "local", context=True)),
        ("/globalcontext Who?", ParsedMessage("Who?", "global", context=True)),
        ("/hybridcontext Who?", ParsedMessage("Who?", "hybrid", context=True)),
        ("/naivecontext Who?", ParsedMessage("Who?", "naive", context=True)),
        ("/mixcontext Who?", ParsedMessage("Who?", "mix", context=True)),
        ("/local[use a table] Who?", ParsedMessage("Who?", "local", instructions="use a table")),
        ("/mix[use a table]Who?", ParsedMessage("Who?", "mix", instructions="use a table")),
        ("/context[x] Who?", ParsedMessage("Who?", context=True, instructions="x")),
        ("/[use a table] Who?", ParsedMessage("Who?", instructions="use a table")),
        ("/[one\nline] Who?", ParsedMessage("Who?", instructions="one\nline")),
        ("/local[] Who?", ParsedMessage("Who?", "local")),
        ("/local   Who?", ParsedMessage("Who?", "local")),
        ("/local\nWho?", ParsedMessage("Who?", "local")),
        ("/local", ParsedMessage("", "local")),
        ("/local /global Who?", ParsedMessage("/global Who?", "local")),
        ("/bypasscontext Who?", ParsedMessage("/bypasscontext Who?")),
        ("/locale is set", ParsedMessage("/locale is set")),
        ("/contextual Who?", ParsedMessage("/contextual Who?")),
        ("/Local Who?", ParsedMessage("/Local Who?")),
        (" /local Who?", ParsedMessage(" /local Who?")),
        ("/local[open Who?", ParsedMessage("/local[open Who?")),
        ("/fast[x] Who?", ParsedMessage("/fast[x] Who?")),
        ("/ Who?", ParsedMessage("/ Who?")),
        ("/", ParsedMessage("/")),
        ("", ParsedMessage("")),
        ("What does /local do?", ParsedMessage("What does /local do?")),
    ],
)
def test_a_prefix_says_how_to_answer_and_everything_else_is_the_question(
    message: str, parts: ParsedMessage
) -> None:
    assert parse_message(message) == parts


@given(
    st.sampled_from([*MODES]),
    st.booleans(),
    st.none() | st.text(st.characters(exclude_characters="]"), max_size=20),
    st.text(max_size=40).filter(lambda text: text == text.lstrip()),
)
def test_every_prefix_is_read_back(
    mode: str, context: bool, instructions: str | None, query: str
) -> None:
    context = context and mode != "bypass"
    bracket = "" if instructions is None else f"[{instructions}]"
    result = parse_message(f"/{mode}{'context' if context else ''}{bracket} {query}")
    if not query.startswith("[") or bracket:
        assert result == ParsedMessage(query, MODES[mode], context, (instructions or "").strip())


@given(st.text(max_size=60))
def test_nothing_of_a_question_is_lost(message: str) -> None:
    result = parse_message(message)
    assert message.endswith(result.query)
    assert result.query == message or message.startswith("/")


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("\n<chat_history>\nUSER: Who?", True),
        ("<chat_history>\nUSER: Who?", True),
        (
            "### Task:\nA title.\n### Chat History:\n<chat_history>\nUSER: Who?\n</chat_history>",
            True,
        ),
        ("What does <chat_history>\nUSER: mean?", False),
        ("<chat_history>\nASSISTANT: Hello", False),
        ("Who?", False),
    ],
)
def test_tasks_of_open_webui_are_told_from_questions(message: str, task: bool) -> None:
    assert is_task(message) is task


def test_what_the_system_says_first_is_instructions() -> None:
    system = Turn("system", "Be brief.")
    user = Turn("user", "Who?")
    later = Turn("system", "Now long.")
    assert split_instructions([system, Turn("system", " "), system, user, later]) == (
        "Be brief.\n\nBe brief.",
        [user, later],
    )
    assert split_instructions([user]) == ("", [user])
    assert split_instructions([]) == ("", [])
    assert join_instructions(["", "a", "b"]) == "a\n\nb"


def test_the_newest_turns_are_kept_and_none_is_left_out_between_them() -> None:
    conversation = [Turn("user", "a" * 10), Turn("assistant", "b" * 10), Turn("user", "c")]
    assert recent_turns(conversation, 100) == tuple(conversation)
    assert recent_turns(conversation, 20) == tuple(conversation[1:])
    assert recent_turns(conversation, 5) == (conversation[2],)
    assert recent_turns(conversation, 0) == recent_turns([], 100) == ()
    with_long_turn = [
        Turn("user", "a"),
        Turn("user", "x" * (MAX_TURN_LENGTH + 1)),
        Turn("user", "c"),
    ]
    assert recent_turns(with_long_turn, 10**9) == (with_long_turn[2],)
    assert len(recent_turns([Turn("user", "a")] * 1000, 10**9)) == MAX_TURNS


@given(st.lists(turns, max_size=12), st.integers(-5, 200))
def test_what_is_kept_fits_and_is_the_end_of_what_was_said(
    conversation: list[Turn], room: int
) -> None:
    result = recent_turns(conversation, room)
    assert sum(len(turn.content) for turn in result) <= max(room, 0)
    with_text = [turn for turn in conversation if turn.content]
    assert list(result) == with_text[len(with_text) - len(result) :]


@pytest.mark.parametrize(
    ("text", "references", "below"),
    [
        ("Radium [1].", TWO, "\n\n### References\n\n- [1] curie.txt\n"),
        ("Both [1, 2].", TWO, "\n\n### References\n\n- [1] curie.txt\n- [2] baker.txt\n"),
        ("Radium.", TWO, "\n\n### References\n\n- [1] curie.txt\n- [2] baker.txt\n"),
        ("Radium [9].", {"a\n b.txt": "1"}, "\n\n### References\n\n- [1] a b.txt\n"),
        (
            "Radium.",
            SEVEN,
            "\n\n### References\n\n" + "".join(f"- [{n}] {n}.txt\n" for n in range(1, 6)),
        ),
        (
            "All [1-7].",
            SEVEN,
            "\n\n### References\n\n" + "".join(f"- [{n}] {n}.txt\n" for n in range(1, 8)),
        ),
        ("Radium.", {}, ""),
    ],
)
def test_the_files_that_are_cited_stand_below_an_answer(
    text: str, references: dict[str, str], below: str
) -> None:
    assert reference_section(text, RetrievalResult(references=references)) == below


def test_what_stands_in_brackets_is_a_citation_as_it_is_in_answers() -> None:
    assert cited_ids("a [1] b [^2], [3;4 5] and [7–9]", "123456789") == {*"12345789"}
    assert cited_ids("in [1898], [x1], [] and 6", "12345689") == frozenset()
    assert cited_ids("[1-999] " * 10_000, "12") == {"1", "2"}


@given(
    st.text(max_size=60),
    st.dictionaries(st.text(min_size=1, max_size=9), st.sampled_from([*"123"]), max_size=3),
)
def test_a_list_that_we_made_is_taken_out_of_what_was_said_before(
    text: str, references: dict[str, str]
) -> None:
    below = reference_section(text, RetrievalResult(references=references))
    result = recent_turns([Turn("assistant", text + below)], 10**6)
    assert result == recent_turns([Turn("assistant", text)], 10**6)
    mine = Turn("user", text + below)
    assert recent_turns([mine], 10**6) == ((mine,) if mine.content else ())


@pytest.mark.parametrize(
    ("id", "model"),
    [
        ("lightstream", Model(None)),
        ("lightstream:mix", Model("mix")),
        ("lightstream:walk", Model("walk")),
        ("lightstream:walk@team", Model("walk", "team")),
        ("lightstream@team", Model(None, "team")),
        ("lightstream@a@b", Model(None, "a@b")),
        ("lightstream:", None),
        ("lightstream@", None),
        ("lightstream:fast", None),
        ("Lightstream", None),
        ("lightstream:mix:walk", None),
        ("lightrag:latest", None),
        ("", None),
    ],
)
def test_the_name_of_a_model_says_mode_and_workspace(id: str, model: Model | None) -> None:
    assert parse_model(id) == model


def test_every_model_that_is_offered_is_known_by_its_name() -> None:
    result = models_of(["", "a", "b.c"])
    assert len(result) == 3 * len(MODES)
    assert [parse_model(model.id) for model in result] == result


@pytest.mark.parametrize(
    ("bindings", "default", "workspaces"),
    [
        ({"*"}, "default", [""]),
        ({"a"}, "a", [""]),
        ({"a", "b"}, "a", ["", "a", "b"]),
        ({"a", "b"}, None, ["a", "b"]),
        ({"*", "a"}, "default", ["", "a"]),
    ],
)
def test_models_are_offered_for_the_workspaces_of_the_credentials(
    bindings: set[str], default: str | None, workspaces: list[str]
) -> None:
    result = available_models(frozenset(bindings), default)
    assert result == models_of(workspaces)
