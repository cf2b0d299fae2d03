"""Makes a run of golden questions: asks, streams how each fared, and records it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from contracts.events import GoldenQuestionSet, GoldenRunEnded
from runtime.bus.port import Log
from runtime.golden.judging import GivenAnswer
from runtime.golden.questions import GoldenQuestion, GoldenRun, publish, read_runs
from runtime.golden.running import GoldenOutcome, ask_all
from services.gateway.errors import describe_error
from services.gateway.golden.models import GoldenResultEntry, GoldenRunEntry
from services.query.event_source import SOURCE
from services.query.questions.judged_answer import given_answer
from services.query.questions.port import QuestionRequest, Questions, SearchPlace

PATH = "/golden-runs"


@dataclass(frozen=True)
class GoldenOrder:
    """What is to be asked, and where. `position`: see `GoldenRunEnded`."""

    workspace: str
    questions: Sequence[GoldenQuestion]
    place: SearchPlace
    position: int
    reason: str = ""
    branch: str = ""


async def run_lines(order: GoldenOrder, answering: Questions, log: Log) -> AsyncGenerator[str]:
    """Yield a line of JSON for each question, in their order, and one for the run, which is in the
    log then.

    Nothing is recorded of a run that its reader leaves.
    """

    async def ask(question: GoldenQuestionSet) -> GivenAnswer:
        request = QuestionRequest(query=question.question, place=order.place, mode=question.mode)
        return given_answer(await answering.ask(request))

    outcomes: list[GoldenOutcome] = []
    total = len(order.questions)
    async with aclosing(ask_all(order.questions, ask, _describe)) as outcome_stream:
        async for outcome in outcome_stream:
            outcomes.append(outcome)
            yield _line(result=_result(outcome), question=outcome.question.event.question, of=total)
    run = await _recorded(order, outcomes, log)
    yield _line(run=GoldenRunEntry.of(run, order.questions).model_dump(mode="json"))


async def _recorded(order: GoldenOrder, outcomes: Sequence[GoldenOutcome], log: Log) -> GoldenRun:
    event = GoldenRunEnded(
        results=tuple(outcome.result for outcome in outcomes),
        position=order.position,
        as_of=order.place.sequence is not None,
        branch=order.branch,
        by_model=any(outcome.answer and outcome.answer.by_model for outcome in outcomes),
        reason=order.reason,
    )
    id = await publish(log, order.workspace, event, SOURCE)
    return next(run for run in await read_runs(log, order.workspace) if run.id == id)


def _describe(error: Exception) -> str:
    return describe_error(error, PATH)[1]


def _result(outcome: GoldenOutcome) -> dict[str, Any]:
    expectation = outcome.question.event.expected
    answer = outcome.answer.text if outcome.answer else None
    return GoldenResultEntry.of(expectation, outcome.result, answer).model_dump(mode="json")


def _line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"
