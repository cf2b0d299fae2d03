"""The judged comparison of two systems, with a judge behind a real HTTP server."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from benchmarks.judge import (
    Judged,
    Verdict,
    equally_long,
    interval,
    measured,
    parse_verdict,
    report,
)
from runtime.models.open import open_tokenizer
from tests.support.openai_provider import KEY, Provider, serving


def better(prompt: str) -> str:
    """A judge that prefers answers with `good`, and the first one of two with `biased`."""
    first, second = re.findall(r"<(?:first|second)>\n(.*?)\n</", prompt, re.DOTALL)
    if "biased" in first:
        return "first"
    return (
        "neither"
        if ("good" in first) == ("good" in second)
        else "first"
        if "good" in first
        else "second"
    )


def judging(provider: Provider) -> None:
    async def completion(body: dict[str, Any], _: object) -> JSONResponse:
        prompt = body["messages"][0]["content"]
        reply = (
            "no JSON"
            if "unclear" in prompt
            else f'```json\n{{"reason": "r", "better": "{better(prompt)}"}}\n```'
        )
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": reply},
            "finish_reason": "stop",
        }
        return JSONResponse(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
            }
        )

    provider.completion = completion  # type: ignore[method-assign, assignment]


def answers(path: Path, *texts: str) -> str:
    lines = [json.dumps({"question": f"q{n}?", "answer": text}) for n, text in enumerate(texts)]
    return written(path, "\n".join(lines))


def written(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


async def test_a_result_does_not_depend_on_the_order_and_ties_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", KEY)
    a = answers(tmp_path / "a", "good one", "bad", "good one", "biased", "unclear one")
    b = answers(tmp_path / "b", "bad answer", "good", "good two", "biased", "another one here")
    questions = written(tmp_path / "q", "".join(f"q{n}?\n" for n in range(5)))
    async with serving() as provider:
        judging(provider)
        options = {
            "questions": questions,
            "a": a,
            "b": b,
            "mode": "mix",
            "url": provider.url,
            "model": "m",
        }
        text = await measured(argparse.Namespace(**options, concurrency=2))
        prompts = [request["messages"][0]["content"] for request in provider.requests]
    row = [cell.strip() for cell in text.splitlines()[-1].strip("|").split("|")]
    assert row[:5] == ["5", "1", "3", "1", "0.500"]
    assert row[6:] == ["4 of 6", "2 of 10"]
    assert len(prompts) == 10
    assert sum("<first>\ngood one\n" in prompt for prompt in prompts) == 2
    assert sum("<second>\ngood one\n" in prompt for prompt in prompts) == 2


def test_both_answers_have_as_many_tokens_as_the_shorter_one() -> None:
    tokenizer = open_tokenizer()
    short_answer = "Three small words"
    long_answer = "Many more words that go on and on until nobody reads them"
    first, second = equally_long(long_answer, short_answer, tokenizer)
    assert second == short_answer and long_answer.startswith(first)
    assert tokenizer.count(first) == tokenizer.count(second) < tokenizer.count(long_answer)
    assert equally_long("", long_answer, tokenizer) == ("", "")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"better": "second", "reason": "x"}', "second"),
        ("<think>hm {</think>{'better': 'neither',}", "neither"),
        ('{"better": "third"}', "unreadable"),
        ("the first", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_verdicts_are_read(reply: str, verdict: Verdict) -> None:
    assert parse_verdict(reply) == verdict


def test_a_win_needs_both_orders_together() -> None:
    verdicts: list[tuple[Verdict, Verdict]] = [
        ("first", "second"),
        ("first", "first"),
        ("first", "neither"),
        ("second", "first"),
        ("neither", "second"),
    ]
    assert [Judged("q", *pair).score for pair in verdicts] == [1.0, 0.5, 1.0, 0.0, 1.0]


def test_the_interval_holds_the_mean_narrows_with_more_questions_and_is_the_same_each_time() -> (
    None
):
    narrow_set = interval([1.0, 0.0, 0.5, 1.0] * 3)
    wide_set = interval([1.0, 0.0, 0.5, 1.0] * 30)
    assert narrow_set[0] < wide_set[0] < 0.625 < wide_set[1] < narrow_set[1]
    assert interval([1.0] * 5) == (1.0, 1.0)
    assert report([Judged("q", "first", "second")]) == report([Judged("q", "first", "second")])
