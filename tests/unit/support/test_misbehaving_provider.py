"""The misbehaving provider does what its marker words say, and answers well without one."""

import json
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.misbehaving_provider.embedding import DIMENSION, REFUSING
from tests.support.misbehaving_provider.good_answers import ANSWER
from tests.support.misbehaving_provider.messages import EVERY_TASK, SECRET
from tests.support.misbehaving_provider.refusals import REFUSALS
from tests.support.misbehaving_provider.streams import BREAKS

HEAD = "You answer questions from a knowledge base."


@pytest.fixture(scope="module")
def provider() -> Generator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


def post(provider: MisbehavingProvider, path: str, body: dict[str, Any]) -> httpx.Response:
    with httpx.Client(trust_env=False) as client:
        return client.post(provider.url + path, json=body)


def ask(
    provider: MisbehavingProvider, question: str, *, head: str = HEAD, **options: Any
) -> httpx.Response:
    messages = [{"role": "system", "content": head}, {"role": "user", "content": question}]
    return post(provider, "/chat/completions", {"model": "m", "messages": messages, **options})


def streamed_text(answer: httpx.Response) -> str:
    text = ""
    for line in answer.text.splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:]).get("choices", ()):
                text += choice["delta"].get("content") or ""
    return text


def test_without_a_marker_it_answers_well(provider: MisbehavingProvider) -> None:
    answer = ask(provider, "Who leads the harbour?").json()
    assert answer["choices"][0]["message"]["content"] == ANSWER
    assert streamed_text(ask(provider, "Who leads the harbour?", stream=True)) == ANSWER


def test_a_marker_counts_in_the_question_not_in_the_excerpts(provider: MisbehavingProvider) -> None:
    answer = ask(provider, "Who leads it?", head=f"{HEAD} ZZMODERATION")
    assert answer.json()["choices"][0]["message"]["content"] == ANSWER


@pytest.mark.parametrize("marker", REFUSALS)
def test_a_refusal_is_sent_as_it_stands(marker: str, provider: MisbehavingProvider) -> None:
    answer = ask(provider, f"Who? {marker}")
    body = REFUSALS[marker].body
    assert answer.status_code == REFUSALS[marker].status
    assert answer.text == body if isinstance(body, str) else answer.json() == body


def test_reasoning_stands_where_the_marker_says(provider: MisbehavingProvider) -> None:
    texts = {marker: ask(provider, f"Who? {marker}").text for marker in EVERY_TASK}
    reasoning = {marker for marker, text in texts.items() if SECRET in text}
    assert len(reasoning) > 12
    assert {"ZZPARTS", "ZZHARMONY", "ZZNULL", "ZZTHINKTAIL"} <= reasoning
    assert "ZZCUT" not in reasoning


def test_a_stream_breaks_off_in_the_middle(provider: MisbehavingProvider) -> None:
    for marker in BREAKS - {"ZZBROKENOFF"}:
        answer = ask(provider, f"Who? {marker}", stream=True)
        assert 0 < len(streamed_text(answer)) < len(ANSWER)
        assert "[DONE]" not in answer.text
    with pytest.raises(httpx.RemoteProtocolError):
        ask(provider, "Who? ZZBROKENOFF", stream=True)


@pytest.mark.parametrize("mode", ["", *REFUSING])
def test_embeddings_by_mode(mode: str, provider: MisbehavingProvider) -> None:
    provider.set_mode(embeddings=mode)
    texts = ["herring and cod " * 400] * 12
    fields = {"encoding_format": "base64", "dimensions": DIMENSION}
    answer = post(provider, "/embeddings", {"model": "m", "input": texts, **fields})
    provider.set_mode(embeddings="")
    is_refusal = answer.status_code >= 400 or "error" in answer.json()
    assert is_refusal == bool(mode) or mode == "input-type"
    assert mode or len(answer.json()["data"]) == 12


def test_the_log_tells_what_was_asked(provider: MisbehavingProvider) -> None:
    before = len(provider.log)
    ask(provider, "Who? ZZCUT", stream=True)
    with httpx.Client(trust_env=False) as client:
        log = client.get(provider.url.removesuffix("/v1") + "/log").json()
    assert len(log) == before + 1
    assert (log[-1]["task"], log[-1]["markers"], log[-1]["stream"]) == ("answer", ["ZZCUT"], True)
