"""The mock model of the benchmarks recognises every prompt of ours, and answers it in the form that
is asked for.
"""

import json
from typing import Any

import pytest

from benchmarks.yardstick.documents import Passage, dealt, questions
from benchmarks.yardstick.embedding import embed
from benchmarks.yardstick.prompts import Kind, Request, kind_of, passage, read
from benchmarks.yardstick.replies import reply
from knowledge.descriptions import Group
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.domain.prompt import continue_prompt, system_prompt, user_prompt
from services.merger.domain.prompt import summary_prompt
from services.query.context.prompt import answer_prompt, keywords_prompt
from services.query.question import Question
from tests.support import many_names

TEXT = many_names.document(1)


def request(*messages: tuple[str, str], json_mode: bool = False) -> Request:
    """A chat call as it comes over HTTP."""
    body: dict[str, Any] = {
        "messages": [{"role": role, "content": content} for role, content in messages]
    }
    return read({**body, "response_format": {"type": "json_object"}} if json_mode else body)


def extraction(config: ExtractionConfig, *messages: tuple[str, str]) -> Request:
    first = [("system", system_prompt(config)), ("user", user_prompt(config, TEXT, ["A heading"]))]
    return request(*first, *messages, json_mode=config.json)


@pytest.mark.parametrize("json_mode", [False, True])
def test_entities_come_in_two_rounds_without_repeats(json_mode: bool) -> None:
    config = ExtractionConfig(json=json_mode)
    first = extraction(config)
    assert kind_of(first) == "extract"
    assert passage(first) == TEXT
    answer = reply("extract", first)
    second = extraction(config, ("assistant", answer), ("user", continue_prompt(config)))
    assert kind_of(second) == "glean"
    names = entities(answer, json_mode)
    further_names = entities(reply("glean", second), json_mode)
    assert len(names) > 15
    assert further_names
    assert not names & further_names


def entities(answer: str, json_mode: bool) -> set[str]:
    if json_mode:
        return {row["name"] for row in json.loads(answer)["entities"]}
    rows = [row.split("<|#|>") for row in answer.splitlines()]
    assert rows[-1] == ["<|COMPLETE|>"]
    assert {(row[0], len(row)) for row in rows[:-1]} <= {("entity", 4), ("relation", 5)}
    return {row[1] for row in rows if row[0] == "entity"}


def test_keywords_are_those_of_the_question_alone() -> None:
    chat_request = request(
        ("user", keywords_prompt("How is Ada Marlow connected to lighthouses?")), json_mode=True
    )
    assert kind_of(chat_request) == "keywords"
    result = json.loads(reply("keywords", chat_request))
    assert result == {
        "high_level_keywords": ["connected", "lighthouses"],
        "low_level_keywords": ["Ada Marlow"],
    }


def test_a_summary_has_every_description() -> None:
    chat_request = request(
        (
            "user",
            summary_prompt(
                Group(key=("Ada",), texts=("She sails. She rows.", "She swims.")), "English", 400
            ),
        )
    )
    assert kind_of(chat_request) == "summary"
    assert reply("summary", chat_request) == '"Ada". She sails. She rows. She swims.'


def test_an_answer_quotes_the_context() -> None:
    prompt = answer_prompt(Question(query="Who sails?"), "Ada sails to Port Elm. Nobody sleeps.")
    chat_request = request(("system", prompt.system), ("user", prompt.query))
    kind: Kind = kind_of(chat_request)
    assert kind == "answer"
    assert "Ada sails to Port Elm." in reply(kind, chat_request)


def test_documents_go_on_with_new_names_and_questions_do_not_repeat() -> None:
    base = [Passage(f"Name {chr(65 + n)}ddd", f"Text of Xavier {n}.") for n in range(12)]
    result = [document for document, _ in zip(dealt(base), range(6), strict=False)]
    assert len({document.name for document in result}) == 6
    assert len({title for document in result for title in document.titles}) == 36
    question_list = questions(result, 100)
    assert len({question.text for question in question_list}) == 100
    with pytest.raises(SystemExit, match="more than 6 documents"):
        questions(result, 36 * 4 + 1)


def test_vectors_are_of_length_one_and_alike_where_words_are() -> None:
    first, alike, unlike = (
        embed(text) for text in ("Ada Marlow sails", "Marlow, Ada: sails", "copper prices fell")
    )
    assert float(first @ first) == pytest.approx(1.0, abs=1e-5)
    assert float(first @ alike) > 0.9
    assert float(first @ unlike) < 0.5
