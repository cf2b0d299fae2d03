"""Questions whose language model misbehaves, each row of docs/providers.md over every door that
answers questions.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support.misbehaving_provider import MisbehavingProvider
from tests.support.misbehaving_provider.good_answers import ANSWER
from tests.support.misbehaving_provider.messages import SECRET
from tests.support.misbehaving_provider.refusals import sentence
from tests.support.misbehaving_provider.server import KEY
from tests.support.provider_page import Case, cases
from tests.support.stack import Stack

WORKSPACE = "questions"
OTHERS = "others"
REFUSED = cases("A text that is refused")
ODD = cases("An answer in an odd shape")
CUT = cases("An answer that is not whole")
STREAMS = cases("A stream that breaks off")
TEXT = "Ada Marlow leads the harbour of Port Elm. Hector Vane keeps its light."


@pytest.fixture(scope="module", autouse=True)
def harbour(stack: Stack) -> None:
    """A document in two workspaces."""
    for workspace in (WORKSPACE, OTHERS):
        stack.add({"harbour.md": TEXT}, workspace)
        assert stack.settled(1, workspace)["processed"] == 1


def ask(
    stack: Stack, marker: str = "", workspace: str = WORKSPACE, number: int = 0
) -> httpx.Response:
    """Ask /query; another number makes it another question."""
    question = f"Who leads the harbour of Port Elm, question {number}? {marker}"
    with stack.client(workspace) as client:
        return client.post("/query", json={"query": question, "mode": "naive"})


def streamed(stack: Stack, marker: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the text and all lines of /query/stream."""
    body = {"query": f"Who leads the streams of Port Elm? {marker}", "mode": "naive"}
    with stack.client(WORKSPACE) as client:
        answer = client.post("/query/stream", json=body)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    text = ""
    for line in lines:
        text = ("" if line.get("reset") else text) + line.get("response", "")
    return text, lines


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_a_refused_question_is_an_error_for_its_asker_alone(case: Case, stack: Stack) -> None:
    answer = ask(stack, case.marker)
    assert answer.status_code >= 400, answer.text
    assert sentence(case.marker)[:60] in answer.json()["detail"], answer.text
    assert ask(stack, "", OTHERS, hash(case.marker)).status_code == 200


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "path", ["/query/stream", "/v1/chat/completions", "/api/chat", "/api/generate"]
)
@pytest.mark.parametrize("marker", ["ZZMODERATION", "ZZERROR200"])
def test_every_route_says_what_the_provider_says(
    marker: str, path: str, is_streamed: bool, stack: Stack
) -> None:
    question = f"Who leads the quay of Port Elm? {marker}"
    messages = [{"role": "user", "content": question}]
    bodies = {
        "/query/stream": {"query": question, "mode": "naive"},
        "/v1/chat/completions": {"model": "lightstream:naive", "messages": messages},
        "/api/chat": {"model": "lightrag:latest", "messages": messages},
        "/api/generate": {"model": "lightrag:latest", "prompt": question},
    }
    with stack.client(WORKSPACE) as client:
        answer = client.post(path, json={**bodies[path], "stream": is_streamed})
    assert sentence(marker)[:60] in answer.text
    assert KEY not in answer.text and "127.0.0.1" not in answer.text


def test_a_workspace_of_refused_questions_stops_no_other(stack: Stack) -> None:
    def refused(number: int) -> int:
        return ask(stack, "ZZMODERATION", number=number).status_code

    def answered(number: int) -> int:
        return ask(stack, "", OTHERS, 1000 + number).status_code

    with ThreadPoolExecutor(4) as threads:
        bad = threads.map(refused, range(21))
        good = threads.map(answered, range(21))
        assert set(good) == {200}
        assert all(status >= 400 for status in bad)
    stack.add({"late.md": "Celia Finch makes ropes."}, OTHERS)
    assert stack.settled(2, OTHERS)["processed"] == 2


@pytest.mark.parametrize("case", ODD, ids=str)
def test_an_odd_answer_is_shown_without_its_reasoning(case: Case, stack: Stack) -> None:
    for _ in range(2):  # the second time from the cache
        answer = ask(stack, case.marker)
        assert answer.status_code == 200, answer.text
        assert answer.json()["response"].strip().startswith(ANSWER[:40])
        assert SECRET not in answer.text and "<|" not in answer.text
    text, lines = streamed(stack, case.marker)
    assert text.strip().startswith(ANSWER[:40]) and "truncated" not in lines[-1]
    assert SECRET not in text


def chat(stack: Stack, marker: str) -> dict[str, Any]:
    """Ask /v1/chat/completions."""
    question = {"role": "user", "content": f"Who leads the ships of Port Elm? {marker}"}
    with stack.client(WORKSPACE) as client:
        body = {"model": "lightstream:naive", "messages": [question]}
        answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]


@pytest.mark.parametrize("case", CUT, ids=str)
def test_a_cut_answer_is_said_to_be_cut_and_asked_for_again(
    case: Case, stack: Stack, provider: MisbehavingProvider
) -> None:
    for times in (1, 2):
        answer = ask(stack, case.marker).json()
        assert answer["response"].startswith(ANSWER[:20])
        assert answer["truncated"] is True
        assert len(provider.asked("answer", case.marker)) == times, "a cut answer was cached"
    _, lines = streamed(stack, case.marker)
    assert lines[-1]["truncated"] is True
    assert chat(stack, case.marker)["finish_reason"] == "length"


@pytest.mark.parametrize("case", STREAMS, ids=str)
def test_a_stream_that_breaks_off_says_so(case: Case, stack: Stack) -> None:
    text, lines = streamed(stack, case.marker)
    assert ANSWER.startswith(text.strip()), lines
    is_cut = any("error" in line or line.get("truncated") for line in lines)
    assert is_cut == (case.outcome == "cut"), lines


def test_reasoning_is_shown_apart_where_it_is_asked_for(stack: Stack) -> None:
    body = {
        "query": "Who leads the harbour apart? ZZTHINK",
        "mode": "naive",
        "include_reasoning": True,
    }
    with stack.client(WORKSPACE) as client:
        answer = client.post("/query", json=body).json()
    assert SECRET in answer["reasoning"] and SECRET not in answer["response"]


LANGUAGES = {
    "german": (
        "Jörg Müller leitet das Hafenamt von Ulmenhafen.",
        "Was leitet Jörg Müller?",
        "Jörg Müller",
    ),
    "chinese": (
        "「陈海生」管理榆树港。「林秀英」看守灯塔。",
        "榆树港的「陈海生」做什么?",
        "陈海生",
    ),
}


@pytest.fixture(scope="module")
def other_languages(stack: Stack) -> None:
    """A document in each of the languages."""
    for language, (text, _, _) in LANGUAGES.items():
        stack.add({f"{language}.md": text}, language)
    for language in LANGUAGES:
        assert stack.settled(1, language)["processed"] == 1


@pytest.mark.usefixtures("other_languages")
@pytest.mark.parametrize("language", LANGUAGES)
def test_keywords_are_found_where_response_format_is_refused(
    language: str, stack: Stack, provider: MisbehavingProvider
) -> None:
    _, question, name = LANGUAGES[language]
    before = len(provider.log)
    provider.set_mode(chat="no-json-object")
    try:
        with stack.client(language) as client:
            for mode in ("local", "hybrid"):
                body = {"query": f"{question} ({mode})", "mode": mode}
                found = client.post("/query/data", json=body).json()
                assert name in {entity["entity_name"] for entity in found["data"]["entities"]}, (
                    found
                )
                # Words of the question would be the keywords if the model gave none.
                assert found["metadata"]["keywords"]["high_level"] == ["harbours"], found
                assert client.post("/query", json=body).status_code == 200
    finally:
        provider.set_mode(chat="")
    asked = [entry for entry in provider.log[before:] if entry["task"] == "keywords"]
    assert len(asked) >= 2
    assert len([entry for entry in asked if "response_format" in entry]) <= 1, (
        "a refused call was repeated"
    )
