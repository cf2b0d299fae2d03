"""Asks golden questions, several at a time, and judges the answers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from contracts.events.golden import GoldenQuestionSet, GoldenResult
from runtime.golden.judging import GivenAnswer, judge
from runtime.golden.questions import GoldenQuestion

AT_ONCE = 4
"""Golden questions that are asked at the same time: people who ask meanwhile wait for few."""

MAX_ERROR = 200
"""Characters of the sentence why a question could not be asked."""

AskGolden = Callable[[GoldenQuestionSet], Awaitable[GivenAnswer]]
DescribeError = Callable[[Exception], str]


@dataclass(frozen=True)
class GoldenOutcome:
    """A golden question, how it fared, and the answer; None where it could not be asked."""

    question: GoldenQuestion
    result: GoldenResult
    answer: GivenAnswer | None = None


async def ask_all(
    questions: Sequence[GoldenQuestion], ask: AskGolden, describe: DescribeError
) -> AsyncGenerator[GoldenOutcome]:
    """Yield the outcome of each question, in their order. `describe` returns the sentence of an
    error.

    Closing it ends what is being asked.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def outcome(question: GoldenQuestion) -> GoldenOutcome:
        async with turns:
            try:
                answer = await ask(question.event)
            except Exception as error:  # one question that fails hides no other's result
                sentence = describe(error)[:MAX_ERROR]
                failure = GoldenResult(id=question.id, passed=False, error=sentence)
                return GoldenOutcome(question, failure)
        return GoldenOutcome(question, judge(question.id, question.event.expected, answer), answer)

    tasks = [asyncio.ensure_future(outcome(question)) for question in questions]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
